/** What the edge reads of requests, and how it counts them. */

import { BytePieces, KeyedLimit, parseAuthorization, readBytes, toReachableHost } from '@mortise/protocol/edge';
import { describe, expect, it } from 'vitest';

describe('parseAuthorization', () => {
  it.each([
    ['Bearer abc', { scheme: 'Bearer', token: 'abc' }],
    ['bEARER   a.b-c_d~e+f/g==', { scheme: 'Bearer', token: 'a.b-c_d~e+f/g==' }],
    ['dpop x ', { scheme: 'DPoP', token: 'x' }],
    ['Negotiate', { scheme: 'Negotiate', token: undefined }],
    ['Bearer', { scheme: 'Bearer', token: undefined }],
  ])('reads %j', (header, credentials) => {
    expect(parseAuthorization(header)).toEqual(credentials);
  });

  it.each(['', ' Bearer a', 'Bearer a b', 'Bearer a, Bearer b', 'Bearer a=b', 'Digest username="x"', 'Bearer \u00e9', 'Bearer a\n'])(
    'takes %j for nothing',
    (header) => {
      expect(parseAuthorization(header)).toBeUndefined();
    },
  );
});

describe('readBytes', () => {
  const pieces = (...given: readonly string[]): { body: ReadableStream<Uint8Array>; read: () => number; isCancelled: () => boolean } => {
    let read = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const piece = given[read++];
          if (piece === undefined) controller.close();
          else controller.enqueue(new TextEncoder().encode(piece));
        },
        cancel() {
          isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    return { body, read: () => read, isCancelled: () => isCancelled };
  };

  it.each([
    [[], ''],
    [['whole'], 'whole'],
    [['in ', '', 'pieces'], 'in pieces'],
  ])('joins %j', async (given, text) => {
    expect(new TextDecoder().decode(await readBytes(pieces(...given).body, 9))).toBe(text);
  });

  it('takes a body that is absent for an empty one', async () => {
    expect(await readBytes(null, 0)).toEqual(new Uint8Array(0));
  });

  it('reads no further than is allowed, and lets go of the rest', async () => {
    const { body, read, isCancelled } = pieces('1234', '5678', '9', 'never');
    expect(await readBytes(body, 8)).toBeUndefined();
    expect([read(), isCancelled()]).toEqual([3, true]);
  });

  it('rejects with what broke the body', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('reset')),
    });
    await expect(readBytes(broken, 8)).rejects.toThrow('reset');
  });

  it('joins pieces that are views of larger buffers', () => {
    const buffer = new Uint8Array([1, 2, 3, 4]);
    const pieces = new BytePieces();
    for (const piece of [buffer.subarray(1, 2), buffer.subarray(3)]) pieces.push(piece);
    expect(pieces.join()).toEqual(new Uint8Array([2, 4]));
    expect(buffer).toEqual(new Uint8Array([1, 2, 3, 4]));
  });
});

describe('BytePieces', () => {
  /** Bytes that tell where they stood. */
  const numbered = (from: number, length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (from + at) % 251);

  it.each([
    ['none', []],
    ['one', [5]],
    ['single bytes', Array.from({ length: 10_000 }, () => 1)],
    ['empty ones among others', [0, 3, 0, 0, 20_000, 0, 1]],
    ['large and small ones in turns', [1, 20_000, 1, 1, 70_000, 16_384, 16_383, 2, 5_000, 5_000, 90_000, 1]],
  ])('[ROBUSTNESS-2] gives back what it was given, in order: %s', (_, lengths) => {
    const pieces = new BytePieces();
    let at = 0;
    for (const length of lengths) {
      pieces.push(numbered(at, length));
      at += length;
    }
    expect(pieces.length).toBe(at);
    expect(Buffer.compare(pieces.join(), numbered(0, at))).toBe(0);
    expect([pieces.length, pieces.join()]).toEqual([0, new Uint8Array(0)]);
  });

  it('copies no body that comes in one piece', () => {
    const pieces = new BytePieces();
    const whole = numbered(0, 100);
    pieces.push(whole);
    expect(pieces.join()).toBe(whole);
  });

  it('forgets what it was given', () => {
    const pieces = new BytePieces();
    pieces.push(numbered(0, 10));
    pieces.push(numbered(0, 10));
    pieces.clear();
    pieces.push(numbered(7, 2));
    expect(pieces.join()).toEqual(numbered(7, 2));
  });
});

describe('KeyedLimit', () => {
  it('bounds what is open in all and by one key, and says which', () => {
    const limit = new KeyedLimit(3, 2);
    expect([limit.acquire('a'), limit.acquire('a'), limit.acquire('a')]).toEqual([true, true, false]);
    expect([limit.check('a'), limit.check('b')]).toEqual(['key', undefined]);
    expect([limit.acquire('b'), limit.acquire('c'), limit.check('c'), limit.total]).toEqual([true, false, 'all', 3]);
    limit.release('a');
    expect([limit.check('c'), limit.total]).toEqual([undefined, 2]);
  });

  it('does nothing for a key that has none open', () => {
    const limit = new KeyedLimit(1, 1);
    limit.release('nobody');
    limit.acquire('a');
    limit.release('a');
    limit.release('a');
    expect([limit.total, limit.acquire('b')]).toEqual([0, true]);
  });
});

it.each([
  ['0.0.0.0', 'localhost'],
  ['::', 'localhost'],
  ['127.0.0.1', '127.0.0.1'],
  ['mcp.example', 'mcp.example'],
])('a server that listens at %s is reached at %s', (host, reachable) => {
  expect(toReachableHost(host)).toBe(reachable);
});
