/** What is counted as unanswered, under random messages: once everything is answered nothing is, so that an end of the input closes at once. */

import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import type { JsonRpcResponse } from '@mortise/jsonrpc-core';
import { Connection } from '@mortise/jsonrpc-core/connection';
import { StreamTransport } from '@mortise/transport-stdio';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { expect, it } from 'vitest';

const ids = fc.constantFrom<unknown>(0, 1, 2, '1', null);
const requests = fc.record({
  jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '1.0'),
  id: ids,
  method: fc.constantFrom('now', 'later', 'throw'),
});
const cancellations = ids.map((requestId) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }));
const odd = fc.constantFrom<unknown>({ jsonrpc: '2.0', id: 1, method: 'now', result: {} }, { jsonrpc: '2.0', id: 1 }, 7, []);
const single = fc.oneof({ weight: 6, arbitrary: requests as fc.Arbitrary<unknown> }, cancellations, odd);
const lines = fc.oneof(
  { weight: 4, arbitrary: single },
  { weight: 2, arbitrary: fc.array(fc.oneof({ weight: 6, arbitrary: requests as fc.Arbitrary<unknown> }, odd), { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constant('turn') },
);

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

async function run(script: readonly unknown[], isBatchingOn: boolean): Promise<void> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  output.resume();
  // Its time does not pass: nothing ends by waiting.
  const transport = new StreamTransport(() => ({ input, output }), { clock: new FakeClock() });
  let openGate = (): void => undefined;
  const gate = new Promise<void>((resolve) => (openGate = resolve));
  const connection = new Connection(transport, {
    rules: { isBatchingOn, isErrorIdOptional: false, isAnswering: true },
    onRequest: ({ id, method }): JsonRpcResponse | Promise<JsonRpcResponse> => {
      if (method === 'throw') throw new Error('thrown');
      return method === 'now' ? { jsonrpc: '2.0', id, result: {} } : gate.then(() => ({ jsonrpc: '2.0', id, result: {} }));
    },
  });
  await connection.start();
  for (const line of script) {
    if (line === 'turn') await turns(1);
    else input.write(`${JSON.stringify(line)}\n`);
  }
  await turns(2);
  openGate();
  await turns(3);
  expect([connection.inFlight.inbound, connection.inFlightBytes]).toEqual([0, 0]);
  input.end();
  await connection.closed;
}

it.each([true, false])(
  '[ROBUSTNESS-7] nothing is counted for ever, whatever was asked, cancelled or refused (batches %s)',
  async (isBatchingOn) => {
    await fc.assert(
      fc.asyncProperty(fc.array(lines, { minLength: 1, maxLength: 30, size: 'max' }), (script) => run(script, isBatchingOn)),
      { numRuns: 300 },
    );
  },
);
