/** The default `JsonSchemaValidator`: an interpreter that evaluates no code, behind a bound on schema and work. */

import { type Schema, validate } from '@cfworker/json-schema';
import type { JsonValue } from '@mortise/jsonrpc-core';
import type { JsonSchemaValidator, SchemaIssue } from '../contracts/schema-adapter.ts';
import { type BoundedSchema, boundSchema, type SchemaLimits } from './bound-schema.ts';
import { expandSchema, type SchemaLookup } from './expand-schema.ts';
import { phraseErrors } from './phrase-errors.ts';

/** How much a check may cost. */
export interface ValidatorOptions extends SchemaLimits {
  /** How many times a subschema may meet a part of one value. @default 1000000 */
  readonly maxSteps?: number;
  /** How long one value may take, in milliseconds, where the platform's clock runs on. @default 2000 */
  readonly maxCheckMs?: number;
}

/** The longest array whose items are compared with one another. */
const MAX_UNIQUE_ITEMS = 4096;
/** How many steps lie between two looks at the clock. */
const STEPS_PER_LOOK = 1024;

/**
 * Makes a validator for JSON Schema 2020-12 (the default) and draft-07.
 *
 * References within a schema are followed, none is ever fetched. `format` is checked for the common formats that JSON Schema names
 * (`date`, `time`, `date-time`, `duration`, `email`, `hostname`, `ipv4`, `ipv6`, `uri`, `uri-reference`, `uuid`, JSON pointers) and passed
 * over else. `$dynamicRef` is not supported. A value that costs more than the bounds gets an issue that says so.
 *
 * @see 2026-07-28 basic/index#json-schema-usage
 */
export function createJsonSchemaValidator(options: ValidatorOptions = {}): JsonSchemaValidator {
  return { compile: (schema) => compile(schema, options) };
}

/**
 * Says why a schema cannot be checked here, without checking anything with it.
 *
 * @returns undefined where it can; else one sentence: dialect, depth, size, pattern or reference.
 */
export function checkSchema(schema: JsonValue, limits: SchemaLimits = {}): string | undefined {
  try {
    expandSchema(boundSchema(schema, limits, {}));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function compile(schema: JsonValue, options: ValidatorOptions): (value: unknown) => readonly SchemaIssue[] {
  const meter = new StepMeter(options.maxSteps ?? 1_000_000, options.maxCheckMs ?? 2000);
  const bounded = boundSchema(schema, options, meter.prototype);
  const lookup = expandSchema(bounded);
  return (value) => run(value, bounded, lookup, meter);
}

function run(value: unknown, schema: BoundedSchema, lookup: SchemaLookup, meter: StepMeter): readonly SchemaIssue[] {
  if (value === undefined) return [{ message: 'is required', path: [] }];
  try {
    const json: unknown = isJson(value) ? value : JSON.parse(JSON.stringify(value));
    if (schema.hasUniqueItems && hasLongArray(json)) {
      return [{ message: `has an array of more than ${MAX_UNIQUE_ITEMS} items, too many to compare with one another`, path: [] }];
    }
    meter.reset();
    const { valid, errors } = validate(json, schema.root as Schema, schema.dialect, lookup, true);
    return valid ? [] : phraseErrors(errors, json);
  } catch (error) {
    const isCostly = error instanceof TooCostly || error instanceof RangeError;
    return [{ message: isCostly ? 'takes too long to check against its schema' : 'is not JSON', path: [] }];
  }
}

/** Tells what is JSON already from what becomes it: members that are `undefined`, dates and the like. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return typeof value !== 'undefined' && typeof value !== 'bigint' && typeof value !== 'function' && typeof value !== 'symbol';
  return typeof (value as { toJSON?: unknown }).toJSON !== 'function' && Object.values(value).every(isJson);
}

function hasLongArray(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) && value.length > MAX_UNIQUE_ITEMS) || Object.values(value).some(hasLongArray);
}

class TooCostly extends Error {}

/** Counts how often a subschema meets a value: the interpreter reads `$recursiveAnchor`, which no copy has of its own, each time. */
class StepMeter {
  readonly prototype: object;
  readonly #maxSteps: number;
  readonly #maxCheckMs: number;
  #steps = 0;
  #endsAt = 0;

  constructor(maxSteps: number, maxCheckMs: number) {
    this.#maxSteps = maxSteps;
    this.#maxCheckMs = maxCheckMs;
    this.prototype = Object.defineProperty({}, '$recursiveAnchor', { get: () => this.#count(), enumerable: false });
  }

  reset(): void {
    this.#steps = 0;
    this.#endsAt = performance.now() + this.#maxCheckMs;
  }

  #count(): undefined {
    this.#steps += 1;
    if (this.#steps > this.#maxSteps) throw new TooCostly();
    if (this.#steps % STEPS_PER_LOOK === 0 && performance.now() > this.#endsAt) throw new TooCostly();
    return undefined;
  }
}
