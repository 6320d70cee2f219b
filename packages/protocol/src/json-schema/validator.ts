/** The default `JsonSchemaValidator`: an interpreter that evaluates no code, behind a bound on schema and work. */

import { type Schema, validate } from '@cfworker/json-schema';
import type { JsonValue } from '@mortise/jsonrpc-core';
import type { JsonSchemaValidator, SchemaIssue } from '../contracts/schema-adapter.ts';
import { type BoundedSchema, boundSchema, type SchemaCopy, type SchemaLimits, STEP_COST } from './bound-schema.ts';
import { expandSchema, type SchemaLookup } from './expand-schema.ts';
import { measureValue, type ValueSize } from './measure-value.ts';
import { watchValue } from './watch-value.ts';
import { phraseErrors } from './phrase-errors.ts';

/** How much a check may cost. */
export interface ValidatorOptions extends SchemaLimits {
  /** How many times a subschema may meet a part of one value. @default 1000000 */
  readonly maxSteps?: number | undefined;
  /** How long one value may take, in milliseconds, where the platform's clock runs on. @default 2000 */
  readonly maxCheckMs?: number | undefined;
}

/** The longest array whose items are compared with one another. */
const MAX_UNIQUE_ITEMS = 4096;
/** From here on comparing all items of an array with one another is watched, in values looked at. */
const MAX_COMPARED_VALUES = 2 * MAX_UNIQUE_ITEMS ** 2;
/** From here on holding the names of an object against patterns is watched, in names times patterns. */
const MAX_MATCHES = 2_000_000;
/** How many steps of the cheapest kind lie between two looks at the clock. */
const STEPS_PER_LOOK = 1024;
/** How much of what a schema or a value holds costs as much as a step. */
const COST_PER_STEP = 16;

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
    const size = measureValue(json);
    if (schema.hasUniqueItems && size.longestArray > MAX_UNIQUE_ITEMS) {
      return [{ message: `has an array of more than ${MAX_UNIQUE_ITEMS} items, too many to compare with one another`, path: [] }];
    }
    meter.reset(costOfStep(size, schema));
    const seen = needsWatch(size, schema) ? watchValue(structuredClone(json), (work) => meter.work(work)) : json;
    const { valid, errors } = validate(seen, schema.root as Schema, schema.dialect, lookup, true);
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

/** Whether a single step may take so long that the meter must see into it. */
function needsWatch(size: ValueSize, { hasUniqueItems, mostPatterns }: BoundedSchema): boolean {
  return (hasUniqueItems && size.costliestArray > MAX_COMPARED_VALUES) || mostPatterns * size.widestObject > MAX_MATCHES;
}

function costOfStep({ longestText, widestObject, longestArray }: ValueSize, { readsTexts }: BoundedSchema): number {
  return ((readsTexts ? longestText : 0) + widestObject + longestArray) / COST_PER_STEP;
}

class TooCostly extends Error {}

/**
 * Counts how often a subschema meets a value: the interpreter reads `$recursiveAnchor`, which no copy has of its own, each time. Steps are
 * limited by number; the clock is looked at the sooner, the more a step may cost.
 */
class StepMeter {
  readonly prototype: object;
  readonly #maxSteps: number;
  readonly #maxCheckMs: number;
  #steps = 0;
  #sinceLook = 0;
  #valueCost = 0;
  #endsAt = 0;

  constructor(maxSteps: number, maxCheckMs: number) {
    this.#maxSteps = maxSteps;
    this.#maxCheckMs = maxCheckMs;
    const count = (copy: SchemaCopy): undefined => this.#count(copy);
    this.prototype = Object.defineProperty({}, '$recursiveAnchor', {
      get(this: SchemaCopy) {
        return count(this);
      },
      enumerable: false,
    });
  }

  reset(valueCost: number): void {
    this.#steps = 0;
    this.#sinceLook = 0;
    this.#valueCost = valueCost;
    this.#endsAt = performance.now() + this.#maxCheckMs;
  }

  #count(copy: SchemaCopy): undefined {
    this.#steps += 1;
    if (this.#steps > this.#maxSteps) throw new TooCostly();
    this.work(1 + this.#valueCost + (copy[STEP_COST] ?? 0) / COST_PER_STEP);
    return undefined;
  }

  /** Looks at the clock when enough has been done since it last did. */
  work(cost: number): void {
    this.#sinceLook += cost;
    if (this.#sinceLook < STEPS_PER_LOOK) return;
    this.#sinceLook = 0;
    if (performance.now() > this.#endsAt) throw new TooCostly();
  }
}
