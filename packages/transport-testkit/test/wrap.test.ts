import { createInMemoryPair, type JsonRpcMessage, type Transport } from '@mortise/jsonrpc-core';
import { Connection } from '@mortise/jsonrpc-core/connection';
import {
  createChopper,
  type FaultOptions,
  type RecordedMessage,
  withFaults,
  withRecord,
  withReplay,
} from '@mortise/transport-testkit/wrap';
import { describeTransport } from '@mortise/transport-testkit/vitest';
import { describe, expect, it } from 'vitest';
import { createSmallExchange } from './small-exchange.ts';

const note = (n: number): JsonRpcMessage => ({ jsonrpc: '2.0', method: 'note', params: { n } });
const numbersOf = (messages: readonly JsonRpcMessage[]): unknown[] =>
  messages.map((message) => ('params' in message ? message.params?.['n'] : undefined));

describeTransport('an in-memory pair whose messages come late', {
  async createPair() {
    const [client, server] = createInMemoryPair();
    const faults = { seed: 7, delay: 0.002, maxDelayMs: 3 };
    return { client: withFaults(client, faults), server: withFaults(server, faults), close: async () => undefined };
  },
  traits: { backpressure: true, independentStart: true, handles: true },
});

describe('withFaults', () => {
  /** Sends 200 notes through a faulty end, and gives what arrives and what was refused. */
  async function passThrough(options: FaultOptions): Promise<{ readonly numbers: unknown[]; readonly refused: number[] }> {
    const [client, server] = createInMemoryPair();
    const faulty = withFaults<Transport>(client, options);
    const messages: JsonRpcMessage[] = [];
    server.onmessage = (message: JsonRpcMessage) => void messages.push(message);
    await Promise.all([faulty.start(), server.start()]);
    const refused: number[] = [];
    for (let n = 0; n < 200; n++) await faulty.send(note(n)).catch(() => void refused.push(n));
    await faulty.close();
    return { numbers: numbersOf(messages), refused };
  }

  it('does nothing unless it is told to', async () => {
    expect(await passThrough({ seed: 1 })).toEqual({ numbers: Array.from({ length: 200 }, (_, n) => n), refused: [] });
  });

  it('loses, doubles and refuses about as many messages as it is told to, and never changes their order', async () => {
    const { numbers, refused } = await passThrough({ seed: 42, drop: 0.2, duplicate: 0.2, reject: 0.1 });
    expect(refused.length).toBeGreaterThan(5);
    expect(refused.length).toBeLessThan(40);
    const kinds = new Set(numbers);
    expect(200 - kinds.size - refused.length).toBeGreaterThan(15);
    expect(numbers.length - kinds.size).toBeGreaterThan(15);
    expect(numbers).toEqual([...numbers].sort((one, other) => Number(one) - Number(other)));
  });

  it('does the same for the same seed, and something else for another', async () => {
    const faults = { drop: 0.3, duplicate: 0.3, reject: 0.1 };
    const first = await passThrough({ seed: 5, ...faults });
    expect(await passThrough({ seed: 5, ...faults })).toEqual(first);
    expect(await passThrough({ seed: 6, ...faults })).not.toEqual(first);
  });

  it('spoils what is received, too', async () => {
    const [client, server] = createInMemoryPair();
    const faulty = withFaults<Transport>(client, { seed: 3, drop: 1 });
    let count = 0;
    faulty.onmessage = () => void count++;
    const ended = new Promise<void>((resolve) => {
      faulty.onclose = resolve;
    });
    await Promise.all([faulty.start(), server.start()]);
    for (let n = 0; n < 10; n++) await server.send(note(n));
    await server.close();
    await ended;
    expect(count).toBe(0);
  });
});

/** A conversation of everything: answers, errors, progress, cancellation, and a question from the peer. */
async function converse(transport: Transport): Promise<unknown[]> {
  const heard: unknown[] = [];
  const connection = new Connection(transport, {
    onRequest: ({ id, params = {} }) => ({ jsonrpc: '2.0', id, result: { answer: params['question'] ?? null } }),
    onNotification: ({ method, params }) => void heard.push([method, params?.['progress']]),
  });
  await connection.start();
  heard.push(await connection.request('greet', { name: 'Ada' }, { onProgress: ({ progress }) => void heard.push(progress) }));
  heard.push(await connection.request('fail').catch((error: { rpcCode: number }) => error.rpcCode));
  heard.push(await connection.request('ask'));
  await connection.notify('bye');
  await connection.close();
  return heard;
}

function serve(transport: Transport): Connection {
  return new Connection(transport, {
    async onRequest({ id, method, params }, call) {
      if (method === 'fail') throw new TypeError('not told to anybody');
      if (method === 'ask') return { jsonrpc: '2.0', id, result: await call.request('question', { question: 'how?' }) };
      const token = (params?.['_meta'] as { progressToken: number }).progressToken;
      await call.notify('notifications/progress', { progressToken: token, progress: 0.5 });
      return { jsonrpc: '2.0', id, result: { text: `Hello ${String(params?.['name'])}` } };
    },
  });
}

