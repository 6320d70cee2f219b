#!/usr/bin/env node
/** Serves three servers at one address: `node dist/gateway.js --port 3000 --folder .` */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createGateway } from '@mortise/host/gateway';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { createHttpHandler } from '@mortise/transport-http/server';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { InvalidArgumentError, program } from 'commander';
import { createShop } from './shop.ts';

const flags = program
  .name('node apps/gateway/dist/gateway.js')
  .description('Serves server-everything, server-filesystem and a shop of our own at one address, /mcp, on this machine alone.')
  .option('--port <n>', 'the port to listen on, 0 for any that is free', parsePort, 3000)
  .option('--folder <path>', 'the folder that server-filesystem may use', '.')
  .addHelpText('after', '\nExample: node apps/gateway/dist/gateway.js --port 3001 --folder /tmp')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --port, --folder, --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ port: number; folder: string }>();

const shop = await serveHttp(createShop(), { port: 0 });

const gateway = createGateway({
  servers: {
    everything: { transport: node('@modelcontextprotocol/server-everything/dist/index.js', 'stdio') },
    // Nobody writes through this gateway.
    files: {
      transport: node('@modelcontextprotocol/server-filesystem/dist/index.js', flags.folder),
      tools: (tool) => (tool.annotations?.readOnlyHint === true ? tool : undefined),
    },
    shop: { transport: httpTransport(shop.url) },
  },
});

const handler = createHttpHandler(gateway);
const http = createServer((request, response) => {
  if (request.url === '/health') response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(gateway.health()));
  else void handler.node(request, response);
});
http.once('error', ({ message }) => {
  process.stderr.write(`Cannot serve: ${message}\n`);
  void close(1);
});
http.listen(flags.port, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp\n`));
process.once('SIGINT', () => void close(0));
process.once('SIGTERM', () => void close(0));

/** Reaches a program of npm on stdio. */
function node(file: string, ...args: string[]): ReturnType<typeof stdioTransport> {
  return stdioTransport({ command: process.execPath, args: [fileURLToPath(import.meta.resolve(file)), ...args] });
}

async function close(exitCode: number): Promise<void> {
  process.exitCode = exitCode;
  http.close();
  await handler.close();
  await gateway.close();
  await shop.close();
}

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('It must be a whole number from 0 to 65535');
  return Number(text);
}
