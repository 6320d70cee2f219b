/** The transport over message ports: the kit over a channel of this thread, and a server in a worker. */

import { Worker } from 'node:worker_threads';
import { McpClient } from '@mortise/client';
import { messagePortTransport } from '@mortise/jsonrpc-core/message-port';
import { setPatience, toKitSetup, transportCases } from '@mortise/transport-testkit';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { describe, expect, it } from 'vitest';

// Reached only where something never happens: real sockets on a busy machine take their time.
setPatience(60_000);

describeKit(
  'message ports',
  // A port carries text, not bytes that might be no UTF-8.
  transportCases.filter(({ id }) => id !== 'T5.3'),
  toKitSetup({
    traits: { bound: true, frames: true, handles: true, independentStart: true },
    async createPair({ maxMessageBytes } = {}) {
      const { port1, port2 } = new MessageChannel();
      const bounds = maxMessageBytes === undefined ? {} : { maxMessageLength: maxMessageBytes };
      return {
        client: messagePortTransport(port1, bounds),
        server: messagePortTransport(port2, bounds),
        injectFrame: async (to, frame) => (to === 'server' ? port1 : port2).postMessage(new TextDecoder().decode(frame)),
        close: async () => undefined,
      };
    },
  }),
);

it('reports what is no text, and reads on', async () => {
  const { port1, port2 } = new MessageChannel();
  const transport = messagePortTransport(port2);
  const errors: Error[] = [];
  transport.onerror = (error) => void errors.push(error);
  const next = new Promise((resolve) => {
    transport.onmessage = resolve;
  });
  await transport.start();
  port1.postMessage({ jsonrpc: '2.0', method: 'x' });
  port1.postMessage(new Uint8Array(3));
  port1.postMessage('{"jsonrpc":"2.0","method":"x"}');
  expect(await next).toEqual({ jsonrpc: '2.0', method: 'x' });
  expect(errors).toMatchObject([{ code: 'ERR_PARSE' }, { code: 'ERR_PARSE' }]);
  await transport.close();
});

describe('a server in a worker', () => {
  it.each(['modern', 'legacy'] as const)('is used like any other, and ends with its client (%s)', async (era) => {
    const worker = new Worker(new URL('./fixtures/worker-server.mjs', import.meta.url), { execArgv: [] });
    const { port1, port2 } = new MessageChannel();
    worker.postMessage(port2, [port2 as unknown as import('node:worker_threads').Transferable]);
    const client = await McpClient.connect(messagePortTransport(port1), { name: 'test', version: '1.0.0' }, { era });
    expect((await client.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    await client.close();
    // Nothing else keeps the worker alive.
    expect(await exited).toBe(0);
  });
});