async function record(): Promise<{ readonly entries: RecordedMessage[]; readonly heard: unknown[] }> {
  const [client, server] = createInMemoryPair();
  await serve(server).start();
  const entries: RecordedMessage[] = [];
  const heard = await converse(withRecord<Transport>(client, (entry) => void entries.push(entry)));
  return { entries, heard };
}

describe('withRecord', () => {
  it('writes down what passes in both directions, in order, with the time', async () => {
    const { entries } = await record();
    const kinds = entries.map(({ direction, message }) => `${direction} ${'method' in message ? message.method : 'answer'}`);
    expect(kinds).toEqual([
      'sent greet',
      'received notifications/progress',
      'received answer',
      'sent fail',
      'received answer',
      'sent ask',
      'received question',
      'sent answer',
      'received answer',
      'sent bye',
    ]);
    expect(entries.every((entry, index) => entry.atMs >= (entries[index - 1]?.atMs ?? 0))).toBe(true);
    expect(JSON.parse(JSON.stringify(entries))).toEqual(entries);
  });

  it('keeps copies, which later changes do not reach', async () => {
    const [client] = createInMemoryPair();
    const entries: RecordedMessage[] = [];
    const transport = withRecord<Transport>(client, (entry) => void entries.push(entry));
    await transport.start();
    const message = { jsonrpc: '2.0' as const, method: 'note', params: { list: [1] } };
    await transport.send(message);
    message.params.list.push(2);
    expect(entries[0]?.message).toEqual({ jsonrpc: '2.0', method: 'note', params: { list: [1] } });
    await transport.close();
  });

  it('writes exchanges down like messages of a channel', async () => {
    const exchange = createSmallExchange(async (request, { notify }) => {
      notify({ jsonrpc: '2.0', method: 'half' });
      return { jsonrpc: '2.0', id: request.id, result: {} };
    });
    const entries: RecordedMessage[] = [];
    const [channel] = createInMemoryPair();
    const both = withRecord(Object.assign(channel, exchange), (entry) => void entries.push(entry));
    await both.exchange({ jsonrpc: '2.0', id: 1, method: 'go' });
    expect(entries.map(({ direction, message }) => [direction, 'method' in message ? message.method : 'answer'])).toEqual([
      ['sent', 'go'],
      ['received', 'half'],
      ['received', 'answer'],
    ]);
  });
});

describe('withReplay', () => {
  it('says what the recorded peer said, with the ids of now', async () => {
    const { entries, heard } = await record();
    const recording = JSON.parse(JSON.stringify(entries)) as RecordedMessage[];
    expect(await converse(withReplay(recording))).toEqual(heard);
    const shifted = withReplay(recording)();
    const connection = new Connection(shifted);
    await connection.start();
    // The first id of this connection was another's in the recording: the first request there is refused here.
    await expect(connection.request('fail')).rejects.toThrow(/Recorded: .*"greet".* Sent: .*"fail"/);
    expect((await connection.request('greet', { name: 'Ada' }))['text']).toBe('Hello Ada');
    await connection.close();
  });

  it('refuses what was not sent when it was recorded, and shows both', async () => {
    const { entries } = await record();
    const transport = withReplay(entries);
    await transport.start();
    const greet = { jsonrpc: '2.0', id: 9, method: 'greet', params: { name: 'Eve', _meta: { progressToken: 9 } } } as const;
    await expect(transport.send(greet)).rejects.toThrow(/Recorded: .*"Ada".* Sent: .*"Eve"/);
    await transport.close();
    await expect(transport.send(greet)).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it('refuses what goes beyond the recording', async () => {
    const transport = withReplay([]);
    await transport.start();
    await expect(transport.send(note(1))).rejects.toThrow(/The recording has no sent message here/);
    await transport.close();
  });
});

describe('createChopper', () => {
  it('gives the same bytes in other pieces, the same for the same seed', () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, n) => n % 251);
    const chop = (seed: number, chunkBytes: number): number[] => {
      const pieces: Uint8Array[] = [];
      const chopper = createChopper(seed, (piece) => void pieces.push(piece));
      for (let from = 0; from < bytes.length; from += chunkBytes) chopper.push(bytes.subarray(from, from + chunkBytes));
      chopper.flush();
      expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
      return pieces.map((piece) => piece.length);
    };
    const lengths = chop(1, 4096);
    expect(chop(1, 1000)).toEqual(lengths);
    expect(chop(2, 4096)).not.toEqual(lengths);
    expect(Math.min(...lengths)).toBeLessThan(4);
    expect(Math.max(...lengths)).toBeGreaterThan(4096);
  });
});
