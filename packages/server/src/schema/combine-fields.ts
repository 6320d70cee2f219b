/**
 * Makes one object schema of its fields' schemas. Each field was told as a document of its own, so its `$ref`s count from its
 * own root; here definitions move to the common root, under names that do not clash, and the references follow them.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { mapSubschemas } from './walk-json-schema.ts';

/** A field as its library tells it. */
export interface FieldSchema {
  readonly name: string;
  readonly schema: JsonObject;
  readonly required: boolean;
}

type Definitions = Map<string, { readonly schema: JsonObject; readonly text: string }>;

/**
 * @param options.dialect The fields' `$schema` where it is not the default; written at the root.
 * @param options.closed Whether other fields are told to be an error.
 */
export function combineFields(
  fields: readonly FieldSchema[],
  options: { readonly dialect?: string | undefined; readonly closed: boolean },
): JsonObject {
  const container = options.dialect === undefined ? '$defs' : 'definitions';
  const definitions: Definitions = new Map();
  const properties = fields.map((field) => [field.name, moveDefinitions(field, definitions, container)] as const);
  const required = fields.filter((field) => field.required).map((field) => field.name);
  return {
    ...(options.dialect === undefined ? undefined : { $schema: options.dialect }),
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? undefined : { required }),
    ...(options.closed ? { additionalProperties: false } : undefined),
    ...(definitions.size === 0
      ? undefined
      : { [container]: Object.fromEntries([...definitions].map(([name, { schema }]) => [name, schema])) }),
  };
}

/** Gives the field's schema as it stands below `properties`, and adds its definitions to the common ones. */
function moveDefinitions(field: FieldSchema, definitions: Definitions, container: string): JsonObject {
  const { $schema: _, ...schema } = field.schema;
  // Most fields refer to nothing: one search of the text spares them the walk. A reference into an embedded `$id` is its own.
  if (!JSON.stringify(schema).includes('"$ref":"#') || schema['$id'] !== undefined) return schema;
  const { $defs, definitions: older, ...root } = schema;
  const own = { ...(isJsonObject(older) ? older : undefined), ...(isJsonObject($defs) ? $defs : undefined) };
  const names = chooseNames(own, field.name, definitions);
  const rootName = uniqueName(field.name, new Set([...definitions.keys(), ...names.values()]));
  let refersToRoot = false;
  const follow = (ref: string): string => {
    const [, name, rest] = /^#\/(?:\$defs|definitions)\/([^/]+)(.*)$/s.exec(ref) ?? [];
    const target = name === undefined ? undefined : names.get(decodePointer(name));
    if (target !== undefined) return `#/${container}/${encodePointer(target)}${rest ?? ''}`;
    if (ref !== '#' && !ref.startsWith('#/')) return ref;
    refersToRoot = true;
    return `#/${container}/${encodePointer(rootName)}${ref.slice(1)}`;
  };
  for (const [name, definition] of Object.entries(own)) {
    const target = names.get(name);
    if (target === undefined || definitions.has(target) || !isJsonObject(definition)) continue;
    definitions.set(target, { schema: rewriteRefs(definition, follow), text: JSON.stringify(definition) });
  }
  const moved = rewriteRefs(root, follow);
  if (!refersToRoot) return moved;
  definitions.set(rootName, { schema: moved, text: '' });
  return { $ref: `#/${container}/${encodePointer(rootName)}` };
}

/** Equal definitions of several fields share a name, if all that clash are equal: they may refer to one another. */
function chooseNames(own: JsonObject, fieldName: string, definitions: Definitions): ReadonlyMap<string, string> {
  const clashes = Object.entries(own).filter(([name]) => definitions.has(name));
  const same = clashes.every(([name, schema]) => definitions.get(name)?.text === JSON.stringify(schema));
  const taken = new Set(definitions.keys());
  return new Map(Object.keys(own).map((name) => [name, same || !taken.has(name) ? name : claimName(`${fieldName}_${name}`, taken)]));
}

function claimName(wish: string, taken: Set<string>): string {
  const name = uniqueName(wish, taken);
  taken.add(name);
  return name;
}

function uniqueName(wish: string, taken: ReadonlySet<string>): string {
  let name = wish;
  for (let i = 2; taken.has(name); i += 1) name = `${wish}_${i}`;
  return name;
}

/** Rewrites references where they are references: not in values such as `default`, and not inside an embedded `$id`. */
function rewriteRefs(schema: JsonObject, follow: (ref: string) => string): JsonObject {
  if (schema['$id'] !== undefined) return schema;
  const copy = mapSubschemas(schema, (sub) => rewriteRefs(sub, follow));
  return typeof copy['$ref'] === 'string' ? { ...copy, $ref: follow(copy['$ref']) } : copy;
}

/** A JSON Pointer in a URI fragment. @see RFC 6901 section 6 */
function encodePointer(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('%24', '$');
}

function decodePointer(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return token;
  }
}
