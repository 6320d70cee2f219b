import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidRequestError, ParseError } from '../src/index.ts';
import { parseJson, parseMessage, serializeMessage } from '../src/messages.ts';
import { countCpuMs } from '../../../scripts/test/cpu-time.ts';

function nest(levels: number, open = '[', close = ']'): string {
  return open.repeat(levels) + close.repeat(levels);
}

function namesOf(count: number): string {
  return `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',')}}`;
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

  it('[ROBUSTNESS-7] refuses a text whose parts would take many times its length, and no text of the same length with few', () => {
    const limits = { maxMemoryBytes: 100_000 };
    for (const part of ['{}', '[]', '0', '""', '{"a":0}', '"\\\""']) {
      const parts = (count: number): string => `[${Array.from({ length: count }, () => part).join(',')}]`;
      expect(parseJson(parts(500), limits), part).toHaveLength(500);
      expect(
        catchError(() => parseJson(parts(10_000), limits)),
        part,
      ).toBeInstanceOf(ParseError);
    }
    const long = `{"csv":${JSON.stringify('1,[2],{3},"\\"\\",'.repeat(20_000))}}`;
    expect(parseJson(long, limits)).toEqual(JSON.parse(long));
    expect(catchError(() => parseJson(`[${'{},'.repeat(1_000_000)}{}]`))).toBeInstanceOf(ParseError);
  });

  it('[ROBUSTNESS-7] refuses objects whose one index makes the engine keep a long array for each', () => {
    const text = (name: string): string => `[${`{"${name}":"30"},`.repeat(200_000)}0]`;
    expect(catchError(() => parseJson(text('30')))).toBeInstanceOf(ParseError);
    expect(parseJson(text('a0'))).toHaveLength(200_001);
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

  it('[ROBUSTNESS-7] refuses a million different names in less time than reading them would take', () => {
    const text = namesOf(1_000_000);
    const cpuMs = countCpuMs();
    const error = catchError(() => parseJson(text));
    expect(cpuMs()).toBeLessThan(500);
    expect(error).toBeInstanceOf(ParseError);
    expect(String(error)).toContain('members of more than 50000 different names: send it in pages');
  });

  it('[ROBUSTNESS-7] takes 50,000 different names and refuses one more, in one object or in many', () => {
    expect(Object.keys(parseJson(namesOf(50_000)) as object)).toHaveLength(50_000);
    expect(catchError(() => parseJson(namesOf(50_001)))).toBeInstanceOf(ParseError);
    const objects = Array.from({ length: 50_001 }, (_, i) => `{"name ${i}" : 0}`);
    expect(parseJson(`[${objects.slice(1).join(',')}]`)).toHaveLength(50_000);
    expect(catchError(() => parseJson(`[${objects.join(',')}]`))).toBeInstanceOf(ParseError);
  });

  it('[ROBUSTNESS-7] counts a name once, however often and with whatever values it comes', () => {
    const row = '{"id":1,"a\\"b":"x:y","name" \t: "\\"name\\":","k":[{"id":2}]}';
    const table = `[${Array.from({ length: 5000 }, () => row).join(',')}]`;
    expect(parseJson(table, { maxNames: 4 })).toEqual(JSON.parse(table));
    expect(catchError(() => parseJson(table, { maxNames: 3 }))).toBeInstanceOf(ParseError);
  });

  it('[ROBUSTNESS-7] finds the number of names of any JSON exactly', () => {
    const namesIn = (value: unknown, names: Set<string>): Set<string> => {
      if (typeof value !== 'object' || value === null) return names;
      if (!Array.isArray(value)) for (const name of Object.keys(value)) names.add(name);
      for (const member of Object.values(value)) namesIn(member, names);
      return names;
    };
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.integer({ min: 0, max: 20 }),
        fc.constantFrom(undefined, 1, '\t'),
        (value, maxNames, space) => {
          const text = JSON.stringify([value, 'x'.repeat(5 * maxNames)], null, space);
          const isRefused = catchError(() => parseJson(text, { maxNames })) !== undefined;
          expect(isRefused).toBe(namesIn(JSON.parse(text), new Set()).size > maxNames);
        },
      ),
    );
  });

  it('counts no brackets inside strings', () => {
    const value = [`${'['.repeat(500)}"\\${'{'.repeat(500)}`, '\\', '"'];
    expect(parseJson(JSON.stringify(value))).toEqual(value);
  });

  it('takes another bound', () => {
    expect(catchError(() => parseJson('[[[]]]', { maxDepth: 2 }))).toBeInstanceOf(ParseError);
    expect(parseJson('[[]]', { maxDepth: 2 })).toEqual([[]]);
    expect(parseJson('[[],[],[],[],[],[]]', { maxDepth: 2 })).toHaveLength(6);
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
      fc.property(fc.jsonValue({ maxDepth: 8, noUnicodeString: false }), fc.integer({ min: 1, max: 8 }), (value, maxDepth) => {
        const text = JSON.stringify([value, 'padding so that the text is long enough to be looked at']);
        const isRefused = catchError(() => parseJson(text, { maxDepth })) !== undefined;
        expect(isRefused).toBe(depthOf(JSON.parse(text)) > maxDepth);
      }),
    );
  });
});

describe('parseMessage', () => {
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
