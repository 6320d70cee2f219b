/** Runs callbacks of the program safely, and listens to a transport in addition to the program's callbacks. */

import type { JsonRpcMessage } from '../message.ts';
import type { MessageInfo, Transport } from './transport.ts';

/** Runs a callback of the program and reports what it throws. A rejected promise is reported too. */
export function runCallback(fn: () => unknown, onError: (error: Error) => void): void {
  try {
    const outcome = fn();
    if (outcome instanceof Promise) outcome.catch((error: unknown) => onError(toError(error)));
  } catch (error) {
    onError(toError(error));
  }
}

/** The callbacks of a listener to a transport. None of these may throw. */
export interface TransportListener {
  readonly onMessage: (message: JsonRpcMessage, info?: MessageInfo) => void;
  onError(error: Error): void;
  onClose(): void;
  /** Called when a callback that the program set on the transport threw. The channel and its messages are still in order. */
  readonly onThrown: (error: Error) => void;
}

/**
 * Listens to a transport. Callbacks that the program has set on it are still called, before the listener. If one throws, `onThrown` reports
 * it and the listener is called anyway.
 *
 * @returns A function that restores the transport's callbacks, except those that the program has replaced since.
 */
export function holdTransport(transport: Transport, listener: TransportListener): () => void {
  const { onmessage, onerror, onclose } = transport;
  const attempt = (fn: () => unknown): void => runCallback(fn, listener.onThrown);
  const ours = {
    onmessage: onmessage
      ? (message: JsonRpcMessage, info?: MessageInfo): void => {
          attempt(() => onmessage.call(transport, message, info));
          listener.onMessage(message, info);
        }
      : listener.onMessage,
    onerror: (error: Error): void => {
      if (onerror) attempt(() => onerror.call(transport, error));
      listener.onError(error);
    },
    onclose: (): void => {
      if (onclose) attempt(() => onclose.call(transport));
      listener.onClose();
    },
  };
  transport.onmessage = ours.onmessage;
  transport.onerror = ours.onerror;
  transport.onclose = ours.onclose;
  return () => {
    if (transport.onmessage === ours.onmessage) transport.onmessage = onmessage;
    if (transport.onerror === ours.onerror) transport.onerror = onerror;
    if (transport.onclose === ours.onclose) transport.onclose = onclose;
  };
}

/** Calls the `onerror` of a transport. An error that the callback throws is dropped. */
export function emitError(transport: Transport, error: Error): void {
  runCallback(
    () => transport.onerror?.(error),
    () => undefined,
  );
}

/** Calls the `onclose` of a transport, and reports an error that the callback throws. */
export function emitClose(transport: Transport): void {
  runCallback(
    () => transport.onclose?.(),
    (error) => emitError(transport, error),
  );
}

/** Wraps an error that a callback of the program threw. Without that, a `SyntaxError` would look like an unreadable message. */
export function toCallbackError(error: Error): Error {
  return new Error(`A callback set on the transport threw: ${error.message}`, { cause: error });
}

/** Converts a thrown value to an `Error`, even one that throws when it is inspected. */
export function toError(thrown: unknown): Error {
  try {
    if (thrown instanceof Error) return thrown;
  } catch {
    // A proxy whose traps throw. It becomes the cause.
  }
  return new Error('The thrown value is not an Error (it is the cause of this error): throw an Error instead', { cause: thrown });
}
