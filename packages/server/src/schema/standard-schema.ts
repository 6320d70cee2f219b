/**
 * The two open interfaces that schema libraries share (zod, valibot, arktype and others), as far as a server needs them. Known by
 * structure: no library is imported.
 *
 * @see https://standardschema.dev/schema https://standardschema.dev/json-schema
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { SchemaAdapter, SchemaOutcome } from '@mortise/protocol/contracts';
import { isThenable } from '../thenable.ts';
import { phraseIssue } from './describe-issues.ts';
import { directionOf, reasonOf, unsupported, type SchemaDirection, type SchemaPlace } from './schema-purpose.ts';

/** One thing that a library found wrong with a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a library's check gives: the value it made, or what is wrong. */
export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

/** Converts a schema to JSON Schema. Throws where there is no JSON Schema for it. */
export interface StandardJsonSchemaConverter {
  readonly input: (options: { readonly target: string }) => Record<string, unknown>;
  readonly output: (options: { readonly target: string }) => Record<string, unknown>;
}

/** What sits under `~standard`. */
export interface StandardProps<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  /** Absent in libraries that cannot convert their schemas; such a schema is an error at registration. */
  readonly jsonSchema?: StandardJsonSchemaConverter | undefined;
}

/** A schema of any library that follows Standard Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardProps<Input, Output>;
}

/** Whether a value is a Standard Schema: an object or function with `~standard` of version 1. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const props = (value as { readonly '~standard'?: Partial<StandardProps> })['~standard'];
  return typeof props === 'object' && props !== null && props.version === 1 && typeof props.validate === 'function';
}

/** Whether a value is a schema of a zod 3 that does not know Standard Schema yet. */
export function isOldZod(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '_def' in value && 'safeParse' in value;
}

/** What to do with a zod 3 schema. */
export const ZOD_3_REMEDY = 'is a zod 3 schema. Wrap it with fromZodV3(convert) of @mortise/server/zod-v3, or import from zod 4';

/** @throws {SchemaUnsupportedError} Where the library has no JSON Schema for it, with the library's reason. */
export function adaptStandardSchema(schema: StandardSchema, place: SchemaPlace): SchemaAdapter {
  return { jsonSchema: withoutDefaultDialect(toJsonSchema(schema, place)), validate: createCheck(schema) };
}

/** The dialect of every schema without `$schema`: naming it in each would only cost bytes. */
const DEFAULT_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export function withoutDefaultDialect(schema: JsonObject): JsonObject {
  if (schema['$schema'] !== DEFAULT_DIALECT) return schema;
  const { $schema: _, ...rest } = schema;
  return rest;
}

/**
 * Converts a schema to JSON Schema 2020-12.
 *
 * @param field Names a field of a raw shape in the error.
 */
export function toJsonSchema(schema: StandardSchema, place: SchemaPlace, field?: string): JsonObject {
  const subject = field === undefined ? '' : `field "${field}" `;
  const converter = schema['~standard'].jsonSchema;
  if (converter === undefined) throw unsupported(place, `${subject}cannot be converted to JSON Schema: ${remedyFor(schema)}`);
  try {
    return converter[directionOf(place.purpose)]({ target: 'draft-2020-12' }) as JsonObject;
  } catch (cause) {
    const reason = `${subject}cannot be converted to JSON Schema: ${reasonOf(cause)}`;
    throw unsupported(place, `${reason}. Use a type that JSON has (an ISO string for a date, say) and convert in the handler`, cause);
  }
}

function remedyFor(schema: StandardSchema): string {
  const { vendor } = schema['~standard'];
  if (vendor !== 'zod')
    return `${vendor} gives it no "~standard.jsonSchema". Use the library's adapter for Standard JSON Schema, or write the JSON Schema by hand`;
  if ('_zod' in schema)
    return 'this zod is older than 4.2, or zod/mini. Wrap it with fromZod(z) of @mortise/server/zod, or use zod 4.2 or later';
  return `this ${ZOD_3_REMEDY}`;
}

/** Checks a value against one schema; gives a promise only where the schema's own check does. */
export type SchemaCheck = SchemaAdapter['validate'];

/** What zod 4's schemas have beside `~standard`. */
interface ZodSchema {
  readonly _zod: { readonly def: Readonly<Record<string, unknown>>; readonly optin?: string; readonly optout?: string };
  safeParseAsync(
    value: unknown,
  ): Promise<
    | { readonly success: true; readonly data: unknown }
    | { readonly success: false; readonly error: { readonly issues: readonly StandardIssue[] } }
  >;
}

