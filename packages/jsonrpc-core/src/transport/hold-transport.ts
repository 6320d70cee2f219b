/** Callbacks: calls those of the program safely, and takes over those of a transport for a time. */

import type { JsonRpcMessage } from '../message.ts';
import type { MessageInfo, Transport } from './transport.ts';

/** Runs a callback of the program. One that is async may fail later, which must not go unhandled. */
export function runCallback(fn: () => unknown, onError: (error: Error) => void): void {
  try {
    const outcome = fn();
    if (outcome instanceof Promise) outcome.catch((error: unknown) => onError(toError(error)));
  } catch (error) {
    onError(toError(error));
  }
}

/** What the holder of a transport does. None of these may throw. */
export interface TransportListener {
  readonly onMessage: (message: JsonRpcMessage, info?: MessageInfo) => void;
  onError(error: Error): void;
  onClose(): void;
  /** A callback of the program threw. That says nothing of the channel, nor of what came over it. */
  readonly onThrown: (error: Error) => void;
}

/**
 * Listens to a transport. Callbacks that the program had set are still called, before the listener; one that throws is
 * reported by `onThrown` and holds nothing up.
 *
 * @returns Gives the transport its own callbacks back, unless the program has set others since.
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

/** Calls a transport's `onerror`. An error that it throws is dropped. */
export function emitError(transport: Transport, error: Error): void {
  runCallback(
    () => transport.onerror?.(error),
    () => undefined,
  );
}

/** Calls a transport's `onclose`, and reports what it throws. */
export function emitClose(transport: Transport): void {
  runCallback(
    () => transport.onclose?.(),
    (error) => emitError(transport, error),
  );
}

/** What a wrapper passes on of a callback that threw: by its own kind, a `SyntaxError` say, it would be taken for a fault of what came over the channel. */
export function toCallbackError(error: Error): Error {
  return new Error(`A callback that the program set on the transport threw: ${error.message}`, { cause: error });
}

/** Makes an error of whatever was thrown, also of what throws when it is looked at. */
export function toError(thrown: unknown): Error {
  try {
    if (thrown instanceof Error) return thrown;
  } catch {
    // A proxy whose traps throw; it goes along as the cause.
  }
  return new Error('A value that is not an error was thrown', { cause: thrown });
}
