/** From a message to one line of JSON. */

import { UsageError } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonRpcMessage, type JsonRpcResultResponse } from './message.ts';

/** Where `withSerialized` leaves the text. Registered, so that another installed copy of this package finds it. */
const SERIALIZED: unique symbol = Symbol.for('mortise.serialized');

interface Marked {
  readonly [SERIALIZED]?: string;
}

/**
 * Marks a result with its JSON text, so that `serializeMessage` writes the text and does not walk the object again.
 *
 * For results that are sent often and change seldom, such as a long list. The mark is invisible to `JSON.stringify`, to loops
 * and to spread (a copy by spread is an ordinary, unmarked object). Whoever changes a marked object afterwards sends the old text.
 *
 * @param text Exactly `JSON.stringify(result)`; nothing checks it.
 * @returns The same object, or a copy if it is frozen.
 */
export function withSerialized<R extends JsonObject>(result: R, text: string): R {
  const target = Object.isExtensible(result) ? result : { ...result };
  return Object.defineProperty(target, SERIALIZED, { value: text, enumerable: false, configurable: true, writable: true });
}

/**
 * Writes a message as one line of JSON, without a newline at its end. An array of messages is written as a batch.
 *
 * @throws {UsageError} `ERR_SERIALIZE`: the message holds what JSON cannot carry.
 */
export function serializeMessage(message: JsonRpcMessage | readonly JsonRpcMessage[]): string {
  try {
    if (Array.isArray(message)) return `[${(message as readonly JsonRpcMessage[]).map(serializeOne).join(',')}]`;
    return serializeOne(message as JsonRpcMessage);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError('ERR_SERIALIZE', 'The message cannot be written as JSON: it holds a cycle, a BigInt or a throwing member', {
      cause: error,
    });
  }
}

function serializeOne(message: JsonRpcMessage): string {
  if (Object.hasOwn(message, 'result') && !Object.hasOwn(message, 'method')) return serializeResult(message as JsonRpcResultResponse);
  const text: string | undefined = JSON.stringify(message);
  if (text === undefined) throw new UsageError('ERR_SERIALIZE', 'The message cannot be written as JSON: it is not an object');
  return text;
}

function serializeResult(message: JsonRpcResultResponse): string {
  const { id, result } = message;
  const marked = isJsonObject(result) ? (result as Marked)[SERIALIZED] : undefined;
  if (marked !== undefined) return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${marked}}`;
  const text: string | undefined = JSON.stringify(message);
  // A result with a toJSON of its own, such as a Date, is an object here and something else on the wire.
  if (!isJsonObject(result) || (typeof result['toJSON'] === 'function' && JSON.stringify(result)?.[0] !== '{')) {
    throw new UsageError('ERR_SERIALIZE', 'The result cannot be written as a JSON object');
  }
  return text;
}
