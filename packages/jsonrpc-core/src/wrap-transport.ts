/** Adds hooks to a transport and keeps all of its other members available. */

import type { JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from './message.ts';
import { emitError, holdTransport, runCallback, toCallbackError } from './transport/hold-transport.ts';
import {
  type ExchangeOptions,
  isExchangeTransport,
  isLegacyOpener,
  type MessageInfo,
  type SendOptions,
  type Transport,
  type TransportFactory,
} from './transport/transport.ts';

/** The hooks of a wrapped transport. Each one may call `next`, call it with changed arguments, or not call it at all. */
export interface TransportHooks {
  /** Called when a message is sent; `next` passes the message on to the transport. */
  send?(
    message: JsonRpcMessage,
    options: SendOptions | undefined,
    next: (message: JsonRpcMessage, options?: SendOptions) => Promise<void>,
  ): Promise<void>;
  /** Called when a message arrives; `next` passes the message on to the reader. */
  receive?(message: JsonRpcMessage, info: MessageInfo | undefined, next: (message: JsonRpcMessage, info?: MessageInfo) => void): void;
  /** Called for each exchange; its notifications go to `options.onMessage`. To change an option, pass `{ ...options, ... }` to `next`. */
  exchange?(
    request: JsonRpcRequest,
    options: ExchangeOptions | undefined,
    next: (request: JsonRpcRequest, options?: ExchangeOptions) => Promise<JsonRpcResponse>,
  ): Promise<JsonRpcResponse>;
  /** Called when the transport reports an error; `next` passes the error on. */
  error?(error: Error, next: (error: Error) => void): void;
  /** Called when the channel has closed; `next` passes that on. */
  close?(next: () => void): void;
}

/**
 * Wraps a transport, a factory of transports, or an object that is both.
 *
 * Every other member of the inner transport (`exchange`, `openLegacy`, `sessionId`, `setProtocolVersion` and custom ones) stays available. Transports
 * made by a factory or by `openLegacy` are wrapped too. The hooks do NOT see messages of exchanges that a transport hosts for a server.
 *
 * @param hooks The hooks, or a function that is called once for each channel, for hooks that keep state.
 */
export function wrapTransport<T extends Transport | TransportFactory>(inner: T, hooks: TransportHooks | (() => TransportHooks)): T {
  const channelHooks = typeof hooks === 'function' ? hooks() : hooks;
  /** The members of the wrapper that replace those of the inner transport. */
  const own: Record<PropertyKey, unknown> = isTransport(inner) ? createChannel(inner, channelHooks) : {};
  const { exchange } = channelHooks;
  if (isExchangeTransport(inner) && exchange) {
    own['exchange'] = (request: JsonRpcRequest, options?: ExchangeOptions) =>
      exchange.call(channelHooks, request, options && toSpreadable(options), (passed, how) => inner.exchange(passed, how));
  }
  if (isLegacyOpener(inner)) own['openLegacy'] = async () => wrapTransport(await inner.openLegacy(), hooks);
  return new Proxy<T & object>(inner, { apply: () => wrapTransport((inner as TransportFactory)(), hooks), ...passTo(inner, own) });
}

/**
 * Copies options so that `{ ...options }` keeps every member. The caller's object may have getters and methods of a class, which spread
 * drops.
 */
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

function createChannel(inner: Transport, hooks: TransportHooks): Record<PropertyKey, unknown> {
  const next = (message: JsonRpcMessage, options?: SendOptions): Promise<void> => inner.send(message, options);
  const channel: Record<PropertyKey, unknown> & Transport = {
    onmessage: undefined,
    onerror: undefined,
    onclose: undefined,
    start() {
      listen(channel, inner, hooks);
      return inner.start();
    },
    send: (message, options) => (hooks.send ? hooks.send(message, options, next) : next(message, options)),
    close: () => inner.close(),
  };
  return channel;
}

function listen(shell: Transport, inner: Transport, hooks: TransportHooks): void {
  // A hook may call `next` later, when nothing would catch an error thrown by the program's callbacks. So `next` never throws.
  const onError = (error: Error): void => emitError(shell, error);
  const report = (error: Error): void => (hooks.error ? hooks.error(error, onError) : onError(error));
  const onMessage = (message: JsonRpcMessage, info?: MessageInfo): void => runCallback(() => shell.onmessage?.(message, info), report);
  const onClose = (): void => runCallback(() => shell.onclose?.(), report);
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

function isTransport(value: object): value is Transport {
  return typeof (value as Partial<Transport>).send === 'function';
}

/** Makes hooks that call `see` with each message, including those of exchanges, and pass it on unchanged. */
export function watchMessages(
  see: (direction: 'in' | 'out', message: JsonRpcMessage) => void,
): Required<Pick<TransportHooks, 'send' | 'receive' | 'exchange'>> {
  return {
    send(message, options, next) {
      see('out', message);
      return next(message, options);
    },
    receive(message, info, next) {
      see('in', message);
      next(message, info);
    },
    async exchange(request, options, next) {
      see('out', request);
      const onMessage = (message: JsonRpcNotification): void => {
        see('in', message);
        options?.onMessage?.(message);
      };
      const response = await next(request, { ...options, onMessage });
      see('in', response);
      return response;
    },
  };
}

/**
 * Makes a transport that can also be called to make further transports to the same peer. Every member comes from `own`.
 *
 * @param factory Makes another transport to the same peer.
 */
export function createCallableTransport<T extends Transport>(own: T, factory: TransportFactory): T & TransportFactory {
  return new Proxy<T & TransportFactory>((() => factory()) as T & TransportFactory, passTo(own, {}));
}

/** Makes a proxy handler that passes access to every member to `inner`, except the members that `own` has. */
function passTo(inner: object, own: Record<PropertyKey, unknown>): Required<Pick<ProxyHandler<object>, 'get' | 'set'>> {
  const holderOf = (key: PropertyKey): object => (Object.hasOwn(own, key) ? own : inner);
  return {
    get(_target, key) {
      const holder = holderOf(key);
      const value: unknown = Reflect.get(holder, key);
      // Bound, because methods of `inner` may use private members.
      return holder === inner && typeof value === 'function' ? (value.bind(inner) as unknown) : value;
    },
    set: (_target, key, value) => Reflect.set(holderOf(key), key, value),
  };
}
