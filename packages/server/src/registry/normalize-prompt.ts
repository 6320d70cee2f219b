/** What a prompt's handler gave back, in whichever of the short forms, as the result that the protocol wants. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { GetPromptResult } from '@mortise/protocol';
import { isContentBlock } from '@mortise/protocol/checks';
import { InvalidHandlerResultError } from '../errors.ts';

/**
 * Text becomes one message of the user; a message or several become `messages`.
 *
 * @param description Stands in the result where the handler gives none.
 * @throws {InvalidHandlerResultError} `ERR_HANDLER_RESULT`: not a result.
 * @see 2026-07-28 server/prompts#getting-a-prompt
 */
export function normalizePromptResult(value: unknown, name: string, description: string | undefined): GetPromptResult {
  const result = toResult(value, name);
  if (typeof result['resultType'] === 'string' && result['resultType'] !== 'complete') return result as unknown as GetPromptResult;
  const { messages } = result;
  if (!Array.isArray(messages)) throw fault(name, '"messages" must be an array');
  messages.forEach((message: JsonValue) => checkMessage(message, name));
  return { ...(description === undefined ? {} : { description }), ...result } as unknown as GetPromptResult;
}

function toResult(value: unknown, name: string): JsonObject {
  if (typeof value === 'string') return { messages: [{ role: 'user', content: { type: 'text', text: value } }] };
  if (Array.isArray(value)) return { messages: value };
  if (!isJsonObject(value)) throw fault(name, `the handler gave ${value === null ? 'null' : typeof value}`);
  return value['messages'] === undefined && value['role'] !== undefined ? { messages: [value] } : value;
}

function checkMessage(message: JsonValue, name: string): void {
  const { role, content } = isJsonObject(message) ? message : {};
  if (role !== 'user' && role !== 'assistant') throw fault(name, 'each message must have the role "user" or "assistant"');
  if (!isContentBlock(content))
    throw fault(name, 'each message must have one block as its "content", of type text, image, audio, resource or resource_link');
}

function fault(name: string, reason: string): InvalidHandlerResultError {
  return new InvalidHandlerResultError(`prompt "${name}": ${reason}: return text, a message, messages or { messages }`);
}
