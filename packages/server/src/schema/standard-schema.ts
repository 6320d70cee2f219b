/**
 * Standard Schema and Standard JSON Schema, which zod, valibot, arktype and others implement, as far as a server needs them. Schemas are
 * recognized by structure: no library is imported.
 *
 * @see https://standardschema.dev/schema https://standardschema.dev/json-schema
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isThenable } from '@mortise/jsonrpc-core/connection';
import type { SchemaAdapter, SchemaOutcome } from '@mortise/protocol/contracts';
import { phraseIssue } from './describe-issues.ts';

/** One problem that a schema library found in a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The outcome of a Standard Schema validation: the output value, or the issues. */
export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

/** Converts a schema to JSON Schema, for its input or its output. Throws if that is impossible. */
export interface StandardJsonSchemaConverter {
  readonly input: (options: { readonly target: string }) => Record<string, unknown>;
  readonly output: (options: { readonly target: string }) => Record<string, unknown>;
}

/** Which side of a schema is converted to JSON Schema: its input (before validation) or its output (after validation). */
export type SchemaDirection = keyof StandardJsonSchemaConverter;

/** The members of the `~standard` property of a Standard Schema. */
export interface StandardProps<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  /** Converts the schema to JSON Schema. Absent in libraries that cannot do this: such a schema is an error at registration. */
  readonly jsonSchema?: StandardJsonSchemaConverter | undefined;
}

/** A schema of any library that implements Standard Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardProps<Input, Output>;
}

/** Tells whether a value is a Standard Schema: an object or function with `~standard` of version 1. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const props = (value as Partial<StandardSchema>)['~standard'] as Partial<StandardProps> | undefined;
  return props?.version === 1 && typeof props.validate === 'function';
}

/** The JSON Schema dialect of every schema without `$schema`. It is left out of converted schemas to save bytes. */
const DEFAULT_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Converts a schema to JSON Schema 2020-12. @throws {TypeError} The schema library cannot convert it; the message has its reason. */
export function toJsonSchema(schema: StandardSchema, direction: SchemaDirection): JsonObject {
  const converter = schema['~standard'].jsonSchema;
  if (!converter) throw new TypeError(`cannot be converted to JSON Schema: ${remedyFor(schema)}`);
  try {
    const { $schema, ...rest } = converter[direction]({ target: 'draft-2020-12' }) as JsonObject;
    return $schema === undefined || $schema === DEFAULT_DIALECT ? rest : { $schema, ...rest };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(
      `cannot be converted to JSON Schema: ${reason}. Use a JSON type (for a date, an ISO string) and convert it in the handler`,
      { cause },
    );
  }
}

function remedyFor(schema: StandardSchema): string {
  const { vendor } = schema['~standard'];
  if (vendor !== 'zod')
    return `it has no "~standard.jsonSchema" (library: ${vendor}). Use the library's adapter for Standard JSON Schema, or write the JSON Schema by hand`;
  if ('_zod' in schema)
    return 'this schema is from zod before 4.2, or from zod/mini. Wrap it with fromZod(z) of @mortise/server/zod, or use zod 4.2 or later';
  return 'this is a zod 3 schema. Wrap its object with fromZodV3(convert) of @mortise/server/zod, or import from zod 4';
}

/** Checks a value against a schema. Returns a promise only if the schema's own check does. */
export type SchemaCheck = SchemaAdapter['validate'];

/** The members of a zod 4 schema, besides `~standard`, that are read here. */
interface ZodSchema {
  readonly _zod: { readonly def: Readonly<Record<string, unknown>>; readonly optin?: string; readonly optout?: string };
  safeParseAsync(value: unknown): Promise<{ readonly data?: unknown; readonly error?: { readonly issues: readonly StandardIssue[] } }>;
}

function isZod(schema: unknown): schema is ZodSchema {
  return typeof schema === 'object' && schema !== null && '_zod' in schema;
}

/**
 * Makes the function that checks values against a schema. A zod schema with functions of the program is checked by zod's async method,
 * because its `~standard.validate` first tries synchronously, where an async refinement that rejects is an unhandled rejection.
 */
export function createCheck(schema: StandardSchema): SchemaCheck {
  if (isZod(schema) && runsOwnCode(schema, new Set()))
    return async (value) => {
      const { data, error } = await schema.safeParseAsync(value);
      return toOutcome(error ? { issues: error.issues } : { value: data });
    };
  return (value) => {
    const result = schema['~standard'].validate(value);
    return isThenable(result) ? Promise.resolve(result).then(toOutcome) : toOutcome(result);
  };
}

/** Kinds of zod schemas that run a function of the program, or create their inner schema by one. */
const OWN_CODE: ReadonlySet<unknown> = new Set(['custom', 'transform', 'lazy', 'promise', 'function']);
/** Members of a zod definition that hold no schemas and are not searched. Some are getters that run a function. */
const NO_SCHEMAS: ReadonlySet<string> = new Set(['defaultValue', 'catchValue', 'error', 'pattern', 'values', 'entries']);

/** Tells whether a zod 4 schema, or a list or object of them, contains refinements, transforms or other functions. */
function runsOwnCode(schema: unknown, seen: Set<unknown>): boolean {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
  seen.add(schema);
  if (!isZod(schema)) return Object.values(schema).some((part) => isZod(part) && runsOwnCode(part, seen));
  const { def } = schema._zod;
  if (OWN_CODE.has(def['type']) || def['check'] === 'custom' || typeof def['transform'] === 'function') return true;
  return Object.keys(def).some((key) => !NO_SCHEMAS.has(key) && runsOwnCode(def[key], seen));
}

function toOutcome(result: StandardResult<unknown>): SchemaOutcome<unknown> {
  const { issues } = result;
  if (issues === undefined) return result;
  return { issues: issues.length > 0 ? Array.from(issues, phraseIssue) : [{ message: 'does not fit its schema', path: [] }] };
}

/**
 * Tells whether an object field may be left out. zod 4 marks such fields; in other libraries the field is tested with `undefined`. A field whose
 * check returns a promise counts as required.
 */
export function mayMiss(schema: StandardSchema, direction: SchemaDirection): boolean {
  if (isZod(schema)) return (direction === 'input' ? schema._zod.optin : schema._zod.optout) !== undefined;
  try {
    const result = schema['~standard'].validate(undefined);
    if (isThenable(result)) {
      result.then(undefined, () => undefined);
      return false;
    }
    return result.issues === undefined && (direction === 'input' || result.value === undefined);
  } catch {
    return false;
  }
}

/** Copies a schema and adds `convert`, which converts it to JSON Schema. The original schema is not changed. */
export function withConverter<S extends object>(
  schema: S,
  props: StandardProps,
  convert: (schema: S, direction: SchemaDirection) => object,
): S {
  const to = (direction: SchemaDirection) => () => convert(schema, direction) as Record<string, unknown>;
  const value: StandardProps = { ...props, jsonSchema: { input: to('input'), output: to('output') } };
  return Object.create(schema, { '~standard': { value, enumerable: true } }) as S;
}
