/** Raw shapes, `{ a: z.number(), b: z.string() }`: converted and checked field by field, without the library that made the fields. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { decodePointer, mapSubschemas } from '@mortise/protocol/checks';
import type { SchemaAdapter, SchemaIssue, SchemaOutcome } from '@mortise/protocol/contracts';
import { isThenable } from '../thenable.ts';
import { directionOf, unsupported, type SchemaPlace } from './schema-purpose.ts';
import {
  createCheck,
  isOldZod,
  isStandardSchema,
  mayMiss,
  type SchemaCheck,
  toJsonSchema,
  withoutDefaultDialect,
  ZOD_3_REMEDY,
} from './standard-schema.ts';

interface Field {
  readonly name: string;
  readonly schema: JsonObject;
  readonly required: boolean;
  readonly check: SchemaCheck;
}

/** Whether a value has fields of a schema library: at least one, or none at all of anything. */
export function isRawShape(value: object): value is Readonly<Record<string, unknown>> {
  const members = Object.values(value);
  return members.length === 0 || members.some((member) => isStandardSchema(member) || isOldZod(member));
}

/**
 * Unknown fields of a value are left out of what the check gives, as zod's objects do; a caller that sends more is never refused. The
 * JSON Schema of a tool's output says that there are no others, and that of an input without any field.
 *
 * @throws {SchemaUnsupportedError} Where a field cannot be converted to JSON Schema.
 */
export function adaptRawShape(shape: Readonly<Record<string, unknown>>, place: SchemaPlace): SchemaAdapter {
  const fields = Object.entries(shape).map(([name, schema]) => toField(name, schema, place));
  const isClosed = place.purpose === 'tool output' || fields.length === 0;
  return { jsonSchema: combineFields(fields, isClosed, place), validate: (value) => checkFields(fields, value) };
}

function toField(name: string, schema: unknown, place: SchemaPlace): Field {
  if (name === '__proto__')
    throw unsupported(place, 'has a field named "__proto__", which JavaScript objects treat as no field: choose another name');
  if (!isStandardSchema(schema)) {
    const remedy = isOldZod(schema)
      ? ZOD_3_REMEDY
      : 'is not a schema: each field of a shape is a schema of one library, a JSON Schema has none of them';
    throw unsupported(place, `field "${name}" ${remedy}`);
  }
  const required = !mayMiss(schema, directionOf(place.purpose));
  return { name, schema: withoutDefaultDialect(toJsonSchema(schema, place, name)), required, check: createCheck(schema) };
}

/** Gives a promise only where a field's check gives one. */
function checkFields(fields: readonly Field[], value: unknown): SchemaOutcome<unknown> | Promise<SchemaOutcome<unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { issues: [{ message: 'must be an object', path: [] }] };
  const given = value as Readonly<Record<string, unknown>>;
  const outcomes = fields.map(({ name, check }) => attempt(check, Object.hasOwn(given, name) ? given[name] : undefined));
  return outcomes.some(isThenable)
    ? Promise.all(outcomes).then((settled) => combineOutcomes(fields, given, settled))
    : combineOutcomes(fields, given, outcomes as readonly SchemaOutcome<unknown>[]);
}

/** A check that throws must not leave those that are under way, whose rejections nobody would handle. */
function attempt(check: SchemaCheck, value: unknown): ReturnType<SchemaCheck> {
  try {
    return check(value);
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

function combineOutcomes(
  fields: readonly Field[],
  given: Readonly<Record<string, unknown>>,
  outcomes: readonly SchemaOutcome<unknown>[],
): SchemaOutcome<unknown> {
  const value: Record<string, unknown> = {};
  const issues: SchemaIssue[] = [];
  for (const [index, { name, required }] of fields.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) continue;
    if ('issues' in outcome) issues.push(...outcome.issues.map(({ message, path }) => ({ message, path: [name, ...path] })));
    else if (outcome.value !== undefined || Object.hasOwn(given, name)) value[name] = outcome.value;
    else if (required) issues.push({ message: 'is required', path: [name] });
  }
  return issues.length > 0 ? { issues } : { value };
}

/**
 * Makes one object schema of the fields' schemas. Each was converted as a document of its own, so that its `$ref`s count from its own
 * root: its definitions move to the common root, and the references follow them.
 */
function combineFields(fields: readonly Field[], isClosed: boolean, place: SchemaPlace): JsonObject {
  const dialects = [...new Set(fields.map(({ schema }) => schema['$schema']))].filter((dialect) => dialect !== undefined);
  if (dialects.length > 1) throw unsupported(place, `mixes the dialects ${dialects.join(', ')}: one schema has one dialect`);
  const [dialect] = dialects;
  const container = dialect === undefined ? '$defs' : 'definitions';
  const definitions: Record<string, JsonObject> = {};
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, moveDefinitions(name, schema, definitions, container)]));
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    ...(dialect === undefined ? undefined : { $schema: dialect }),
    type: 'object',
    properties,
    ...(required.length === 0 ? undefined : { required }),
    ...(isClosed ? { additionalProperties: false } : undefined),
    ...(Object.keys(definitions).length === 0 ? undefined : { [container]: definitions }),
  };
}

/**
 * Gives a field's schema as it stands below `properties`, and adds its definitions to the common ones. They keep their names unless
 * another field's are there already and say something else; equal ones are shared.
 */
function moveDefinitions(field: string, schema: JsonObject, common: Record<string, JsonObject>, container: string): JsonObject {
  const { $schema: _, ...bare } = schema;
  // A reference into a schema with an `$id` counts from there.
  if (!JSON.stringify(bare).includes('"$ref":"#') || bare['$id'] !== undefined) return bare;
  const { $defs, definitions, ...root } = bare;
  const own = Object.entries({ ...(definitions as JsonObject), ...($defs as JsonObject) }) as [string, JsonObject][];
  const move = (prefix: string): JsonObject => {
    const refTo = (name: string): string => `#/${container}/${encodePointer(name)}`;
    let refersToRoot = false;
    const follow = (ref: string): string => {
      const [, token, rest] = /^#\/(?:\$defs|definitions)\/([^/]+)(.*)$/s.exec(ref) ?? [];
      const name = token === undefined ? undefined : decodePointer(token);
      if (own.some(([each]) => each === name)) return `${refTo(`${prefix}${name}`)}${rest ?? ''}`;
      if (ref !== '#' && !ref.startsWith('#/')) return ref;
      refersToRoot = true;
      return `${refTo(`${prefix}${field}`)}${ref.slice(1)}`;
    };
    const moved = own.map(([name, definition]) => [`${prefix}${name}`, rewriteRefs(definition, follow)] as const);
    const movedRoot = rewriteRefs(root, follow);
    const all = Object.fromEntries(refersToRoot ? [...moved, [`${prefix}${field}`, movedRoot] as const] : moved);
    const clashes = Object.entries(all).some(
      ([name, each]) => common[name] !== undefined && JSON.stringify(common[name]) !== JSON.stringify(each),
    );
    if (clashes) return move(`${prefix}${field}_`);
    Object.assign(common, all);
    return refersToRoot ? { $ref: refTo(`${prefix}${field}`) } : movedRoot;
  };
  return move('');
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
