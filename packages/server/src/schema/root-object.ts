/** Brings an object schema into the form that tools need: `type: "object"` at its root. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { unsupported, type SchemaPlace } from './schema-purpose.ts';

/** How deep a root made of references and alternatives is followed. */
const MAX_DEPTH = 16;

/**
 * A root that is only a reference is replaced by what it refers to, and a root whose alternatives are all objects is given
 * the `type` that follows from them, which changes nothing that it says.
 *
 * @throws {SchemaUnsupportedError} Where the schema takes something else than objects.
 * @see 2026-07-28 server/tools#tool
 */
export function withObjectRoot(schema: JsonObject, place: SchemaPlace): JsonObject {
  const root = inlineRoot(schema);
  if (root['type'] === 'object') return root;
  if (root['type'] !== undefined || !takesOnlyObjects(root, root, 0)) {
    throw unsupported(
      place,
      root['type'] === undefined && !mayBeJsonSchema(root)
        ? 'is neither a shape, whose fields are schemas, nor a JSON Schema, which has "type": "object"'
        : `must have "type": "object" at its root, got ${root['type'] === undefined ? 'no type: add it' : `${JSON.stringify(root['type'])}: put the value into a field of an object`}`,
    );
  }
  return { type: 'object', ...root };
}

const KEYWORDS = ['$ref', '$schema', 'properties', 'additionalProperties', 'required', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'];

function mayBeJsonSchema(schema: JsonObject): boolean {
  return KEYWORDS.some((keyword) => keyword in schema);
}

/** `{ $ref: '#/$defs/User', $defs }` becomes what `User` says; the definition stays only if something still refers to it. */
function inlineRoot(schema: JsonObject): JsonObject {
  const target = resolveLocal(schema, schema['$ref']);
  const { $ref, $defs, ...beside } = schema;
  if (target === undefined || typeof $ref !== 'string' || !isJsonObject($defs) || Object.keys(beside).some((key) => key !== '$schema'))
    return schema;
  const name = $ref.slice('#/$defs/'.length);
  const { [name]: inlined, ...others } = $defs;
  const rest = { ...beside, ...target };
  const isStillUsed = JSON.stringify([rest, others]).includes(JSON.stringify($ref));
  const kept = isStillUsed && inlined !== undefined ? $defs : others;
  return Object.keys(kept).length === 0 ? rest : { ...rest, $defs: kept };
}

function resolveLocal(root: JsonObject, ref: JsonValue | undefined): JsonObject | undefined {
  if (typeof ref !== 'string' || !ref.startsWith('#/$defs/')) return undefined;
  const target = isJsonObject(root['$defs']) ? root['$defs'][ref.slice('#/$defs/'.length)] : undefined;
  return isJsonObject(target) ? target : undefined;
}

function takesOnlyObjects(schema: JsonValue | undefined, root: JsonObject, depth: number): boolean {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return false;
  if (schema['type'] !== undefined) return schema['type'] === 'object';
  if (schema['$ref'] !== undefined) return takesOnlyObjects(resolveLocal(root, schema['$ref']), root, depth + 1);
  const { anyOf, oneOf, allOf } = schema;
  const every = (list: JsonValue | undefined): boolean =>
    Array.isArray(list) && list.length > 0 && list.every((each: JsonValue) => takesOnlyObjects(each, root, depth + 1));
  return every(anyOf) || every(oneOf) || (Array.isArray(allOf) && allOf.some((each: JsonValue) => takesOnlyObjects(each, root, depth + 1)));
}
