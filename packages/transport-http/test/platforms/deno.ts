/** An MCP server on Deno. */

import { createHttpHandler } from '@mortise/transport-http/server';
import { createCalculator } from './calculator.ts';

interface DenoInfo {
  readonly remoteAddr: { readonly hostname: string };
}

interface DenoOptions {
  readonly port: number;
  readonly hostname: string;
  onListen(address: { readonly port: number }): void;
}

declare const Deno: { serve(options: DenoOptions, fetch: (request: Request, info: DenoInfo) => Promise<Response>): unknown };

const handler = createHttpHandler(createCalculator(), { path: '/mcp' });

Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => console.log(`port ${port}`) }, (request, { remoteAddr }) =>
  handler.fetch(request, { remoteAddress: remoteAddr.hostname, isLoopback: true }),
);
