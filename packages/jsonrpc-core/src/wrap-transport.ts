/** Puts code between a transport and whoever uses it, without hiding any ability that the transport has. */

import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from './message.ts';
import { emitError, holdTransport, toCallbackError, toError } from './transport/hold-transport.ts';
import {
  type ExchangeOptions,
  isExchangeTransport,
  isLegacyOpener,
  type MessageInfo,
  type SendOptions,
  type Transport,
  type TransportFactory,
} from './transport/transport.ts';

/** What a wrapper does on the way. Each is handed the `next` step and may call it, change what passes, or leave it out. */
export interface TransportHooks {
  /** A message leaves. */
  send?(
    message: JsonRpcMessage,
    options: SendOptions | undefined,
    next: (message: JsonRpcMessage, options?: SendOptions) => Promise<void>,
  ): Promise<void>;
  /** A message has arrived. */
  receive?(message: JsonRpcMessage, info: MessageInfo | undefined, next: (message: JsonRpcMessage, info?: MessageInfo) => void): void;
  /** An exchange is made. Its notifications are at `options.onMessage`. `{ ...options }` has all that `options` has. */
  exchange?(
    request: JsonRpcRequest,
    options: ExchangeOptions | undefined,
    next: (request: JsonRpcRequest, options?: ExchangeOptions) => Promise<JsonRpcResponse>,
  ): Promise<JsonRpcResponse>;
  /** The transport reports an error. */
  error?(error: Error, next: (error: Error) => void): void;
  /** The channel has ended. */
  close?(next: () => void): void;
}

type MutableTransport = { -readonly [K in keyof Transport]: Transport[K] };

/**
 * Wraps a transport, a factory of transports, or an object that is both.
 *
 * Every other member of the inner one (`exchange`, `openLegacy`, `sessionId`, `setProtocolVersion` and what this package
 * does not know) stays within reach. Transports that a factory or `openLegacy` makes are wrapped too. Messages of exchanges
 * that a transport hosts for a server pass unseen.
 *
 * @param hooks What to do on the way; a function is called once for each channel, for hooks that keep state.
 */
export function wrapTransport<T extends Transport | TransportFactory>(inner: T, hooks: TransportHooks | (() => TransportHooks)): T {
  const channelHooks = typeof hooks === 'function' ? hooks() : hooks;
  const shell: object = typeof inner === 'function' ? () => wrapTransport((inner as TransportFactory)(), hooks) : {};
  forwardMembers(shell, inner);
  if (isTransport(inner)) addChannel(shell as MutableTransport, inner, channelHooks);
  if (isExchangeTransport(inner) && channelHooks.exchange) {
    const { exchange } = channelHooks;
    define(shell, 'exchange', (request: JsonRpcRequest, options?: ExchangeOptions) =>
      exchange.call(channelHooks, request, options && toSpreadable(options), (passed, how) => inner.exchange(passed, how)),
    );
  }
  if (isLegacyOpener(inner)) define(shell, 'openLegacy', async () => wrapTransport(await inner.openLegacy(), hooks));
  return shell as T;
}

/** A caller may be its own options, whose members are of its class: a hook that makes others of them, `{ ...options, onMessage }`, would lose those. */
function toSpreadable(options: ExchangeOptions): ExchangeOptions {
  const { headers, onMessage, onAbort, pauseTimeout } = options;
  return {
    ...options,
    headers,
    onMessage,
    get signal() {
      return options.signal;
    },
    onAbort: onAbort && ((listener) => onAbort.call(options, listener)),
    ...(pauseTimeout && { pauseTimeout: () => pauseTimeout.call(options) }),
  };
}

function addChannel(shell: MutableTransport, inner: Transport, hooks: TransportHooks): void {
  const next = (message: JsonRpcMessage, options?: SendOptions): Promise<void> => inner.send(message, options);
  define(shell, 'onmessage', undefined);
  define(shell, 'onerror', undefined);
  define(shell, 'onclose', undefined);
  define(shell, 'start', () => {
    listen(shell, inner, hooks);
    return inner.start();
  });
  define(shell, 'send', hooks.send ? (message: JsonRpcMessage, options?: SendOptions) => hooks.send?.(message, options, next) : next);
  define(shell, 'close', () => inner.close());
}

function listen(shell: MutableTransport, inner: Transport, hooks: TransportHooks): void {
  // A hook may go on later, when nobody is there to catch what the program's callbacks throw; so the steps themselves never throw.
  const onError = (error: Error): void => emitError(shell, error);
  const report = (error: Error): void => (hooks.error ? hooks.error(error, onError) : onError(error));
  const onMessage = (message: JsonRpcMessage, info?: MessageInfo): void => {
    try {
      shell.onmessage?.(message, info);
    } catch (error) {
      report(toError(error));
    }
  };
  const onClose = (): void => {
    try {
      shell.onclose?.();
    } catch (error) {
      report(toError(error));
    }
  };
  const giveBack = holdTransport(inner, {
    onMessage: (message, info) => (hooks.receive ? hooks.receive(message, info, onMessage) : onMessage(message, info)),
    onError: report,
    onThrown: (error) => report(toCallbackError(error)),
    onClose: () => {
      giveBack();
      if (hooks.close) hooks.close(onClose);
      else onClose();
    },
  });
}

/** Puts every member of `inner`, inherited ones too, within reach of `shell`, with `inner` as its `this`. */
function forwardMembers(shell: object, inner: object): void {
  const source = inner as Record<PropertyKey, unknown>;
  for (let owner: object | null = inner; owner && !isRoot(owner); owner = Object.getPrototypeOf(owner) as object | null) {
    for (const key of Reflect.ownKeys(owner)) {
      if (key === 'constructor' || Object.hasOwn(shell, key) || (typeof inner === 'function' && isFunctionMember(key))) continue;
      Object.defineProperty(shell, key, {
        configurable: true,
        enumerable: true,
        get: () => (typeof source[key] === 'function' ? source[key].bind(inner) : source[key]),
        set: (value: unknown) => {
          source[key] = value;
        },
      });
    }
  }
}

function isRoot(owner: object): boolean {
  return owner === Object.prototype || owner === Function.prototype;
}

function isFunctionMember(key: PropertyKey): boolean {
  return key === 'name' || key === 'length' || key === 'prototype' || key === 'arguments' || key === 'caller';
}

function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, configurable: true, enumerable: true, writable: true });
}

function isTransport(value: object): value is Transport {
  return typeof (value as Partial<Transport>).send === 'function';
}
