/** An MCP server on Bun. */

import { createHttpHandler } from '@mortise/transport-http/server';
import { createCalculator } from './calculator.ts';

interface BunServer {
  readonly port: number;
  requestIP(request: Request): { readonly address: string } | null;
}

declare const Bun: {
  serve(options: {
    port: number;
    hostname: string;
    idleTimeout: number;
    fetch(request: Request, server: BunServer): Promise<Response>;
  }): BunServer;
};

const handler = createHttpHandler(createCalculator(), { path: '/mcp' });

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch: (request, bun) => handler.fetch(request, { remoteAddress: bun.requestIP(request)?.address, isLoopback: true }),
});

console.log(`port ${server.port}`);
