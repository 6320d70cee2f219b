/** Standard Schemas (zod, valibot, arktype, ...) as adapters: told by `~standard.jsonSchema`, checked by `~standard.validate`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { SchemaAdapter, SchemaIssue, SchemaOutcome } from '@mortise/protocol/contracts';
import { withPhrasing } from './load-phrasing.ts';
import { runsOwnCode } from './runs-own-code.ts';
import { directionOf, unsupported, type SchemaPlace } from './schema-purpose.ts';
import type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.ts';

/** The dialect that every schema without `$schema` has, so that naming it in each schema would only cost bytes. */
export const DEFAULT_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** @throws {SchemaUnsupportedError} Where the library has no JSON Schema for it, with the library's reason. */
export function adaptStandardSchema(schema: StandardSchema, place: SchemaPlace): SchemaAdapter {
  const jsonSchema = withoutDefaultDialect(tellStandardSchema(schema, place));
  return { jsonSchema, validate: createCheck(schema) };
}

/** Checks a value against one schema; gives a promise only where the schema's own check may. */
export type SchemaCheck = (value: unknown) => SchemaOutcome<unknown> | Promise<SchemaOutcome<unknown>>;

/**
 * Makes the check of a schema.
 *
 * `~standard.validate` of zod tries without waiting first. What an async refinement rejects with in that try is nobody's, and would end the
 * process; so a schema that runs functions of the program's is checked by zod's async method at once.
 */
export function createCheck(schema: StandardSchema): SchemaCheck {
  const { safeParseAsync } = schema as Partial<AsyncParser>;
  if (typeof safeParseAsync !== 'function' || !runsOwnCode(schema)) return (value) => settle(schema['~standard'].validate(value));
  return async (value) => {
    const parsed = await (schema as StandardSchema & AsyncParser).safeParseAsync(value);
    return toOutcome(parsed.success ? { value: parsed.data } : { issues: parsed.error.issues });
  };
}

/** What zod's schemas have beside `~standard`. */
interface AsyncParser {
  safeParseAsync(
    value: unknown,
  ): Promise<
    | { readonly success: true; readonly data: unknown }
    | { readonly success: false; readonly error: { readonly issues: readonly StandardIssue[] } }
  >;
}

/**
 * Tells a schema in JSON Schema 2020-12.
 *
 * @param field Names a field of a raw shape in the error.
 */
export function tellStandardSchema(schema: StandardSchema, place: SchemaPlace, field?: string): JsonObject {
  const whole = field === undefined ? '' : `field "${field}" `;
  const converter = schema['~standard'].jsonSchema;
  if (converter === undefined) throw unsupported(place, `${whole}cannot be told as JSON Schema: ${remedyFor(schema)}`);
  try {
    return converter[directionOf(place.purpose)]({ target: 'draft-2020-12' }) as JsonObject;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw unsupported(
      place,
      `${whole}cannot be told as JSON Schema: ${reason}. Use a type that JSON has (an ISO string for a date, say) and convert in the handler`,
      cause,
    );
  }
}

function remedyFor(schema: StandardSchema): string {
  const { vendor } = schema['~standard'];
  if (vendor !== 'zod')
    return `${vendor} gives it no "~standard.jsonSchema". Use the library's adapter for Standard JSON Schema, or write the JSON Schema by hand`;
  if ('_zod' in schema)
    return 'this zod is older than 4.2, or zod/mini. Wrap it with fromZod(z) of @mortise/server/zod, or use zod 4.2 or later';
  return 'this is a zod 3 schema. Wrap it with fromZodV3(convert) of @mortise/server/zod-v3, or import from zod 4';
}

/** Takes a library's result as it is, without a promise where there was none; but issues wait for what phrases them. */
function settle(
  result: StandardResult<unknown> | Promise<StandardResult<unknown>>,
): SchemaOutcome<unknown> | Promise<SchemaOutcome<unknown>> {
  // What has a `then` need not be a promise, nor give one.
  return 'then' in result ? Promise.resolve(result).then(toOutcome) : toOutcome(result);
}

const UNTOLD: SchemaIssue = { message: 'does not fit its schema', path: [] };

function toOutcome(result: StandardResult<unknown>): SchemaOutcome<unknown> | Promise<SchemaOutcome<unknown>> {
  const { issues } = result;
  return issues === undefined
    ? result
    : withPhrasing(({ phraseIssue }) => ({ issues: issues.length > 0 ? Array.from(issues, phraseIssue) : [UNTOLD] }));
}

export function withoutDefaultDialect(schema: JsonObject): JsonObject {
  if (schema['$schema'] !== DEFAULT_DIALECT) return schema;
  const { $schema: _, ...rest } = schema;
  return rest;
}
