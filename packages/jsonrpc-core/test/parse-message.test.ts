import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidRequestError, ParseError } from '../src/index.ts';
import { classifyMessage, measureMessage, parseJson, serializeMessage, toInvalidRequestError } from '../src/messages.ts';
import { countCpuMs } from '../../../scripts/test/cpu-time.ts';

function nest(levels: number, open = '[', close = ']'): string {
  return open.repeat(levels) + close.repeat(levels);
}

/** Reads a message as a connection does. */
function parseMessage(text: string): unknown {
  const value = parseJson(text);
  if (classifyMessage(value) === 'invalid') throw toInvalidRequestError(value);
  return value;
}

function catchError(fn: () => unknown): unknown {
  try {
    fn();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('parseJson', () => {
  it.each(['', '{', '{"a":}', 'undefined', "{'a':1}", '{"a":1}x', '\u0000', '[1,]'])('[ERR-001] throws ParseError for %j', (text) => {
    expect(catchError(() => parseJson(text))).toBeInstanceOf(ParseError);
  });

  it('[ROBUSTNESS-14] does not quote the text in its error', () => {
    const error = catchError(() => parseJson('{"token":"hunter2" oops'));
    expect(String(error)).not.toContain('hunter2');
    expect((error as Error).cause).toBeUndefined();
  });

  it('[ROBUSTNESS-7] takes half a million values and refuses one more', () => {
    const items = (count: number): string => `[${Array.from({ length: count }, () => '{}').join(',')}]`;
    expect(parseJson(items(250_000))).toHaveLength(250_000);
    expect(String(catchError(() => parseJson(items(250_001))))).toContain('more than 500000 values: send it in pages');
  });

  it('[ROBUSTNESS-7] counts values outside strings alone, however many a string seems to hold', () => {
    const long = `{"csv":${JSON.stringify('1,[2],{3},"\\"\\",'.repeat(20_000))}}`;
    expect(parseJson(long, 1)).toEqual(JSON.parse(long));
    expect(catchError(() => parseJson(long, 0))).toBeInstanceOf(ParseError);
  });

  it('[ROBUSTNESS-7] finds the number of values of any JSON exactly', () => {
    const countValues = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 0;
      const members = Object.values(value);
      return members.reduce<number>((sum, member) => sum + countValues(member), 1 + Math.max(0, members.length - 1));
    };
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.integer({ min: 0, max: 20 }),
        fc.constantFrom(undefined, 1, '\t'),
        (value, maxValues, space) => {
          const text = JSON.stringify([value, 'x'.repeat(2 * maxValues)], null, space);
          const isRefused = catchError(() => parseJson(text, maxValues)) !== undefined;
          expect(isRefused).toBe(countValues(JSON.parse(text)) > maxValues);
        },
      ),
    );
  });

  it('[ROBUSTNESS-7] takes 128 levels and refuses 129', () => {
    expect(parseJson(nest(128))).toBeDefined();
    expect(catchError(() => parseJson(nest(129)))).toBeInstanceOf(ParseError);
    expect(catchError(() => parseJson(nest(129, '{"a":', '}').replace(':}', ':1}')))).toBeInstanceOf(ParseError);
  });

  it('[ROBUSTNESS-7] refuses a million levels without running out of stack or of time', () => {
    const text = '['.repeat(1_000_000);
    const cpuMs = countCpuMs();
    expect(catchError(() => parseJson(text))).toBeInstanceOf(ParseError);
    expect(cpuMs()).toBeLessThan(1_000);
  });

  it('[ROBUSTNESS-7] refuses a million names in less time than reading them would take', () => {
    const text = `{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":0`).join(',')}}`;
    const cpuMs = countCpuMs();
    const error = catchError(() => parseJson(text));
    expect(cpuMs()).toBeLessThan(500);
    expect(error).toBeInstanceOf(ParseError);
  });

  it('counts no brackets inside strings', () => {
    const value = [`${'['.repeat(500)}"\\${'{'.repeat(500)}`, '\\', '"'];
    expect(parseJson(JSON.stringify(value))).toEqual(value);
  });

  it('reads any JSON as JSON.parse does, when it is shallow enough', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('[ROBUSTNESS-7] finds the depth of any JSON exactly', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8, noUnicodeString: false }), fc.integer({ min: 118, max: 126 }), (value, levels) => {
        const text = `${'['.repeat(levels)}${JSON.stringify([value, 'padding so that the text is long enough to be looked at'])}${']'.repeat(levels)}`;
        const isRefused = catchError(() => parseJson(text)) !== undefined;
        expect(isRefused).toBe(depthOf(JSON.parse(text)) > 128);
      }),
    );
  });
});

