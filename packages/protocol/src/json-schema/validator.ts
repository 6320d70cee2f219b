/** The default `JsonSchemaValidator`: an interpreter that evaluates no code and fetches nothing. */

import { dereference, type Schema, validate } from '@cfworker/json-schema';
import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { JsonSchemaValidator, SchemaIssue } from '../contracts/schema-adapter.ts';
import { SchemaNotCheckableError } from '../errors.ts';
import { boundExpansion, createSizeBound, peerPatternLimit } from './bound-peer-schema.ts';
import { checkJsonSchema, dialectOf, unresolved } from './check-json-schema.ts';
import { phraseErrors } from './phrase-errors.ts';
import { type PatternRules, prepareSchema } from './prepare-schema.ts';
import { countValues, LongNameError, watchValue } from './watch-value.ts';

/** Whose schemas a validator runs, and how. */
export interface ValidatorOptions {
  /** Who wrote the schemas. An author's run as they are written; a peer's are bounded in size and in what their patterns may cost. */
  readonly from: 'author' | 'peer';
  /** The longest text that an author's `pattern` is tried on; a longer one does not fit. @default 10_000 */
  readonly maxPatternCharacters?: number | undefined;
  /** Called when a pattern of a peer is left out, because it may take too long. @default none */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** How often subschemas may meet a part of one value. */
const MAX_STEPS = 1_000_000;
/** How long one value may take, where the platform's clock runs on. */
const MAX_CHECK_MS = 2000;
/** From so many values on, a single step that compares objects may take long. */
const WATCHED_FROM = 20_000;

/**
 * Makes a validator for JSON Schema 2020-12 (the default) and draft-07.
 *
 * References within a schema are followed, none is ever fetched. `format` is checked for the formats that JSON Schema names.
 * `$dynamicRef` is not supported. A value that takes too long to check gets an issue that says so.
 *
 * @throws {TypeError} An option is not known, or has an invalid value.
 * @see 2026-07-28 basic/index#json-schema-usage
 */
export function createJsonSchemaValidator(options: ValidatorOptions): JsonSchemaValidator {
  checkOptions('createJsonSchemaValidator', options, { from: 'string', maxPatternCharacters: 1, onWarning: 'function' });
  if (!['author', 'peer'].includes((options as Partial<ValidatorOptions> | undefined)?.from ?? ''))
    throw new TypeError(`createJsonSchemaValidator: "from" must be "author" or "peer", the one who wrote the schemas`);
  return { compile: (schema) => compile(schema, options) };
}

type Check = (value: unknown) => readonly SchemaIssue[];

function compile(schema: JsonValue, options: ValidatorOptions): Check {
  const isFromPeer = options.from === 'peer';
  const dialect = dialectOf(schema);
  if (dialect === undefined)
    throw new SchemaNotCheckableError(
      `JSON Schema dialect ${JSON.stringify((schema as JsonObject)['$schema'])} is not supported: use 2020-12 or draft-07`,
      '',
    );
  checkJsonSchema(schema, isFromPeer ? createSizeBound(schema) : undefined);
  const meter = new Meter();
  const prepared = prepareSchema(schema as JsonObject | boolean, dialect, patternRules(options), meter.prototype);
  const lookup = resolve(prepared.root);
  const targetOf = (copy: JsonObject): JsonValue | undefined => lookup[copy['__absolute_ref__'] as string] as JsonValue | undefined;
  const all = new Set(Object.values(lookup).filter((each) => typeof each === 'object')) as unknown as ReadonlySet<JsonObject>;
  for (const copy of all) if (copy['$ref'] !== undefined && targetOf(copy) === undefined) throw unresolved(String(copy['$ref']), '');
  if (isFromPeer) boundExpansion(all, targetOf);
  const run = (json: unknown, isCostly: boolean): readonly SchemaIssue[] => {
    const shown = isCostly ? watchValue(json, () => meter.look(), prepared.maxNameCharacters) : json;
    const { valid, errors } = validate(shown, prepared.root as Schema, dialect, lookup);
    return valid ? [] : phraseErrors(errors, json);
  };
  return (value) => {
    if (value === undefined) return [{ message: 'is required', path: [] }];
    meter.start();
    try {
      const count = countValues(value);
      const isCostly = prepared.maxNameCharacters !== undefined || (prepared.hasCostlySteps && !(count <= WATCHED_FROM));
      return run(Number.isNaN(count) ? JSON.parse(JSON.stringify(value)) : value, isCostly);
    } catch (error) {
      return [{ message: whyUnchecked(error), path: [] }];
    }
  };
}

function patternRules({ from, maxPatternCharacters = 10_000, onWarning }: ValidatorOptions): PatternRules {
  if (from !== 'peer')
    return {
      maxCharacters: () => maxPatternCharacters,
      tooLong: `has more than ${maxPatternCharacters} characters, the most that "pattern" is tried on: see maxPatternCharacters of createJsonSchemaValidator`,
    };
  const maxCharacters = (pattern: string): number => {
    const limit = peerPatternLimit(pattern);
    if (limit === 0)
      onWarning?.(
        `the pattern ${JSON.stringify(pattern.slice(0, 60))} is not checked: it may take too long, or is not a regular expression`,
      );
    return limit;
  };
  return { maxCharacters, tooLong: undefined };
}

function resolve(root: JsonObject | boolean): ReturnType<typeof dereference> {
  try {
    return dereference(root as Schema);
  } catch (cause) {
    throw new SchemaNotCheckableError(`an "$id", "$anchor" or "$ref" cannot be read: ${(cause as Error).message}`, '', { cause });
  }
}

class TooCostlyError extends Error {}

function whyUnchecked(error: unknown): string {
  if (error instanceof TooCostlyError || error instanceof RangeError) return 'takes too long to check against its schema';
  if (error instanceof LongNameError) return 'has a member whose name is too long for the patterns of its schema';
  return error instanceof URIError ? 'has a member whose name is not valid Unicode' : 'is not JSON';
}

/** Ends a check that takes too many steps, or too long. */
class Meter {
  /** The interpreter reads `$recursiveAnchor`, which no copy has of its own, once a step. */
  readonly prototype: object;
  #steps = 0;
  #looks = 0;
  #endsAt = 0;

  constructor() {
    const step = (): undefined => this.#step();
    this.prototype = Object.defineProperty({}, '$recursiveAnchor', { get: step });
  }

  /** Begins with a new value. */
  start(): void {
    this.#steps = 0;
    this.#endsAt = performance.now() + MAX_CHECK_MS;
  }

  #step(): undefined {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS || (this.#steps % 16 === 0 && performance.now() > this.#endsAt)) throw new TooCostlyError();
    return undefined;
  }

  /** Counts a look at a part of the value. Looks cost less than steps, so that the clock is read now and then. */
  look(): void {
    this.#looks += 1;
    if (this.#looks % 256 === 0 && performance.now() > this.#endsAt) throw new TooCostlyError();
  }
}
