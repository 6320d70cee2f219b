import { MessageTooLargeError, ParseError } from '@mortise/jsonrpc-core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countCpuMs } from '../../../scripts/test/cpu-time.ts';
import { LineReader } from '../src/line-reader.ts';
import { frame } from '../src/stream-transport.ts';

interface Reading {
  readonly lines: string[];
  readonly errors: Error[];
  readonly reader: LineReader;
}

function read(maxMessageBytes = 16 * 1024 * 1024): Reading {
  const [lines, errors] = [[] as string[], [] as Error[]];
  const reader = new LineReader({ maxMessageBytes, onLine: (line) => void lines.push(line), onError: (error) => void errors.push(error) });
  return { lines, errors, reader };
}

/** Reads bytes in pieces whose lengths are given in turn, over and over. */
function readInPieces(bytes: Uint8Array, lengths: readonly number[], maxMessageBytes?: number): Reading {
  const reading = read(maxMessageBytes);
  for (let from = 0, piece = 0; from < bytes.length; piece++) {
    const length = lengths[piece % lengths.length] ?? 1;
    reading.reader.push(bytes.subarray(from, from + length));
    from += length;
  }
  return reading;
}

const line = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('{"a":"漢😀é"}', '\u2028', 'x'.repeat(300), '\r\r'));
const lines = fc.array(line.map((text) => text.replaceAll('\n', '')));
const pieceLengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

/** What a line counts as: its end may be `\r\n`, and empty lines count as nothing. */
function expectLines(texts: readonly string[]): readonly string[] {
  return texts.map((text) => (text.endsWith('\r') ? text.slice(0, -1) : text)).filter((text) => text !== '');
}

