/** The server of `programs/everything.ts` over each transport. */

import { fileURLToPath } from 'node:url';
import { serveHttp } from '@mortise/transport-http/node';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { onTestFinished } from 'vitest';
import type { ServerTarget } from '../src/messages.ts';
import { createEverything } from './programs/everything.ts';

export type TransportName = ServerTarget['type'];

const program = fileURLToPath(new URL('programs/everything.ts', import.meta.url));

/** Serves it until the test ends. */
export async function serveEverything(transport: TransportName): Promise<ServerTarget> {
  if (transport === 'stdio')
    return {
      type: 'stdio',
      command: process.execPath,
      args: ['--conditions=mortise-source', '--import', 'tsx', program],
      cwd: fileURLToPath(new URL('..', import.meta.url)),
    };
  const server = createEverything();
  const serving =
    transport === 'websocket' ? await serveWebSocket(server, { port: 0 }) : await serveHttp(server, { port: 0, sse: transport === 'sse' });
  onTestFinished(() => serving.close());
  return { type: transport, url: transport === 'sse' ? serving.url.replace(/\/mcp$/, '/sse') : serving.url };
}
