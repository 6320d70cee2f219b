/** Puts code between a transport and its user, without hiding any ability of the transport. */

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

/** What a wrapper does with what passes. Each hook may call `next`, change what it passes on, or leave it out. */
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

/**
 * Wraps a transport, a factory of transports, or an object that is both.
 *
 * Every other member of the inner one (`exchange`, `openLegacy`, `sessionId`, `setProtocolVersion` and what this package
 * does not know) stays within reach. Transports that a factory or `openLegacy` makes are wrapped too. Messages of exchanges
 * that a transport hosts for a server pass unseen.
 *
 * @param hooks What to do with what passes; a function is called once for each channel, for hooks that keep state.
 */
export function wrapTransport<T extends Transport | TransportFactory>(inner: T, hooks: TransportHooks | (() => TransportHooks)): T {
  const channelHooks = typeof hooks === 'function' ? hooks() : hooks;
  /** The members that differ from those of the inner one. */
  const own: Record<PropertyKey, unknown> = isTransport(inner) ? createChannel(inner, channelHooks) : {};
  const { exchange } = channelHooks;
  if (isExchangeTransport(inner) && exchange) {
    own['exchange'] = (request: JsonRpcRequest, options?: ExchangeOptions) =>
      exchange.call(channelHooks, request, options && toSpreadable(options), (passed, how) => inner.exchange(passed, how));
  }
  if (isLegacyOpener(inner)) own['openLegacy'] = async () => wrapTransport(await inner.openLegacy(), hooks);
  return new Proxy<T & object>(inner, { apply: () => wrapTransport((inner as TransportFactory)(), hooks), ...passTo(inner, own) });
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
  // A hook may call `next` later, when no caller is left to catch what the program's callbacks throw; so `next` never throws.
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

/** Hooks that see each message, those of exchanges too, before it passes on unchanged. */
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
 * Makes a transport that is a factory of further ones too: how a program names a server once. Everything but a call passes to `own`.
 *
 * @param factory Makes another transport to the same peer.
 */
export function createCallableTransport<T extends Transport>(own: T, factory: TransportFactory): T & TransportFactory {
  return new Proxy<T & TransportFactory>((() => factory()) as T & TransportFactory, passTo(own, {}));
}

/** Passes every member to `inner`, but those that `own` has. */
function passTo(inner: object, own: Record<PropertyKey, unknown>): Required<Pick<ProxyHandler<object>, 'get' | 'set'>> {
  const holderOf = (key: PropertyKey): object => (Object.hasOwn(own, key) ? own : inner);
  return {
    get(_target, key) {
      const holder = holderOf(key);
      const value: unknown = Reflect.get(holder, key);
      // Its methods may reach for private members.
      return holder === inner && typeof value === 'function' ? (value.bind(inner) as unknown) : value;
    },
    set: (_target, key, value) => Reflect.set(holderOf(key), key, value),
  };
}