describe('LineReader', () => {
  it('reads the same lines however the bytes are cut', () => {
    fc.assert(
      fc.property(lines, pieceLengths, (texts, lengths) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
        const reading = readInPieces(bytes, lengths);
        expect(reading.lines).toEqual(expectLines(texts));
        expect(reading.errors).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('finds the same good lines and the same faults among arbitrary bytes, however they are cut', () => {
    const soup = fc.uint8Array({ maxLength: 400 }).map((bytes) => bytes.map((byte) => (byte % 7 === 0 ? 10 : byte)));
    fc.assert(
      fc.property(soup, pieceLengths, (bytes, lengths) => {
        const whole = readInPieces(bytes, [bytes.length || 1], 20);
        const cut = readInPieces(bytes, lengths, 20);
        whole.reader.end();
        cut.reader.end();
        expect(cut.lines).toEqual(whole.lines);
        expect(cut.errors.map((error) => error.name).sort()).toEqual(whole.errors.map((error) => error.name).sort());
      }),
      { numRuns: 1000 },
    );
  });

  it('ends lines at newlines alone, ignores empty lines, and drops the carriage return before a newline', () => {
    const { reader, lines: seen } = read();
    reader.push(Buffer.from('one\r\n\n\r\ntwo\rstill two\u2028and on\u0085\n   \nthree'));
    expect(seen).toEqual(['one', 'two\rstill two\u2028and on\u0085', '   ']);
    reader.end();
    expect(seen.at(-1)).toBe('three');
  });

  it('[BASE-023][ROBUSTNESS-2] refuses a line that is not UTF-8, whole or in pieces, and reads the lines around it', () => {
    const bytes = Buffer.concat([
      Buffer.from('"good"\n"b'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('d"\n"ä"\n"'),
      Buffer.from([0xed, 0xa0, 0x80]),
      Buffer.from('"\nlast\n'),
    ]);
    for (const lengths of [[bytes.length], [1], [3], [9]]) {
      const { lines: seen, errors } = readInPieces(bytes, lengths);
      expect(seen).toEqual(['"good"', '"ä"', 'last']);
      expect(errors.map((error) => error instanceof ParseError)).toEqual([true, true]);
    }
  });

  it('reads a line that is exactly as long as allowed, its carriage return counted', () => {
    for (const lengths of [[100], [3]]) {
      const { lines: seen, errors } = readInPieces(Buffer.from('12345678\n1234567\r\n123456789\nabc\n'), lengths, 8);
      expect(seen).toEqual(['12345678', '1234567', 'abc']);
      expect(errors).toHaveLength(1);
      expect(errors[0]).toBeInstanceOf(MessageTooLargeError);
    }
  });

  it('[ROBUSTNESS-7] reports a line that is too long once, as soon as it is, and keeps none of it', () => {
    const { reader, lines: seen, errors } = read(1024 * 1024);
    const piece = Buffer.alloc(64 * 1024, 'x');
    for (let count = 0; count < 16; count++) reader.push(piece);
    expect(errors).toHaveLength(0);
    reader.push(piece);
    expect(errors).toHaveLength(1);
    const before = process.memoryUsage().arrayBuffers;
    // Half a gigabyte more of the same line.
    for (let count = 0; count < 8192; count++) reader.push(piece);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
    reader.push(Buffer.from('the end of it\n{"next":1}\n'));
    expect(errors).toHaveLength(1);
    expect(seen).toEqual(['{"next":1}']);
  });

  it.each([
    ['before what is large', (large: string) => `{"jsonrpc":"2.0","id":7,"result":{"x":"${large}"}}`],
    ['at its end', (large: string) => `{"result":{"x":"${large}"},"jsonrpc":"2.0","id":7}`],
  ])('[ROBUSTNESS-4] tells which message it is that is too long, whose id stands %s, however it is cut', (_where, write) => {
    const bytes = Buffer.from(`${write('x'.repeat(40_000))}\n{"next":1}\n`);
    for (const lengths of [[bytes.length], [10_000], [1], [7, 30_000], [bytes.length - 15, 1]]) {
      const { lines: seen, errors } = readInPieces(bytes, lengths, 20_000);
      expect(errors).toEqual([expect.any(MessageTooLargeError)]);
      expect(errors[0]).toMatchObject({ maxBytes: 20_000, head: { kind: 'response', id: 7 } });
      expect(seen).toEqual(['{"next":1}']);
    }
  });

  it('tells whose message is too long where its last pieces are a few bytes each', () => {
    const start = `{"result":{"x":"${'x'.repeat(2000)}"},"id"`;
    const { reader, errors } = read(start.length + 3);
    for (const piece of [start, ':', '1', '2', '}', '\n']) reader.push(Buffer.from(piece));
    expect(errors).toEqual([expect.any(MessageTooLargeError)]);
    expect(errors[0]).toMatchObject({ head: { kind: 'response', id: 12 } });
  });

  it('tells nothing of a message that is too long once it is stopped', () => {
    const { reader, errors } = read(1024);
    reader.push(Buffer.from(`{"result":{"x":"${'x'.repeat(2000)}`));
    reader.stop();
    reader.push(Buffer.from('"},"id":1}\n'));
    reader.end();
    expect(errors).toEqual([]);
  });

  it('reports a message that is too long once its bytes end, when it does not say which it is before', () => {
    const { reader, errors } = read(1024);
    reader.push(Buffer.from(`{"result":{"x":"${'x'.repeat(2000)}`));
    expect(errors).toEqual([]);
    reader.end();
    expect(errors).toEqual([expect.any(MessageTooLargeError)]);
    expect(errors[0]).toMatchObject({ head: undefined });
  });

  it('[ROBUSTNESS-7] holds little more than a line weighs when it comes byte by byte', () => {
    const { reader } = read();
    const count = 2 * 1024 * 1024;
    const before = process.memoryUsage();
    for (let n = 0; n < count; n++) reader.push(Buffer.from('x'));
    const after = process.memoryUsage();
    expect(after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(20 * count);
  });

  it('keeps small and large pieces of one line in order', () => {
    const text = Array.from({ length: 60_000 }, (_, n) => `${n} `).join('');
    for (const lengths of [
      [1, 20_000],
      [7, 16_384, 1],
      [20_000, 1, 1, 5],
      [40_000, 3],
    ]) {
      expect(readInPieces(Buffer.from(`${text}\n`), lengths).lines).toEqual([text]);
    }
  });

  it('joins a long line once, and not once for each of its chunks', () => {
    const bytes = Buffer.alloc(32 * 1024 * 1024, 'x');
    const cpuMs = countCpuMs();
    const { reader, lines: seen } = readInPieces(bytes, [1024], 64 * 1024 * 1024);
    reader.push(Buffer.from('\n'));
    const tookMs = cpuMs();
    expect(seen[0]).toHaveLength(bytes.length);
    // About a tenth of a second; joined for each chunk it would be half a terabyte to copy.
    expect(tookMs).toBeLessThan(5_000);
  });

  it('tells of nothing after stop, not even the rest of a chunk', () => {
    const seen: string[] = [];
    const reader = new LineReader({
      maxMessageBytes: 1024,
      onLine(text) {
        seen.push(text);
        reader.stop();
      },
      onError: () => undefined,
    });
    reader.push(Buffer.from('one\ntwo\nthr'));
    reader.push(Buffer.from('ee\n'));
    reader.end();
    expect(seen).toEqual(['one']);
  });
});

describe('frame', () => {
  it('[STDIO-001] writes a message as one line, whatever its text, which reads back the same', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.string({ unit: 'binary' }), (value, text) => {
        const message = { jsonrpc: '2.0', method: 'kit/note', params: { value, text: `${text}\n\r\n\u2028` } } as const;
        const framed = frame(message as Parameters<typeof frame>[0]);
        expect(framed.indexOf('\n')).toBe(framed.length - 1);
        const { reader, lines: seen } = read();
        reader.push(Buffer.from(framed));
        expect(seen).toHaveLength(1);
        expect(JSON.parse(seen[0] ?? '')).toEqual(JSON.parse(JSON.stringify(message)));
      }),
    );
  });
});
