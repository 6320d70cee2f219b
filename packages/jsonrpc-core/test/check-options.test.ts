import { describe, expect, it } from 'vitest';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import { withLogging, withMetrics } from '@mortise/jsonrpc-core/wrap';
import { messagePortTransport } from '../src/message-port.ts';

interface Options {
  readonly port?: number;
  readonly host?: string;
  readonly json?: boolean;
  readonly onError?: (error: Error) => void;
  readonly guard?: 'off' | readonly string[];
  readonly clock?: object;
  readonly limits?: { readonly maxBytes?: number; readonly maxDepth?: number };
  readonly store?: { get(): unknown; put(): void };
  readonly extra?: unknown;
}

const [inner] = createInMemoryPair();

it.each<[string, (options: never) => unknown]>([
  ['messagePortTransport', (options) => messagePortTransport(new MessageChannel().port1, options)],
  ['withLogging', (options) => withLogging(inner, options)],
  ['withMetrics', (options) => withMetrics(inner, options)],
])('%s refuses an option that it does not know', (_what, make) => {
  expect(() => make({ lable: 'x' } as never)).toThrow(/unknown option "lable"/);
});

const TABLE: OptionTable<Options> = {
  port: 0,
  host: 'string',
  json: 'boolean',
  onError: 'function',
  guard: ['string', 'array'],
  clock: 'object',
  limits: { maxBytes: 1, maxDepth: 1 },
  store: { methods: ['get', 'put'] },
  extra: 'any',
};

const check = (options: unknown): void => checkOptions('serveHttp options', options as Options, TABLE);

describe('checkOptions', () => {
  it.each<[string, unknown]>([
    ['no options', undefined],
    ['none of them', {}],
    ['options that are undefined', { port: undefined, unknown: undefined }],
    [
      'one of each kind',
      { port: 0, host: '', json: false, onError: () => undefined, guard: [], clock: {}, limits: { maxBytes: 1 }, extra: null },
    ],
    ['Infinity', { port: Infinity }],
    ['either of two kinds', { guard: 'off' }],
    ['an object with its functions', { store: { get: () => 1, put: () => undefined } }],
  ])('takes %s', (_, options) => {
    expect(() => check(options)).not.toThrow();
  });

  it.each<[unknown, string]>([
    [{ prot: 1 }, 'serveHttp options: unknown option "prot" (known: port, host, json, onError, guard, clock, limits, store, extra)'],
    [{ port: '80' }, 'serveHttp options: "port" must be a number, 0 or more, got "80"'],
    [{ port: NaN }, 'serveHttp options: "port" must be a number, 0 or more, got NaN'],
    [{ port: -1 }, 'serveHttp options: "port" must be a number, 0 or more, got -1'],
    [{ port: null }, 'serveHttp options: "port" must be a number, 0 or more, got null'],
    [{ json: 1 }, 'serveHttp options: "json" must be a boolean, got 1'],
    [{ onError: {} }, 'serveHttp options: "onError" must be a function, got an object'],
    [{ clock: null }, 'serveHttp options: "clock" must be an object, got null'],
    [{ clock: [] }, 'serveHttp options: "clock" must be an object, got an array'],
    [{ guard: 5 }, 'serveHttp options: "guard" must be a string or an array, got 5'],
    [{ clock: 'a token that should not be shown' }, 'serveHttp options: "clock" must be an object, got a long string'],
    [{ limits: { maxByte: 1 } }, 'serveHttp options, limits: unknown option "maxByte" (known: maxBytes, maxDepth)'],
    [{ limits: { maxDepth: 0 } }, 'serveHttp options, limits: "maxDepth" must be a number, 1 or more, got 0'],
    [{ store: { get: () => 1 } }, 'serveHttp options: "store" must be an object with a function "put", got an object'],
    [{ store: null }, 'serveHttp options: "store" must be an object with a function "get", got null'],
    [{ limits: 5 }, 'serveHttp options, limits must be an object, got 5'],
    [8080, 'serveHttp options must be an object, got 8080'],
    [null, 'serveHttp options must be an object, got null'],
    [
      { toString: 1 },
      'serveHttp options: unknown option "toString" (known: port, host, json, onError, guard, clock, limits, store, extra)',
    ],
  ])('refuses %o', (options, message) => {
    expect(() => check(options)).toThrow(new TypeError(message));
  });

  it("throws a package's own class", () => {
    expect(() => checkOptions('x', { y: 1 } as object, {}, RangeError)).toThrow(new RangeError('x: unknown option "y" (known: )'));
  });

  it('sees options that a class gives by getters', () => {
    class Given {
      get port(): number {
        return NaN;
      }
    }
    expect(() => check(new Given())).toThrow('"port" must be a number');
  });
});
