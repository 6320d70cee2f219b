/** Tasks between a real client and a real server, over the transports that programs use. */

import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { McpClient, type ClientTransportSource } from '@mortise/client';
import type { CallToolResult } from '@mortise/protocol';
import { taskClient } from '@mortise/tasks/client';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { webSocketTransport, type WebSocketTransportOptions } from '@mortise/transport-ws-custom/client';
import { resumeOnClient, resumeOnServer } from '@mortise/transport-ws-custom/resume';
import { serveWebSocket, type WebSocketServerOptions } from '@mortise/transport-ws-custom/server';
import { createTaskServer } from './support/task-server.ts';

const program = fileURLToPath(new URL('./programs/stdio-server.ts', import.meta.url));

const transports: readonly [string, () => Promise<ClientTransportSource>][] = [
  [
    'stdio',
    async () => stdioTransport({ command: process.execPath, args: ['--conditions', 'mortise-source', '--import', 'tsx', program] }),
  ],
  [
    'HTTP',
    async () => {
      const { server } = createTaskServer({ pollIntervalMs: 20 });
      const serving = await serveHttp(server, { port: 0 });
      onTestFinished(() => serving.close());
      return httpTransport(serving.url);
    },
  ],
  ['WebSocket', () => overWebSocket({})],
  ['a WebSocket that is resumed', () => overWebSocket({ resume: resumeOnServer() }, { resume: resumeOnClient() })],
];

async function overWebSocket(options: WebSocketServerOptions, own: WebSocketTransportOptions = {}): Promise<ClientTransportSource> {
  const { server } = createTaskServer({ pollIntervalMs: 20 });
  const serving = await serveWebSocket(server, { port: 0, drainMs: 1, ...options });
  onTestFinished(() => serving.close());
  return webSocketTransport(serving.url, own);
}

async function connect(transport: ClientTransportSource, era: 'legacy' | 'modern', asked: string[]) {
  const tasks = taskClient();
  const options = {
    era,
    extensions: [tasks],
    elicitation: async ({ message }: { readonly message: string }) => {
      asked.push(message);
      return { action: 'accept', content: { name: `answer to ${message}` } };
    },
  };
  const client = await McpClient.connect(transport, { name: 'c', version: '1' }, options as never);
  onTestFinished(() => client.close());
  return { client, tasks };
}

const textOf = ({ content }: CallToolResult): unknown => (content[0] as { readonly text?: unknown } | undefined)?.text;

describe.each(transports)('over %s', (_name, open) => {
  it.each(['legacy', 'modern'] as const)('a task of the %s era asks its user in the middle, and ends', async (era) => {
    const asked: string[] = [];
    const { tasks } = await connect(await open(), era, asked);
    const handle = await tasks.start('asks');
    expect(handle.id).toMatch(/^[\w-]{22,}$/);
    expect(textOf(await handle.result())).toBe('accept answer to Who?');
    expect(asked).toEqual(['Who?']);
  });

  it.each(['legacy', 'modern'] as const)('a task of the %s era is cancelled', async (era) => {
    const { tasks } = await connect(await open(), era, []);
    const handle = await tasks.start('wait');
    await handle.cancel();
    expect((await handle.status()).status).toBe('cancelled');
  });
});
