/** What a resource's reader gave back, in whichever of the short forms, as the result that the protocol wants. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { toBase64 } from '@mortise/jsonrpc-core/encoding';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ReadResourceResult } from '@mortise/protocol';
import { InvalidHandlerResultError } from '../errors.ts';

/** The resource that was read. */
export interface ReadSubject {
  readonly uri: string;
  readonly mimeType: string | undefined;
}

/**
 * Text, bytes, one item or several become `contents`; an item without a URI has the one that was asked for, one without a type
 * the registered one.
 *
 * @returns Undefined where the reader says that there is no such resource.
 * @throws {InvalidHandlerResultError} `ERR_HANDLER_RESULT`: not a result.
 * @see 2026-07-28 server/resources#resource-contents
 */
export function toReadResult(value: unknown, subject: ReadSubject): JsonObject | undefined {
  if (value === undefined) return undefined;
  const { contents = [value].flat(), resultType, ...rest } = (isWhole(value) ? value : {}) as Partial<ReadResourceResult>;
  if (typeof resultType === 'string' && resultType !== 'complete') return value as JsonObject;
  if (!Array.isArray(contents)) throw fault(subject, '"contents" must be an array');
  return { ...rest, contents: contents.map((item: unknown) => toContent(item, subject)) };
}

function isWhole(value: unknown): boolean {
  return isJsonObject(value) && ('contents' in value || 'resultType' in value);
}

function toContent(item: unknown, subject: ReadSubject): JsonObject {
  const given = typeof item === 'string' ? { text: item } : item instanceof Uint8Array ? { blob: item } : item;
  const { uri = subject.uri, mimeType = subject.mimeType, text, blob, ...rest } = (given ?? {}) as RawContent;
  const data = blob instanceof Uint8Array ? toBase64(blob) : blob;
  if ((typeof text === 'string') === (typeof data === 'string'))
    throw fault(subject, 'each of "contents" must have either "text" as a string or "blob" as base64 or bytes');
  return { uri, ...(mimeType === undefined ? {} : { mimeType }), ...(text === undefined ? { blob: data } : { text }), ...rest };
}

interface RawContent {
  readonly uri?: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string | Uint8Array;
}

function fault({ uri }: ReadSubject, reason: string): InvalidHandlerResultError {
  return new InvalidHandlerResultError(`resource "${uri}": ${reason}: return text, bytes, { text }, { blob } or { contents: [...] }`);
}
