import { expect, it } from 'vitest';
import { Connection } from '../src/connection.ts';
import { messagePortTransport } from '../src/message-port.ts';
import { defer, result } from './support/raw-peer.ts';

it.each([
  ['characters of one byte', 'x'.repeat(3000)],
  ['characters of three bytes', '漢'.repeat(1000)],
])('[ROBUSTNESS-7] tells how large the messages of a port are, so that what is in flight is bounded: %s', async (_what, content) => {
  const { port1, port2 } = new MessageChannel();
  const gate = defer<undefined>();
  const seen: unknown[] = [];
  const server = new Connection(messagePortTransport(port1, { info: { principal: 'frame' } }), {
    maxInFlightBytes: 5000,
    onRequest: async ({ id }, { info }) => {
      seen.push(info?.principal, (info?.bytes ?? 0) > 3000);
      await gate.promise;
      return result(id);
    },
  });
  const client = new Connection(messagePortTransport(port2));
  await Promise.all([server.start(), client.start()]);
  const params = { content, more: 'x'.repeat(200) };
  const first = client.request('a', params);
  await expect(client.request('a', params)).rejects.toThrow('maxInFlightBytes is 5000');
  gate.resolve(undefined);
  await first;
  expect([...seen, server.inFlightBytes]).toEqual(['frame', true, 0]);
  await client.close();
});
