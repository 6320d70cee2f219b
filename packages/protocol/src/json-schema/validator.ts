/** The default `JsonSchemaValidator`: an interpreter that evaluates no code, behind a bound on schema and work. */

import { type Schema, validate } from '@cfworker/json-schema';
import type { JsonValue } from '@mortise/jsonrpc-core';
import { checkAmounts } from '@mortise/jsonrpc-core/transport';
import type { JsonSchemaValidator, SchemaIssue } from '../contracts/schema-adapter.ts';
import { type BoundedSchema, boundSchema, type SchemaCopy, type SchemaLimits, STEP_COST } from './bound-schema.ts';
import { type ExpandedSchema, expandSchema } from './expand-schema.ts';
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

const LEAST = { maxDepth: 0, maxSubschemas: 0, maxExpandedSubschemas: 0, maxValues: 0, maxSteps: 0, maxCheckMs: 0 } satisfies {
  readonly [Name in keyof ValidatorOptions]?: number;
};

/** The longest array whose items are compared with one another. */
const MAX_UNIQUE_ITEMS = 4096;
/** From here on comparing all items of an array with one another is watched, in values looked at. */
const MAX_COMPARED_VALUES = 2 * MAX_UNIQUE_ITEMS ** 2;
/** From here on holding the names of an object against patterns or the objects of an `enum` is watched, in names times those. */
const MAX_MATCHES = 250_000;
/**
 * How much the interpreter may copy of what it notes of members and items already looked at, between two steps: all of it at each `allOf`
 * and its like on the way out, and it looks for each note at all of those around.
 */
const MAX_NOTES = 4_000_000;
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
 * @throws {RangeError} A bound is no number (NaN is none), or less than 0.
 * @see 2026-07-28 basic/index#json-schema-usage
 */
export function createJsonSchemaValidator(options: ValidatorOptions = {}): JsonSchemaValidator {
  checkAmounts("the validator's options", options, LEAST);
  return { compile: (schema) => compile(schema, options) };
}

/**
 * Says why a schema cannot be checked here, without checking anything with it.
 *
 * @returns undefined where it can; else one sentence: dialect, depth, size, pattern or reference.
 * @throws {RangeError} A limit is no number (NaN is none), or less than 0.
 */
export function checkSchema(schema: JsonValue, limits: SchemaLimits = {}): string | undefined {
  checkAmounts('the limits of a schema', limits, LEAST);
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
  const expanded = expandSchema(bounded);
  return (value) => run(value, bounded, expanded, meter);
}

function run(value: unknown, schema: BoundedSchema, expanded: ExpandedSchema, meter: StepMeter): readonly SchemaIssue[] {
  if (value === undefined) return [{ message: 'is required', path: [] }];
  const work = (cost: number): void => meter.work(cost);
  meter.reset();
  try {
    const [json, size] = toMeasured(value, work);
    if (schema.hasUniqueItems && size.longestArray > MAX_UNIQUE_ITEMS) {
      return [{ message: `has an array of more than ${MAX_UNIQUE_ITEMS} items, too many to compare with one another`, path: [] }];
    }
    if (expanded.deepestInPlace ** 2 * Math.max(size.widestObject, size.longestArray) > MAX_NOTES) throw new TooCostly();
    meter.startSteps(costOfStep(size, schema));
    const seen = needsWatch(size, schema) ? watchValue(json, work) : json;
    const { valid, errors } = validate(seen, schema.root as Schema, schema.dialect, expanded.lookup, true);
    return valid ? [] : phraseErrors(errors, json);
  } catch (error) {
    return [{ message: whyUnchecked(error), path: [] }];
  }
}

function whyUnchecked(error: unknown): string {
  if (error instanceof TooCostly || error instanceof RangeError) return 'takes too long to check against its schema';
  return error instanceof URIError ? 'has a member whose name is not valid Unicode' : 'is not JSON';
}

/** Takes what is JSON already as it is, and makes JSON of what becomes it: members that are `undefined`, dates, `NaN` and the like. */
function toMeasured(value: unknown, work: (cost: number) => void): readonly [json: unknown, size: ValueSize] {
  const size = measureValue(value, work);
  if (size !== undefined) return [value, size];
  const json: unknown = JSON.parse(JSON.stringify(value));
  return [json, measureValue(json, work) as ValueSize];
}

/** Whether a single step may take so long that the meter must see into it. */
function needsWatch({ costliestArray, widestObject }: ValueSize, { hasUniqueItems, mostPatterns, mostObjects }: BoundedSchema): boolean {
  return (hasUniqueItems && costliestArray > MAX_COMPARED_VALUES) || Math.max(mostPatterns, mostObjects) * widestObject > MAX_MATCHES;
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

  /** Starts the clock for one value. */
  reset(): void {
    this.#steps = 0;
    this.#sinceLook = 0;
    this.#endsAt = performance.now() + this.#maxCheckMs;
  }

  startSteps(valueCost: number): void {
    this.#valueCost = valueCost;
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
