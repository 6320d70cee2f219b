/** The kit of exchange transports, run against the one that calls an endpoint. */

import { createInMemoryPair, type JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { type AnswerExchange } from '@mortise/transport-testkit';
import { describeExchange } from '@mortise/transport-testkit/vitest';
import { expect, it } from 'vitest';
import { inMemoryTransport } from '../src/in-memory.ts';

/** An endpoint that is answered for by the kit. */
function endpointOf(answer: AnswerExchange): Parameters<typeof inMemoryTransport>[0] {
  const handle: McpEndpoint['handle'] = (request, call) =>
    answer(request, { signal: call.signal, notify: (message) => call.send(message) });
  const refuse = (): never => {
    throw new Error('not asked for by the kit');
  };
  return { handle, openSession: refuse, paramHeaders: refuse, nameParam: refuse, connect: refuse };
}

describeExchange('in memory', {
  createPair: (answer) => {
    const client = inMemoryTransport(endpointOf(answer))();
    if (!('exchange' in client)) throw new Error('an exchange transport was expected');
    return Promise.resolve({ client, close: () => Promise.resolve() });
  },
});

it('[TRAN-002][TRAN-003] the channel to an endpoint is an ordinary transport', async () => {
  const received: unknown[] = [];
  const [, unused] = createInMemoryPair();
  const endpoint = {
    ...endpointOf(() => Promise.reject(new Error('no'))),
    connect: async (transport: typeof unused) => {
      transport.onmessage = (message) => received.push(message);
      await transport.start();
      const close = (): Promise<void> => transport.close();
      return { closed: Promise.resolve(), drain: () => Promise.resolve(), close, [Symbol.asyncDispose]: close };
    },
  } as Parameters<typeof inMemoryTransport>[0];
  const transport = inMemoryTransport(endpoint, { via: 'channel' })();
  if (!('send' in transport)) throw new Error('a channel was expected');
  const message: JsonRpcNotification = { jsonrpc: '2.0', method: 'notifications/x' };
  await expect(transport.send(message)).rejects.toMatchObject({ code: 'ERR_NOT_CONNECTED' });
  await transport.start();
  await transport.send(message);
  await transport.close();
  expect(received).toEqual([message]);
});
