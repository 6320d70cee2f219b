/** Reads the body of an operation: the media type that is sent, and the schema of the argument `body`. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { type ApiDocument, DocumentFault, type OpenApiProblem, pointTo } from './document.ts';
import type { SchemaReader } from './schema-reader.ts';

/** How the argument `body` is sent. */
export interface ApiBody {
  readonly mediaType: string;
  readonly kind: 'json' | 'form' | 'multipart' | 'text';
  /** The fields of a multipart body that are files, given in base64. */
  readonly files: readonly string[];
}

/** A body as it was read. */
export interface FoundBody {
  readonly body: ApiBody;
  readonly schema: JsonValue;
  readonly isRequired: boolean;
}

/** The kinds that can be sent; the first that an operation offers is taken. */
const KINDS: readonly (readonly [kind: ApiBody['kind'], mediaType: RegExp])[] = [
  ['json', /^application\/json(?:;|$)/iu],
  ['json', /^(?:[^;/]+\/[^;]+\+json)(?:;|$)/iu],
  ['form', /^application\/x-www-form-urlencoded(?:;|$)/iu],
  ['multipart', /^multipart\/form-data(?:;|$)/iu],
  ['text', /^text\/[^;*]+(?:;|$)/iu],
];

/** Reads a body. Returns a problem if it cannot be sent, and need not be. @throws {DocumentFault} It is required, and cannot be sent. */
export function readBody(document: ApiDocument, schemas: SchemaReader, given: unknown, at: string): FoundBody | OpenApiProblem {
  const { value, pointer } = document.resolve(given, at);
  const isRequired = value['required'] === true;
  const content = isJsonObject(value['content']) ? value['content'] : {};
  const [kind, mediaType] = KINDS.flatMap(([each, pattern]) =>
    Object.keys(content)
      .filter((type) => pattern.test(type))
      .map((type) => [each, type] as const),
  )[0] ?? [undefined, ''];
  const place = pointTo(pointer, 'content');
  if (kind === undefined) {
    const message = `a body of ${Object.keys(content).join(', ') || 'no media type'} is not supported`;
    if (isRequired) throw new DocumentFault(place, message);
    return { pointer: place, message: `${message}: the tool sends no body` };
  }
  const media = document.resolve(content[mediaType], pointTo(place, mediaType));
  const schema = media.value['schema'] === undefined ? {} : schemas.read(media.value['schema'], pointTo(media.pointer, 'schema'));
  const { description } = value;
  return {
    body: { mediaType, kind, files: kind === 'multipart' ? filesOf(document, media.value, media.pointer) : [] },
    schema: typeof description === 'string' && isJsonObject(schema) && !('description' in schema) ? { ...schema, description } : schema,
    isRequired,
  };
}

/** The names of properties that hold bytes. */
function filesOf(document: ApiDocument, media: JsonObject, pointer: string): readonly string[] {
  if (media['schema'] === undefined) return [];
  const { value, pointer: at } = document.resolve(media['schema'], pointTo(pointer, 'schema'));
  const properties = isJsonObject(value['properties']) ? value['properties'] : {};
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isJsonObject(property)) return [];
    const own = document.resolve(property, pointTo(at, 'properties', name));
    const { value: schema } = isJsonObject(own.value['items']) ? document.resolve(own.value['items'], pointTo(own.pointer, 'items')) : own;
    return schema['format'] === 'binary' || schema['contentEncoding'] === 'base64' || schema['contentMediaType'] !== undefined
      ? [name]
      : [];
  });
}
