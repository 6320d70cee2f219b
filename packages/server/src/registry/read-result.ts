/** What a resource's reader gave back, in whichever of the short forms, as the result that the protocol wants. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
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
export function toReadResult(value: unknown, subject: ReadSubject): ReadResourceResult | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return { contents: [complete({ text: value }, subject)] };
  if (value instanceof Uint8Array) return { contents: [complete({ blob: value }, subject)] };
  if (Array.isArray(value)) return { contents: value.map((item: unknown) => toContent(item, subject)) };
  if (!isJsonObject(value)) throw fault(subject, `the reader gave ${value === null ? 'null' : typeof value}`);
  if (typeof value['resultType'] === 'string' && value['resultType'] !== 'complete') return value as ReadResourceResult;
  const { contents } = value;
  if (contents === undefined) return { contents: [toContent(value, subject)] };
  if (!Array.isArray(contents)) throw fault(subject, '"contents" must be an array');
  return { ...value, contents: contents.map((item: unknown) => toContent(item, subject)) };
}

interface RawContent {
  readonly uri?: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string | Uint8Array;
}

function toContent(item: unknown, subject: ReadSubject): ReadResourceResult['contents'][number] {
  if (typeof item === 'string') return complete({ text: item }, subject);
  if (item instanceof Uint8Array) return complete({ blob: item }, subject);
  if (!isJsonObject(item)) throw fault(subject, 'each of "contents" must be an object with "text" or "blob"');
  const content = item as RawContent;
  const hasText = typeof content.text === 'string';
  const hasBlob = typeof content.blob === 'string' || (content.blob as unknown) instanceof Uint8Array;
  if (hasText === hasBlob) throw fault(subject, 'each of "contents" must have either "text" as a string or "blob" as base64 or bytes');
  return complete(content, subject);
}

function complete(content: RawContent, { uri, mimeType }: ReadSubject): ReadResourceResult['contents'][number] {
  const completed: Record<string, JsonValue | undefined> = { ...(content as JsonObject), uri: content.uri ?? uri };
  const type = content.mimeType ?? mimeType;
  if (type !== undefined) completed['mimeType'] = type;
  if (content.blob instanceof Uint8Array) completed['blob'] = toBase64(content.blob);
  return completed as ReadResourceResult['contents'][number];
}

function fault({ uri }: ReadSubject, reason: string): InvalidHandlerResultError {
  return new InvalidHandlerResultError(`resource "${uri}": ${reason}: return text, bytes, { text }, { blob } or { contents: [...] }`);
}
