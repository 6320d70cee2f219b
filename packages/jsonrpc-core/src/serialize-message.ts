/** Writes a message as one line of JSON. */

import { UsageError } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonRpcMessage, type JsonRpcResultResponse } from './message.ts';

/** The key under which `withSerialized` stores the text. A registered symbol, so that another installed copy of this package finds it. */
const SERIALIZED: unique symbol = Symbol.for('mortise.serialized');

interface Marked {
  readonly [SERIALIZED]?: string;
}

/**
 * Attaches JSON text to a result, so that `serializeMessage` writes this text and does not serialize the object again.
 *
 * Use it for results that are sent often and change seldom, such as a long list. `JSON.stringify`, loops and spread do not see the text, so a copy by
 * spread is an ordinary object. If you change the object afterwards, the old text is still sent.
 *
 * @param text Exactly `JSON.stringify(result)`. It is not checked.
 * @returns The same object, or a copy if it is frozen.
 */
export function withSerialized<R extends JsonObject>(result: R, text: string): R {
  const target = Object.isExtensible(result) ? result : { ...result };
  return Object.defineProperty(target, SERIALIZED, { value: text, enumerable: false, configurable: true, writable: true });
}

/**
 * Writes a message as one line of JSON, without a trailing newline. An array of messages is written as a batch.
 *
 * @throws {UsageError} `ERR_SERIALIZE`: JSON cannot represent the message.
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
  // A result with its own toJSON, such as a Date, is an object here but may serialize to something else.
  if (!isJsonObject(result) || (typeof result['toJSON'] === 'function' && JSON.stringify(result)?.[0] !== '{')) {
    throw new UsageError('ERR_SERIALIZE', 'The result cannot be written as a JSON object');
  }
  return text;
}
