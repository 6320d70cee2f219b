/** Test cases for T5, T6 and T8 of `Transport`: it reports faulty messages and thrown errors, and the next message still arrives. */

import type { Transport } from '@mortise/jsonrpc-core';
import { serializeMessage } from '@mortise/jsonrpc-core/messages';
import { check, checkCode, checkEqual, turns } from '../check.ts';
import { type End, Listener, note, startBoth, type TransportCase, type TransportPair } from './transport-case.ts';

const encoder = new TextEncoder();

async function inject(pair: TransportPair, to: End, frame: string | Uint8Array): Promise<void> {
  check(pair.injectFrame !== undefined, 'A pair with the trait "frames" should have injectFrame');
  await pair.injectFrame(to, typeof frame === 'string' ? encoder.encode(frame) : frame);
}

async function survives(pair: TransportPair, to: End, garbage: string | Uint8Array): Promise<void> {
  const listener = new Listener(pair[to]);
  await startBoth(pair);
  await inject(pair, to, garbage);
  await listener.hasErrors(1);
  checkCode(listener.errors[0], 'ERR_PARSE', 'The error that onerror gets for garbage');
  await peerOf(pair, to).send(note(1));
  await listener.hasMessages(1);
  checkEqual(listener.numbers, [1], 'What arrives beside garbage');
  checkEqual(listener.errors.length, 1, 'The number of errors that one piece of garbage causes');
}

async function refusesTooLong(pair: TransportPair, to: End): Promise<void> {
  const listener = new Listener(pair[to]);
  await startBoth(pair);
  const sending = peerOf(pair, to);
  await sending.send(note(0, { pad: 'x'.repeat(4 * BOUND) })).catch(() => undefined);
  await listener.hasErrors(1);
  checkCode(listener.errors[0], 'ERR_MESSAGE_TOO_LARGE', 'The error that onerror gets for a message that is too long');
  await sending.send(note(1)).catch(() => undefined);
  await listener.until(
    () => listener.messages.length > 0 || listener.closeCount > 0,
    () => 'After a message that is too long the next one should be read, or the transport should close',
  );
  check(listener.closeCount > 0 || listener.numbers[0] === 1, 'A message that is too long should not be delivered');
}

function peerOf(pair: TransportPair, end: End): Transport {
  return end === 'client' ? pair.server : pair.client;
}

const BOUND = 64 * 1024;

function withBound(run: (pair: TransportPair) => Promise<void>): TransportCase['run'] {
  return async (_, setup) => {
    const pair = await setup.create({ maxMessageBytes: BOUND });
    try {
      await run(pair);
    } finally {
      await pair.close();
    }
  };
}

/** Makes a JSON-RPC message whose JSON is exactly `bytes` bytes long. */
function messageOfLength(bytes: number): ReturnType<typeof note> {
  const empty = encoder.encode(serializeMessage(note(0, { pad: '' }))).length;
  return note(0, { pad: 'x'.repeat(bytes - empty) });
}

export const malformedCases: readonly TransportCase[] = [
  {
    id: 'T5.1',
    title: 'reports to the server a frame that is not JSON, and reads the next one',
    needs: ['frames'],
    run: (pair) => survives(pair, 'server', '{"jsonrpc": oops'),
  },
  {
    id: 'T5.2',
    title: 'reports to the client a frame that is not JSON, and reads the next one',
    needs: ['frames'],
    run: (pair) => survives(pair, 'client', 'Server listening on port 3000'),
  },
  {
    id: 'T5.3',
    title: 'reports a frame that is not UTF-8, and reads the next one',
    needs: ['frames'],
    run: (pair) => survives(pair, 'server', new Uint8Array([0x22, 0xc3, 0x28, 0x22])),
  },
  {
    id: 'T5.4',
    title: 'delivers JSON that is not a message unchanged',
    needs: ['frames'],
    async run(pair) {
      const listener = new Listener(pair.server);
      await startBoth(pair);
      const values = [[], 42, 'text', null, {}, { jsonrpc: '2.0', method: 7 }];
      for (const value of values) await inject(pair, 'server', JSON.stringify(value));
      await listener.hasMessages(values.length);
      checkEqual(listener.messages, values, 'What JSON that is not a message is delivered as');
      checkEqual(listener.errors, [], 'The errors that valid JSON causes');
    },
  },
  {
    id: 'T6.1',
    title: 'reports to the server a message that is too long, and does not deliver it',
    needs: ['bound'],
    run: withBound((pair) => refusesTooLong(pair, 'server')),
  },
  {
    id: 'T6.2',
    title: 'reports to the client a message that is too long, and does not deliver it',
    needs: ['bound'],
    run: withBound((pair) => refusesTooLong(pair, 'client')),
  },
  {
    id: 'T6.3',
    title: 'delivers a message that is exactly as long as allowed',
    needs: ['bound'],
    run: withBound(async (pair) => {
      const listener = new Listener(pair.server);
      await startBoth(pair);
      await pair.client.send(messageOfLength(BOUND));
      await listener.until(
        () => listener.messages.length + listener.errors.length > 0,
        () => 'The message should arrive',
      );
      checkEqual(listener.errors, [], 'The errors that a message of the longest length causes');
    }),
  },
  {
    id: 'T8.1',
    title: 'reports an error that onmessage throws, and delivers the next message',
    async run(pair) {
      const thrown = new Error('The test makes onmessage throw');
      const listener = new Listener(pair.server, () => {
        if (listener.messages.length === 1) throw thrown;
      });
      await startBoth(pair);
      await pair.client.send(note(0));
      await pair.client.send(note(1));
      await listener.hasMessages(2);
      await listener.hasErrors(1);
      check(listener.errors.includes(thrown), 'onerror should get the same error object that onmessage threw');
      checkEqual(listener.numbers, [0, 1], 'What is delivered around an error of onmessage');
    },
  },
  {
    id: 'T8.2',
    title: 'closes even if onclose throws',
    async run(pair) {
      const thrown = new Error('The test makes onclose throw');
      const errors: Error[] = [];
      pair.client.onerror = (error) => void errors.push(error);
      pair.client.onclose = () => {
        throw thrown;
      };
      await startBoth(pair);
      await pair.client.close();
      await turns(5);
      check(errors.includes(thrown), 'onerror should get the same error object that onclose threw');
    },
  },
  {
    id: 'T8.3',
    title: 'delivers the next message even if onerror throws',
    async run(pair) {
      const listener = new Listener(pair.server, () => {
        if (listener.messages.length === 1) throw new Error('The test makes onmessage throw');
      });
      pair.server.onerror = () => {
        throw new Error('The test makes onerror throw');
      };
      await startBoth(pair);
      await pair.client.send(note(0));
      await pair.client.send(note(1));
      await listener.hasMessages(2);
      checkEqual(listener.numbers, [0, 1], 'What is delivered around an error of onerror');
    },
  },
];
