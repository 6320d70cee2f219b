import { describe, expect, it } from 'vitest';
import {
  type AnyJsonRpcError,
  CancelledError,
  ConnectionClosedError,
  ConnectionLostError,
  ErrorCode,
  ExchangeHttpError,
  InvalidRequestError,
  InvalidResponseError,
  isMortiseError,
  MessageTooLargeError,
  MortiseError,
  ParseError,
  ProtocolError,
  RemoteError,
  TimeoutError,
  UsageError,
} from '../src/index.ts';
import { toWireError } from '../src/messages.ts';

const cases: readonly (readonly [string, AnyJsonRpcError])[] = [
  ['ERR_REMOTE', new RemoteError({ code: 5, message: 'a', data: { b: 1 } }, 'tools/call')],
  ['ERR_PROTOCOL', new ProtocolError(-32602, 'a')],
  ['ERR_TIMEOUT', new TimeoutError('a', 5)],
  ['ERR_CONNECTION_CLOSED', new ConnectionClosedError()],
  ['ERR_CONNECTION_LOST', new ConnectionLostError()],
  ['ERR_NOT_CONNECTED', new UsageError('ERR_NOT_CONNECTED')],
  ['ERR_ALREADY_STARTED', new UsageError('ERR_ALREADY_STARTED')],
  ['ERR_CANCELLED', new CancelledError('enough')],
  ['ERR_PARSE', new ParseError('a')],
  ['ERR_INVALID_REQUEST', new InvalidRequestError('a', -32600, 1)],
  ['ERR_INVALID_RESPONSE', new InvalidResponseError('a')],
  ['ERR_SERIALIZE', new UsageError('ERR_SERIALIZE', 'a')],
  ['ERR_MESSAGE_TOO_LARGE', new MessageTooLargeError(10)],
  ['ERR_EXCHANGE_HTTP', new ExchangeHttpError('a', { status: 404 })],
];

describe('errors', () => {
  it.each(cases)('gives %s a code, a name and the common base', (code, error) => {
    expect(error.code).toBe(code);
    expect(error).toBeInstanceOf(MortiseError);
    expect(error.name).toBe(error.constructor.name);
    expect(String(error)).toBe(`${error.name}: ${error.message}`);
    expect(isMortiseError(error)).toBe(true);
  });

  it('[ERR-015] makes no local error look like one of the peer', () => {
    const remote = cases.filter(([, error]) => error instanceof RemoteError);
    expect(remote).toHaveLength(1);
    for (const [code, error] of cases)
      expect('rpcCode' in error).toBe(['ERR_REMOTE', 'ERR_PROTOCOL', 'ERR_INVALID_REQUEST'].includes(code));
  });

  it('keeps what the peer said', () => {
    expect(cases[0]?.[1]).toMatchObject({ rpcCode: 5, message: 'a', data: { b: 1 }, method: 'tools/call' });
  });

  it('knows errors of another installed copy', () => {
    const foreign = Object.assign(new Error('a'), { code: 'ERR_REMOTE', [Symbol.for('mortise.error')]: true });
    expect(foreign).not.toBeInstanceOf(MortiseError);
    expect(isMortiseError(foreign)).toBe(true);
  });

  it.each([
    undefined,
    null,
    1,
    'a',
    {},
    new Error('a'),
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('b');
        },
      },
    ),
  ])('takes nothing else for one of its own', (value) => {
    expect(isMortiseError(value)).toBe(false);
  });

  it('[ERR-001] names the five codes of JSON-RPC', () => {
    expect(Object.values(ErrorCode)).toEqual([-32700, -32600, -32601, -32602, -32603]);
  });
});

const throwing = new Proxy(new Error('secret'), {
  get: () => {
    throw new Error('secret');
  },
  getPrototypeOf: () => {
    throw new Error('secret');
  },
});

describe('toWireError', () => {
  it('sends a ProtocolError as it says', () => {
    expect(toWireError(new ProtocolError(-32602, 'no such tool', { tool: 'x' }))).toEqual({
      code: -32602,
      message: 'no such tool',
      data: { tool: 'x' },
    });
    expect(toWireError(new ProtocolError(1, 'a'))).not.toHaveProperty('data');
  });

  it.each([
    ['an error', new Error('secret at /home/me')],
    ['a RemoteError of another peer', new RemoteError({ code: 1, message: 'secret' })],
    ['a text', 'secret'],
    ['undefined', undefined],
    ['null', null],
    ['an object with a code', { code: -32602, message: 'secret' }],
    ['a proxy whose traps throw', throwing],
    ['a ProtocolError with a code that is no integer', new ProtocolError(Number.NaN, 'secret')],
    [
      'a ProtocolError whose getter throws',
      Object.defineProperty(new ProtocolError(1, 'secret'), 'rpcCode', {
        get: () => {
          throw new Error('x');
        },
      }),
    ],
  ])('[ROBUSTNESS-14] says nothing about %s but -32603', (_what, thrown) => {
    expect(toWireError(thrown)).toEqual({ code: -32603, message: 'Internal error' });
  });

  it('passes a remote error on where the handler says so', () => {
    const remote = new RemoteError({ code: 7, message: 'upstream', data: [1] });
    expect(toWireError(new ProtocolError(remote.rpcCode, remote.message, remote.data))).toEqual({
      code: 7,
      message: 'upstream',
      data: [1],
    });
  });
});