function isZod(schema: object): schema is ZodSchema {
  return '_zod' in schema;
}

/**
 * `~standard.validate` of zod tries without waiting first. What an async refinement rejects with in that try would be an unhandled
 * rejection; so a schema that runs functions of the program's is checked by zod's async method at once.
 */
export function createCheck(schema: StandardSchema): SchemaCheck {
  if (isZod(schema) && typeof schema.safeParseAsync === 'function' && runsOwnCode(schema, new Set()))
    return async (value) => {
      const parsed = await schema.safeParseAsync(value);
      return toOutcome(parsed.success ? { value: parsed.data } : { issues: parsed.error.issues });
    };
  return (value) => {
    const result = schema['~standard'].validate(value);
    return isThenable(result) ? Promise.resolve(result).then(toOutcome) : toOutcome(result);
  };
}

/** Kinds of zod that run a function, or that cannot be seen through. */
const OPAQUE_KINDS: ReadonlySet<unknown> = new Set(['custom', 'transform', 'lazy', 'promise', 'function']);
/** What is no schema, or is made by a getter that runs a function. */
const NO_SCHEMAS: ReadonlySet<string> = new Set(['defaultValue', 'catchValue', 'error', 'pattern', 'values', 'entries']);

/** Whether a zod 4 schema has refinements, transformations or the like anywhere. */
function runsOwnCode(schema: unknown, seen: Set<unknown>): boolean {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
  seen.add(schema);
  const { def } = (schema as Partial<ZodSchema>)._zod ?? {};
  // Not a schema, but a list of schemas, or schemas by name.
  if (def === undefined) return Object.values(schema).some((part) => isNode(part) && runsOwnCode(part, seen));
  if (OPAQUE_KINDS.has(def['type']) || def['check'] === 'custom' || typeof def['transform'] === 'function') return true;
  return Object.keys(def).some((key) => !NO_SCHEMAS.has(key) && runsOwnCode(def[key], seen));
}

function isNode(part: unknown): boolean {
  return typeof part === 'object' && part !== null && '_zod' in part;
}

function toOutcome(result: StandardResult<unknown>): SchemaOutcome<unknown> {
  const { issues } = result;
  if (issues === undefined) return result;
  return { issues: issues.length > 0 ? Array.from(issues, phraseIssue) : [{ message: 'does not fit its schema', path: [] }] };
}

/**
 * Whether a field of an object may be left out. zod 4 marks it. Of another library's schema the check of `undefined` shows it, if it is
 * synchronous; else the field counts as required. A zod 3 schema is asked by its synchronous method.
 */
export function mayMiss(schema: StandardSchema, direction: SchemaDirection): boolean {
  if (isZod(schema)) return (direction === 'input' ? schema._zod.optin : schema._zod.optout) !== undefined;
  try {
    const result = isOldZod(schema) ? parseOldZod(schema, undefined) : schema['~standard'].validate(undefined);
    if (isThenable(result)) {
      result.then(undefined, () => undefined);
      return false;
    }
    return result.issues === undefined && (direction === 'input' || result.value === undefined);
  } catch {
    return false;
  }
}

function parseOldZod(schema: unknown, value: unknown): StandardResult<unknown> {
  const { safeParse } = schema as { safeParse(this: unknown, value: unknown): { readonly success: boolean; readonly data?: unknown } };
  const { success, data } = safeParse.call(schema, value);
  return success ? { value: data } : { issues: [] };
}

/** Converts a schema of one library to JSON Schema, or throws with the reason. */
export type Converter = (schema: object, direction: SchemaDirection) => object;

/** A schema, or a shape whose every field is one, that is converted by `convert`. The original stays as it is. */
export function withConverter<T>(schema: object, convert: Converter, toProps: (schema: object) => StandardProps = propsOf): T {
  const withProps = (each: object): object => {
    const jsonSchema = {
      input: () => convert(each, 'input') as Record<string, unknown>,
      output: () => convert(each, 'output') as Record<string, unknown>,
    };
    return Object.create(each, { '~standard': { value: { ...toProps(each), jsonSchema }, enumerable: true } }) as object;
  };
  if (isStandardSchema(schema) || '_def' in schema) return withProps(schema) as T;
  return Object.fromEntries(Object.entries(schema).map(([name, field]) => [name, withProps(field as object)])) as T;
}

function propsOf(schema: object): StandardProps {
  if (isStandardSchema(schema)) return schema['~standard'];
  throw new TypeError('Not a schema: hand over a schema of the library, or an object whose every field is one');
}
