/** Raw shapes, `{ a: z.number(), b: z.string() }`: told and checked field by field, without the library that made the fields. */

import type { SchemaAdapter, SchemaIssue, SchemaOutcome } from '@mortise/protocol/contracts';
import { combineFields } from './combine-fields.ts';
import { directionOf, unsupported, type SchemaDirection, type SchemaPlace } from './schema-purpose.ts';
import { createCheck, DEFAULT_DIALECT, type SchemaCheck, tellStandardSchema } from './standard.ts';
import { isStandardSchema, type StandardSchema } from './standard-schema.ts';

interface Field {
  readonly name: string;
  readonly schema: StandardSchema;
  readonly required: boolean;
  readonly check: SchemaCheck;
}

/** Tells whether a value has fields of a schema library: at least one, or none at all of anything. */
export function isRawShape(value: object): value is Readonly<Record<string, unknown>> {
  const members = Object.values(value);
  return members.length === 0 || members.some((member) => isStandardSchema(member) || isOldZod(member));
}

/** A schema of a zod that does not know Standard Schema yet. */
function isOldZod(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '_def' in value && 'safeParse' in value;
}

/**
 * Unknown fields of a value are left out of what the check gives, as zod's objects do. What peers are told of a tool's output
 * says so (`additionalProperties: false`), and of an input that has no fields at all; of any other input it does not. A caller that
 * sends more is never refused.
 *
 * @throws {SchemaUnsupportedError} Where a field cannot be told as JSON Schema.
 */
export function adaptRawShape(shape: Readonly<Record<string, unknown>>, place: SchemaPlace): SchemaAdapter {
  const direction = directionOf(place.purpose);
  const fields = Object.entries(shape).map(([name, schema]) => toField(name, schema, direction, place));
  const told = fields.map(({ name, schema, required }) => ({ name, required, schema: tellStandardSchema(schema, place, name) }));
  const dialects = new Set(told.map(({ schema }) => schema['$schema']).filter((dialect) => dialect !== DEFAULT_DIALECT));
  if (dialects.size > 1) throw unsupported(place, `mixes the dialects ${[...dialects].join(', ')}: one schema has one dialect`);
  const dialect = [...dialects].find((each) => typeof each === 'string');
  const closed = direction === 'output' || fields.length === 0;
  return { jsonSchema: combineFields(told, { dialect, closed }), validate: (value) => validateFields(fields, value) };
}

const NOT_AN_OBJECT: SchemaOutcome<never> = { issues: [{ message: 'must be an object', path: [] }] };

function toField(name: string, schema: unknown, direction: SchemaDirection, place: SchemaPlace): Field {
  if (name === '__proto__')
    throw unsupported(place, 'has a field named "__proto__", which JavaScript objects treat as no field: choose another name');
  if (isStandardSchema(schema)) return { name, schema, required: !mayMiss(schema, direction), check: createCheck(schema) };
  const remedy = isOldZod(schema)
    ? 'is a zod 3 schema. Wrap it with fromZodV3(convert) of @mortise/server/zod-v3, or import from zod 4'
    : 'is not a schema: each field of a shape is a schema of one library, a JSON Schema has none of them';
  throw unsupported(place, `field "${name}" ${remedy}`);
}

/** zod's marks, read by structure. */
interface ZodMarks {
  readonly _zod: { readonly optin?: string; readonly optout?: string };
}

/**
 * Tells whether a field may be left out. zod marks it; of another library's schema the check of `undefined` tells, and one
 * that only tells later counts as required.
 */
function mayMiss(schema: StandardSchema, direction: SchemaDirection): boolean {
  if ('_zod' in schema) {
    const { _zod: marks } = schema as StandardSchema & ZodMarks;
    return (direction === 'input' ? marks.optin : marks.optout) !== undefined;
  }
  try {
    const result = schema['~standard'].validate(undefined);
    if ('then' in result) {
      result.then(undefined, () => undefined);
      return false;
    }
    return result.issues === undefined && (direction === 'input' || result.value === undefined);
  } catch {
    return false;
  }
}

/** Gives a promise only where a field's check gives one. */
function validateFields(fields: readonly Field[], value: unknown): SchemaOutcome<unknown> | Promise<SchemaOutcome<unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return NOT_AN_OBJECT;
  const given = value as Readonly<Record<string, unknown>>;
  const collector = new FieldCollector();
  let waiting: Promise<void>[] | undefined;
  for (const [index, field] of fields.entries()) {
    const present = Object.hasOwn(given, field.name);
    const outcome = attempt(field.check, present ? given[field.name] : undefined);
    if ('then' in outcome) (waiting ??= []).push(outcome.then((late) => collector.take(index, field, present, late)));
    else collector.take(index, field, present, outcome);
  }
  return waiting === undefined ? collector.outcome : Promise.all(waiting).then(() => collector.outcome);
}

/** A check that throws must not leave those that are under way, for what they reject with would be nobody's. */
function attempt(check: SchemaCheck, value: unknown): ReturnType<SchemaCheck> {
  try {
    return check(value);
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

/** Puts the fields' outcomes together. */
class FieldCollector {
  readonly #output: Record<string, unknown> = {};
  /** By field, so that they stand in the fields' order whichever check was the first to end. */
  #issues: (readonly SchemaIssue[])[] | undefined;

  get outcome(): SchemaOutcome<unknown> {
    return this.#issues === undefined ? { value: this.#output } : { issues: this.#issues.flat() };
  }

  take(index: number, field: Field, present: boolean, outcome: SchemaOutcome<unknown>): void {
    if ('issues' in outcome) {
      const issues = outcome.issues.map(({ message, path }) => ({ message, path: [field.name, ...path] }));
      (this.#issues ??= [])[index] = issues;
    } else if (outcome.value !== undefined) this.#output[field.name] = outcome.value;
    else if (present) this.#output[field.name] = undefined;
    else if (field.required) (this.#issues ??= [])[index] = [{ message: 'is required', path: [field.name] }];
  }
}
