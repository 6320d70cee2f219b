import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyMessage, isJsonRpcNotification, isJsonRpcRequest, isJsonRpcResponse, isRequestId } from '../src/messages.ts';

const error = { code: -32000, message: 'no' };

const cases = [
  ['a request with a number id', { jsonrpc: '2.0', id: 1, method: 'a' }, 'request'],
  ['a request with id 0', { jsonrpc: '2.0', id: 0, method: 'a' }, 'request'],
  ['a request with an empty string id', { jsonrpc: '2.0', id: '', method: 'a' }, 'request'],
  ['a request with unknown members', { jsonrpc: '2.0', id: 1, method: 'a', extra: 1 }, 'request'],
  ['a notification with params', { jsonrpc: '2.0', method: 'a', params: {} }, 'notification'],
  ['a result', { jsonrpc: '2.0', id: 'x', result: {} }, 'response'],
  ['an error', { jsonrpc: '2.0', id: 1, error }, 'response'],
  ['an error with a null id', { jsonrpc: '2.0', id: null, error }, 'response'],
  ['an error without an id', { jsonrpc: '2.0', error }, 'response'],
  ['params that are undefined', { jsonrpc: '2.0', method: 'a', params: undefined, id: undefined }, 'notification'],
  ['null', null, 'invalid'],
  ['a text', 'a', 'invalid'],
  ['an array', [{ jsonrpc: '2.0', method: 'a' }], 'invalid'],
  ['no version', { id: 1, method: 'a' }, 'invalid'],
  ['version 1.0', { jsonrpc: '1.0', id: 1, method: 'a' }, 'invalid'],
  ['a version that is a number', { jsonrpc: 2, id: 1, method: 'a' }, 'invalid'],
  ['a method that is not a text', { jsonrpc: '2.0', id: 1, method: 1 }, 'invalid'],
  ['a method in another case', { jsonrpc: '2.0', id: 1, Method: 'a' }, 'invalid'],
  ['a method beside a result', { jsonrpc: '2.0', id: 1, method: 'a', result: {} }, 'invalid'],
  ['params in an array', { jsonrpc: '2.0', id: 1, method: 'a', params: [] }, 'invalid'],
  ['params that are null', { jsonrpc: '2.0', id: 1, method: 'a', params: null }, 'invalid'],
  ['a result without an id', { jsonrpc: '2.0', result: {} }, 'invalid'],
] as const;

describe('classifyMessage', () => {
  it.each(cases)('[BASE-001] tells what %s is', (_what, value, kind) => {
    expect(classifyMessage(value)).toBe(kind);
    expect(isJsonRpcRequest(value)).toBe(kind === 'request');
    expect(isJsonRpcNotification(value)).toBe(kind === 'notification');
    expect(isJsonRpcResponse(value)).toBe(kind === 'response');
  });

  it.each([null, 1.5, 2 ** 53, Number.NaN, true, {}, []])('[BASE-004][BASE-005] takes no request with the id %j', (id) => {
    expect(classifyMessage({ jsonrpc: '2.0', id, method: 'a' })).toBe('invalid');
    expect(isRequestId(id)).toBe(false);
  });

  it('[ROBUSTNESS-7] takes an id of 1,024 characters and none that is longer', () => {
    const id = 'x'.repeat(1024);
    expect([isRequestId(id), isRequestId(`${id}x`)]).toEqual([true, false]);
  });

  it.each([
    ['both a result and an error', { result: {}, error }],
    ['neither a result nor an error', {}],
  ])('[BASE-010] takes no response with %s', (_what, outcome) => {
    expect(classifyMessage({ jsonrpc: '2.0', id: 1, ...outcome })).toBe('invalid');
  });

  it.each([{ code: 1.5, message: 'a' }, { code: '1', message: 'a' }, { code: 1 }, { code: 1, message: 2 }, 'no', null, []])(
    '[BASE-011] takes no response with the error %j',
    (bad) => {
      expect(classifyMessage({ jsonrpc: '2.0', id: 1, error: bad })).toBe('invalid');
    },
  );

  it.each([1, 0.5, 'x', '', false, null, {}, [], [1]])('[BASE-011] takes an error with the data %j', (data) => {
    expect(classifyMessage({ jsonrpc: '2.0', id: 1, error: { ...error, data } })).toBe('response');
  });

  it.each([1, 'a', null, [], true])('[BASE-013] takes no response with the result %j', (bad) => {
    expect(classifyMessage({ jsonrpc: '2.0', id: 1, result: bad })).toBe('invalid');
  });

  it('[BASE-018] takes a method with an id for a request, never for a notification', () => {
    expect(isJsonRpcNotification({ jsonrpc: '2.0', id: 1, method: 'a' })).toBe(false);
    expect(isJsonRpcNotification({ jsonrpc: '2.0', id: null, method: 'a' })).toBe(false);
  });

  it('[ROBUSTNESS-2] is not fooled by inherited members', () => {
    class Sly {
      get method(): string {
        return 'a';
      }
    }
    expect(classifyMessage(Object.assign(new Sly(), { jsonrpc: '2.0' }))).toBe('invalid');
    expect(classifyMessage(Object.create({ jsonrpc: '2.0', method: 'a' }))).toBe('invalid');
    expect(classifyMessage(JSON.parse('{"jsonrpc":"2.0","__proto__":{"method":"a"}}'))).toBe('invalid');
    expect(classifyMessage({ jsonrpc: '2.0', id: 1, error: Object.create({ code: 1, message: 'a' }) })).toBe('invalid');
  });

  it('[ROBUSTNESS-2] gives every JSON value exactly one kind', () => {
    const keys = fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', '__proto__', 'Method', 'x');
    const values = fc.oneof(fc.constant('2.0'), fc.jsonValue(), fc.constant(error), fc.integer());
    const messages = fc.dictionary(keys, values).map((message) => JSON.parse(JSON.stringify(message)) as unknown);
    fc.assert(
      fc.property(messages, (message) => {
        const kinds = [isJsonRpcRequest, isJsonRpcNotification, isJsonRpcResponse].filter((is) => is(message));
        expect(kinds.length).toBe(classifyMessage(message) === 'invalid' ? 0 : 1);
      }),
    );
  });
});
