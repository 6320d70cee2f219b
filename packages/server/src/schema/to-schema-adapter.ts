/** Converts every accepted form of schema to a `SchemaAdapter`: the JSON Schema that clients see, and a check of values. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isThenable } from '@mortise/jsonrpc-core/connection';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkJsonSchema, mapSubschemas } from '@mortise/protocol/checks';
import type { JsonSchemaValidator, SchemaAdapter, SchemaIssue, SchemaOutcome } from '@mortise/protocol/contracts';
import { SchemaUnsupportedError } from '../errors.ts';
import { adaptJsonSchema } from './json-schema.ts';
import { createCheck, isStandardSchema, mayMiss, type SchemaCheck, type SchemaDirection, toJsonSchema } from './standard-schema.ts';

/** What error texts call the owner of a schema and the option that holds it, for each purpose. */
const PURPOSES = {
  'tool input': ['tool', 'inputSchema'],
  'tool output': ['tool', 'outputSchema'],
  'prompt arguments': ['prompt', 'argsSchema'],
  elicitation: ['elicitation of', 'requestedSchema'],
} as const;

/** What a schema is used for: a tool's input or output, a prompt's arguments, or a form. */
export type SchemaPurpose = keyof typeof PURPOSES;

/**
 * Makes an adapter from a raw shape (a plain object of schemas), a Standard Schema with a JSON Schema form, a plain JSON Schema, or an
 * existing adapter.
 *
 * The root must be an object for tool inputs, prompt arguments and forms. A tool's output may be any value.
 *
 * @param name The tool's or prompt's name, for error texts.
 * @param validator Checks values against plain JSON Schemas. @default the validator of `@mortise/protocol/json-schema`, loaded when first needed
 * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`, with the reason and the remedy.
 * @see 2026-07-28 basic/index#json-schema-usage
 */
export function toSchemaAdapter(schema: unknown, purpose: SchemaPurpose, name: string, validator?: JsonSchemaValidator): SchemaAdapter {
  try {
    const adapter = adapt(schema, purpose === 'tool output' ? 'output' : 'input', validator);
    const jsonSchema = purpose === 'tool output' ? adapter.jsonSchema : withObjectRoot(adapter.jsonSchema);
    checkJsonSchema(jsonSchema);
    return jsonSchema === adapter.jsonSchema ? adapter : { jsonSchema, validate: (value) => adapter.validate(value) };
  } catch (cause) {
    const [owner, option] = PURPOSES[purpose];
    throw new SchemaUnsupportedError(`${owner} "${name}": ${option} ${(cause as Error).message}`, { cause });
  }
}

function adapt(schema: unknown, direction: SchemaDirection, validator: JsonSchemaValidator | undefined): SchemaAdapter {
  if (isStandardSchema(schema)) return { jsonSchema: toJsonSchema(schema, direction), validate: createCheck(schema) };
  if (!isJsonObject(schema)) {
    const got = Array.isArray(schema) ? 'an array' : schema === null ? 'null' : typeof schema;
    throw new TypeError(`must be an object of schemas, a Standard Schema or a JSON Schema, got ${got}`);
  }
  if (isSchemaAdapter(schema)) return schema;
  const fields = Object.values(schema);
  if (fields.length === 0 || fields.some(isStandardSchema)) return adaptRawShape(schema, direction);
  assertJsonSchema(schema);
  return adaptJsonSchema(schema, validator);
}

/** Keywords that show that an object without `type` is a JSON Schema, and not a shape. So do those that begin with "$". */
const KEYWORDS = 'properties patternProperties required additionalProperties items prefixItems anyOf oneOf allOf not if const enum'.split(
  ' ',
);

/** @throws {TypeError} No member is a keyword of JSON Schema, as in `{ a: 'string' }`, so the schema would allow everything. */
function assertJsonSchema(schema: JsonObject): void {
  if ('type' in schema || Object.keys(schema).some((name) => name.startsWith('$') || KEYWORDS.includes(name))) return;
  const [field = 'name'] = Object.keys(schema);
  throw new TypeError(
    `is neither a shape, whose fields are schemas, nor a JSON Schema, which has "type": "object". A shape is, for example, { ${field}: z.string() }`,
  );
}

function isSchemaAdapter(schema: object): schema is SchemaAdapter {
  const { jsonSchema, validate } = schema as Partial<SchemaAdapter>;
  return typeof validate === 'function' && typeof jsonSchema === 'object';
}

// ---- the root

/**
 * Adds `type: "object"`, which the protocol requires, to a JSON Schema whose root has no `type` (alternatives, a reference). Its values are
 * always objects.
 *
 * @see 2026-07-28 server/tools#tool
 */
function withObjectRoot(schema: JsonObject): JsonObject {
  const root = inlineRoot(schema);
  const { type } = root;
  if (type === 'object') return root;
  if (type !== undefined)
    throw new TypeError(`must have "type": "object" at its root, got ${JSON.stringify(type)}: put the value into a field of an object`);
  assertJsonSchema(root);
  return { type: 'object', ...root };
}

