/** Turns whatever a program gives as a schema into the one form that the server works with. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkJsonSchema } from '@mortise/protocol/checks';
import type { JsonSchemaValidator, SchemaAdapter } from '@mortise/protocol/contracts';
import { adaptJsonSchema } from './json-schema.ts';
import { adaptRawShape, isRawShape } from './raw-shape.ts';
import { reasonOf, unsupported, type SchemaPlace, type SchemaPurpose } from './schema-purpose.ts';
import { adaptStandardSchema, isOldZod, isStandardSchema, ZOD_3_REMEDY } from './standard-schema.ts';

/** How schemas are adapted. */
export interface SchemaOptions {
  /** Checks values against plain JSON Schemas. @default that of `@mortise/protocol/json-schema`, loaded when first needed */
  readonly validator?: JsonSchemaValidator | undefined;
  /** Narrows the JSON Schema further. @default none @throws {SchemaUnsupportedError} */
  readonly narrow?: ((schema: JsonObject, place: SchemaPlace) => JsonObject) | undefined;
}

/**
 * Adapts a raw shape, a Standard Schema with a JSON Schema form, a plain JSON Schema, or an adapter made elsewhere.
 *
 * Tools' inputs, prompts' arguments and forms have an object at their root; a tool's output may be anything.
 *
 * @param purpose Decides which side of a conversion peers see, and whether the root must be an object.
 * @param name The tool's or prompt's name, for messages.
 * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`, with the reason and what to do.
 * @see 2026-07-28 basic/index#json-schema-usage
 */
export function toSchemaAdapter(schema: unknown, purpose: SchemaPurpose, name: string, options: SchemaOptions = {}): SchemaAdapter {
  const place = { purpose, name };
  const adapter = adapt(schema, place, options);
  let { jsonSchema } = adapter;
  if (purpose !== 'tool output') {
    jsonSchema = withObjectRoot(jsonSchema, place);
    if (options.narrow) jsonSchema = options.narrow(jsonSchema, place);
  }
  try {
    checkJsonSchema(jsonSchema);
  } catch (cause) {
    throw unsupported(place, `is not a valid JSON Schema: ${reasonOf(cause)}`, cause);
  }
  return jsonSchema === adapter.jsonSchema ? adapter : { jsonSchema, validate: (value) => adapter.validate(value) };
}

function adapt(schema: unknown, place: SchemaPlace, options: SchemaOptions): SchemaAdapter {
  if (isStandardSchema(schema)) return adaptStandardSchema(schema, place);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    const got = schema === null ? 'null' : Array.isArray(schema) ? 'an array' : typeof schema;
    throw unsupported(place, `must be a shape, a schema or a JSON Schema, got ${got}`);
  }
  if (isSchemaAdapter(schema)) return schema;
  if (isOldZod(schema)) throw unsupported(place, ZOD_3_REMEDY);
  return isRawShape(schema) ? adaptRawShape(schema, place) : adaptJsonSchema(schema, place, options.validator);
}

function isSchemaAdapter(schema: object): schema is SchemaAdapter {
  const { jsonSchema, validate } = schema as Partial<SchemaAdapter>;
  return typeof validate === 'function' && typeof jsonSchema === 'object' && jsonSchema !== null;
}

/** How deep a root made of references and alternatives is followed. */
const MAX_DEPTH = 16;

/**
 * Brings an object schema into the form that tools need, `type: "object"` at its root, without a change of what it says: a root that is
 * only a reference is replaced by what it refers to, and a root whose alternatives are all objects is given the `type`.
 *
 * @throws {SchemaUnsupportedError} Where the schema takes something else than objects.
 * @see 2026-07-28 server/tools#tool
 */
function withObjectRoot(schema: JsonObject, place: SchemaPlace): JsonObject {
  const root = inlineRoot(schema);
  const { type } = root;
  if (type === 'object') return root;
  if (type === undefined && takesOnlyObjects(root, root, 0)) return { type: 'object', ...root };
  if (type === undefined && !KEYWORDS.some((keyword) => keyword in root))
    throw unsupported(place, 'is neither a shape, whose fields are schemas, nor a JSON Schema, which has "type": "object"');
  const got = type === undefined ? 'no type: add it' : `${JSON.stringify(type)}: put the value into a field of an object`;
  throw unsupported(place, `must have "type": "object" at its root, got ${got}`);
}

const KEYWORDS = ['$ref', '$schema', 'properties', 'additionalProperties', 'required', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'];

/** `{ $ref: '#/$defs/User', $defs }` becomes what `User` says; the definition stays only if something still refers to it. */
function inlineRoot(schema: JsonObject): JsonObject {
  const { $ref, $defs, $schema, ...beside } = schema;
  const target = resolveLocal(schema, $ref);
  if (target === undefined || Object.keys(beside).length > 0) return schema;
  const { [String($ref).slice(DEFINITION.length)]: _, ...others } = $defs as JsonObject;
  const root = { ...($schema === undefined ? undefined : { $schema }), ...target };
  const isStillUsed = JSON.stringify([root, others]).includes(JSON.stringify($ref));
  const kept = isStillUsed ? $defs : others;
  return isJsonObject(kept) && Object.keys(kept).length > 0 ? { ...root, $defs: kept } : root;
}

const DEFINITION = '#/$defs/';

function resolveLocal({ $defs }: JsonObject, ref: JsonValue | undefined): JsonObject | undefined {
  if (typeof ref !== 'string' || !ref.startsWith(DEFINITION) || !isJsonObject($defs)) return undefined;
  const target = $defs[ref.slice(DEFINITION.length)];
  return isJsonObject(target) ? target : undefined;
}

function takesOnlyObjects(schema: JsonValue | undefined, root: JsonObject, depth: number): boolean {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return false;
  const { type, $ref, anyOf, oneOf, allOf } = schema;
  if (type !== undefined) return type === 'object';
  if ($ref !== undefined) return takesOnlyObjects(resolveLocal(root, $ref), root, depth + 1);
  const isObject = (each: JsonValue): boolean => takesOnlyObjects(each, root, depth + 1);
  const isAlternative = (list: JsonValue | undefined): boolean => Array.isArray(list) && list.length > 0 && list.every(isObject);
  return isAlternative(anyOf) || isAlternative(oneOf) || (Array.isArray(allOf) && allOf.some(isObject));
}
