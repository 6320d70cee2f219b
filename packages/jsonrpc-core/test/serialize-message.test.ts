import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonRpcMessage } from '../src/index.ts';
import { serializeMessage, withSerialized } from '../src/messages.ts';

function respond(result: unknown): JsonRpcMessage {
  return { jsonrpc: '2.0', id: 1, result: result as JsonObject };
}

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;

let deep: unknown = {};
for (let level = 0; level < 100_000; level++) deep = [deep];

describe('serializeMessage', () => {
  it('[BASE-001] writes one line of JSON', () => {
    const message: JsonRpcMessage = { jsonrpc: '2.0', id: 'a\nb', method: 'm', params: { text: 'x\r\n\u2028y' } };
    const text = serializeMessage(message);
    expect(text).not.toMatch(/[\r\n]/);
    expect(JSON.parse(text)).toEqual(message);
  });

  it('writes an array of messages as a batch', () => {
    expect(JSON.parse(serializeMessage([respond({ a: 1 }), respond({ b: 2 })] as readonly JsonRpcMessage[]))).toEqual([
      respond({ a: 1 }),
      respond({ b: 2 }),
    ]);
  });

  it.each([
    ['a cycle', cycle],
    ['a BigInt', { n: 1n }],
    [
      'a getter that throws',
      Object.defineProperty({}, 'a', {
        enumerable: true,
        get: () => {
          throw new Error('secret');
        },
      }),
    ],
    [
      'a toJSON that throws',
      {
        toJSON: () => {
          throw new Error('secret');
        },
      },
    ],
    ['a toJSON that gives a text', new Date(0)],
    ['a toJSON that gives nothing', { toJSON: () => undefined }],
    ['a nesting that no stack holds', { deep }],
    ['a number', 42],
    ['null', null],
    ['an array', [1]],
    ['a function', () => undefined],
    ['undefined', undefined],
  ])('[ROBUSTNESS-4] throws UsageError for a result that holds %s', (_what, result) => {
    expect(() => serializeMessage(respond(result))).toThrow(expect.objectContaining({ code: 'ERR_SERIALIZE' }));
    expect(() => serializeMessage(respond(result))).not.toThrow(/secret/);
  });

  it('throws UsageError for an error whose data JSON cannot carry', () => {
    const message = { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'a', data: 1n } };
    expect(() => serializeMessage(message as unknown as JsonRpcMessage)).toThrow(expect.objectContaining({ code: 'ERR_SERIALIZE' }));
  });
});

describe('withSerialized', () => {
  it('has its text written instead of the object', () => {
    const marked = withSerialized({ tools: [] }, '{"tools":["from the text"]}');
    expect(serializeMessage(respond(marked))).toBe('{"jsonrpc":"2.0","id":1,"result":{"tools":["from the text"]}}');
  });

  it('writes the id with its type', () => {
    const marked = withSerialized({}, '{}');
    expect(serializeMessage({ jsonrpc: '2.0', id: '1"', result: marked })).toBe('{"jsonrpc":"2.0","id":"1\\"","result":{}}');
  });

  it('leaves no trace in copies, keys or JSON', () => {
    const marked = withSerialized({ a: 1 }, '{"a":1}');
    expect(Reflect.ownKeys({ ...marked })).toEqual(['a']);
    expect(Object.keys(marked)).toEqual(['a']);
    expect(JSON.stringify(marked)).toBe('{"a":1}');
    expect(serializeMessage(respond({ ...marked, b: 2 }))).toContain('"b":2');
  });

  it('marks a copy of a frozen object', () => {
    const frozen = Object.freeze({ a: 1 });
    const marked = withSerialized(frozen, '{"a":1}');
    expect(marked).not.toBe(frozen);
    expect(serializeMessage(respond(marked))).toContain('"result":{"a":1}');
  });

  it('cannot be forged from JSON', () => {
    const forged = JSON.parse('{"mortise.serialized":"{\\"evil\\":1}","Symbol(mortise.serialized)":"x"}') as JsonObject;
    expect(JSON.parse(serializeMessage(respond(forged)))).toEqual(respond(forged));
  });
});