const DEFINITION = '#/$defs/';

/**
 * Replaces a root `{ $ref: '#/$defs/User', $defs }`, as zod makes for a schema with an id, by the schema `User`, because many clients
 * expect `properties` at the root.
 */
function inlineRoot(schema: JsonObject): JsonObject {
  const { $ref, $defs, ...beside } = schema;
  const name = typeof $ref === 'string' && $ref.startsWith(DEFINITION) ? $ref.slice(DEFINITION.length) : undefined;
  const target = name !== undefined && isJsonObject($defs) ? $defs[name] : undefined;
  if (!isJsonObject(target)) return schema;
  const root = { ...beside, ...target };
  return JSON.stringify([root, $defs]).includes(`"$ref":"${DEFINITION}`) ? { ...root, $defs } : root;
}

// ---- raw shapes, `{ a: z.number(), b: z.string() }`: converted and checked field by field

interface Field {
  readonly name: string;
  readonly jsonSchema: JsonObject;
  readonly required: boolean;
  readonly check: SchemaCheck;
}

/**
 * Makes an adapter from a raw shape (a plain object of schemas). The check drops unknown fields, as z.object() does, and does not reject
 * them. The JSON Schema of an output, and of an input without fields, has `additionalProperties: false`.
 */
function adaptRawShape(shape: Readonly<Record<string, unknown>>, direction: SchemaDirection): SchemaAdapter {
  const fields = Object.entries(shape).map(([name, schema]) => toField(name, schema, direction));
  const [dialect, other] = new Set(fields.flatMap(({ jsonSchema }) => jsonSchema['$schema'] ?? []));
  if (other !== undefined) throw new TypeError(`mixes the dialects ${String(dialect)} and ${String(other)}: use one dialect in all fields`);
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const jsonSchema = {
    ...(dialect === undefined ? {} : { $schema: dialect }),
    type: 'object',
    properties: Object.fromEntries(fields.map(({ name, jsonSchema: { $schema: _, ...schema } }) => [name, moveBelow(name, schema)])),
    ...(required.length === 0 ? {} : { required }),
    ...(direction === 'output' || fields.length === 0 ? { additionalProperties: false } : {}),
  };
  return { jsonSchema, validate: (value) => checkFields(fields, value) };
}

function toField(name: string, schema: unknown, direction: SchemaDirection): Field {
  if (!isStandardSchema(schema)) throw new TypeError(`field "${name}" is not a schema: pass a Standard Schema such as z.string()`);
  try {
    return { name, jsonSchema: toJsonSchema(schema, direction), required: !mayMiss(schema, direction), check: createCheck(schema) };
  } catch (cause) {
    throw new TypeError(`field "${name}" ${(cause as Error).message}`, { cause });
  }
}

/** Adjusts the `$ref`s of a field's JSON Schema, which was converted as its own document but ends up below `properties` of the whole. */
function moveBelow(name: string, schema: JsonObject): JsonObject {
  const place = `#/properties/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
  const move = (part: JsonObject): JsonObject => {
    // References inside a schema with an `$id` are relative to that schema.
    if (part['$id'] !== undefined) return part;
    const moved = mapSubschemas(part, move);
    const { $ref } = moved;
    return typeof $ref === 'string' && /^#(?:\/|$)/.test($ref) ? { ...moved, $ref: place + $ref.slice(1) } : moved;
  };
  return move(schema);
}

/** Checks every field of a value against its schema. Returns a promise only if a field's check does. */
function checkFields(fields: readonly Field[], value: unknown): ReturnType<SchemaCheck> {
  if (!isJsonObject(value)) return { issues: [{ message: 'must be an object', path: [] }] };
  const outcomes = fields.map(({ name, check }) => check(Object.hasOwn(value, name) ? value[name] : undefined));
  return outcomes.some(isThenable)
    ? Promise.all(outcomes).then((settled) => combineOutcomes(fields, value, settled))
    : combineOutcomes(fields, value, outcomes as readonly SchemaOutcome<unknown>[]);
}

function combineOutcomes(fields: readonly Field[], given: JsonObject, outcomes: readonly SchemaOutcome<unknown>[]): SchemaOutcome<unknown> {
  const value: Record<string, unknown> = {};
  const issues: SchemaIssue[] = [];
  for (const [index, { name, required }] of fields.entries()) {
    const outcome = outcomes[index] ?? { value: undefined };
    if ('issues' in outcome) issues.push(...outcome.issues.map(({ message, path }) => ({ message, path: [name, ...path] })));
    else if (outcome.value !== undefined || Object.hasOwn(given, name)) value[name] = outcome.value;
    else if (required) issues.push({ message: 'is required', path: [name] });
  }
  return issues.length > 0 ? { issues } : { value };
}