describe('what is read as a message', () => {
  it('[BASE-001] gives back a message as it came, unknown members too', () => {
    const message = { jsonrpc: '2.0', id: 1, result: { a: [1], _meta: { 'x/y': 1 } }, extra: true };
    expect(parseMessage(JSON.stringify(message))).toEqual(message);
  });

  it.each([
    ['{"jsonrpc":"2.0","id":7,"method":1}', -32600, 7],
    ['{"jsonrpc":"1.0","id":"x","method":"a"}', -32600, 'x'],
    ['{"id":0,"method":"a"}', -32600, 0],
    ['{"jsonrpc":"2.0","id":7}', -32600, 7],
    ['{"jsonrpc":"2.0","id":7,"method":"a","result":{}}', -32600, 7],
    ['{"jsonrpc":"2.0","id":7,"method":"a","params":1}', -32600, 7],
    ['{"jsonrpc":"2.0","id":7,"method":"a","params":[1]}', -32602, 7],
    ['{"jsonrpc":"2.0","id":null,"method":"a"}', -32600, undefined],
    ['{"jsonrpc":"2.0","id":1.5,"method":"a"}', -32600, undefined],
    // The id of a response is not the asker's to answer to.
    ['{"jsonrpc":"2.0","id":1,"result":3}', -32600, undefined],
    ['[]', -32600, undefined],
    ['[{"jsonrpc":"2.0","method":"a"}]', -32600, undefined],
    ['"a"', -32600, undefined],
    ['null', -32600, undefined],
  ])('[ERR-001] throws InvalidRequestError for %s', (text, rpcCode, id) => {
    const error = catchError(() => parseMessage(text));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ code: 'ERR_INVALID_REQUEST', rpcCode, id });
  });

  it('throws ParseError for what is not JSON', () => {
    expect(catchError(() => parseMessage('{'))).toBeInstanceOf(ParseError);
  });

  it('reads back what serializeMessage wrote', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.parse(JSON.stringify(value)) as object);
    const id = fc.oneof(fc.string(), fc.maxSafeInteger());
    const messages = fc.oneof(
      fc.record({ jsonrpc: fc.constant('2.0'), id, method: fc.string(), params: object }),
      fc.record({ jsonrpc: fc.constant('2.0'), method: fc.string() }),
      fc.record({ jsonrpc: fc.constant('2.0'), id, result: object }),
      fc.record({ jsonrpc: fc.constant('2.0'), id, error: fc.record({ code: fc.integer(), message: fc.string(), data: fc.constant(1) }) }),
    );
    fc.assert(
      fc.property(messages, (message) => {
        const text = serializeMessage(message as Parameters<typeof serializeMessage>[0]);
        expect(text).not.toMatch(/[\n\r]/);
        expect(parseMessage(text)).toEqual(JSON.parse(JSON.stringify(message)));
      }),
    );
  });

  it('[ROBUSTNESS-5] throws only its own two errors, whatever the text', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ',',
      '"jsonrpc":"2.0"',
      '"id":1',
      '"method":"a"',
      '1e999',
      '\u2028',
      '\ud800',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const error = catchError(() => parseMessage(parts.join('')));
        expect(error === undefined || error instanceof ParseError || error instanceof InvalidRequestError).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('measureMessage', () => {
  it.each(['x', 'ä', '漢', '😀'])('counts a long text of %s in bytes of UTF-8', (character) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'a', params: { text: character.repeat(2000) } });
    expect(measureMessage(text)).toBe(new TextEncoder().encode(text).length);
  });

  it('says nothing of short messages, which their number bounds', () => {
    expect(measureMessage('x'.repeat(1023))).toBeUndefined();
  });
});
