/**
 * `@mortise/protocol/json-schema`: the default JSON Schema validator. It evaluates no code and fetches nothing. It has its own entry so
 * that only programs that check JSON Schemas load it.
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { JsonSchemaValidator, SchemaIssue } from './contracts/schema-adapter.ts';
import { SchemaNotCheckableError } from './errors.ts';
import { boundExpansion, createSizeBound, peerPatternLimit } from './json-schema/bound-peer-schema.ts';
import { checkJsonSchema, compiles, dialectOf } from './json-schema/check-json-schema.ts';
import { Evaluation, type EvaluationRules, type Pattern, TOO_COSTLY, Unchecked } from './json-schema/evaluate.ts';
import { checksOf } from './json-schema/keywords.ts';

/** The default of the option `maxPatternCharacters`. */
const MAX_PATTERN_CHARACTERS = 10_000;

/** The options of `createJsonSchemaValidator`. */
export interface ValidatorOptions {
  /** Who wrote the schemas: the program's author (schemas have no limits), or a peer (their size and patterns are limited). */
  readonly from: 'author' | 'peer';
  /** The longest string tested against a `pattern` of an author's schema. A longer string is invalid. @default 10_000 */
  readonly maxPatternCharacters?: number | undefined;
  /** Called for each pattern of a peer's schema that is not checked, because it may take too long or is invalid. @default none */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Creates a validator for JSON Schema 2020-12 (the default) and draft-07.
 *
 * References within the schema are followed; nothing is fetched. `format` is checked for the formats that JSON Schema defines.
 * `$dynamicRef` is not supported. A value that takes too long to check gets an issue that says so.
 *
 * @throws {TypeError} An option is not known, or has an invalid value.
 * @see 2026-07-28 basic/index#json-schema-usage
 */
export function createJsonSchemaValidator(options: ValidatorOptions): JsonSchemaValidator {
  checkOptions('createJsonSchemaValidator', options, { from: 'string', maxPatternCharacters: 1, onWarning: 'function' });
  if (!['author', 'peer'].includes((options as Partial<ValidatorOptions> | undefined)?.from ?? ''))
    throw new TypeError(`createJsonSchemaValidator: the option "from" (who wrote the schemas) must be "author" or "peer"`);
  return { compile: (schema) => compile(schema, options) };
}

function compile(schema: JsonValue, options: ValidatorOptions): (value: unknown) => readonly SchemaIssue[] {
  const dialect = dialectOf(schema);
  if (dialect === undefined)
    throw new SchemaNotCheckableError(
      `JSON Schema dialect ${JSON.stringify((schema as JsonObject)['$schema'])} is not supported: use 2020-12 or draft-07`,
      '',
    );
  const isFromPeer = options.from === 'peer';
  const bound = isFromPeer ? createSizeBound(schema) : undefined;
  const all: JsonObject[] = [];
  const targets = checkJsonSchema(schema, (each, pointer, depth) => {
    bound?.(each, pointer, depth);
    if (each['$dynamicRef'] !== undefined)
      throw new SchemaNotCheckableError('the keyword "$dynamicRef" is not supported: use "$ref"', pointer);
    all.push(each);
  });
  if (isFromPeer) boundExpansion(all, targets);
  const rules: EvaluationRules = {
    checks: new Map(all.map((each) => [each, checksOf(each, dialect)])),
    targets,
    patterns: readPatterns(all, options),
    tooLong: isFromPeer ? undefined : tooLong(options),
  };
  return (value) => {
    if (value === undefined) return [{ message: 'is required', path: [] }];
    const evaluation = new Evaluation(rules);
    try {
      evaluation.check(schema, isJson(value) ? value : (JSON.parse(JSON.stringify(value)) as JsonValue));
      return evaluation.issues;
    } catch (error) {
      if (error instanceof Unchecked) return [{ message: error.message, path: error.path }];
      return [{ message: error instanceof RangeError ? TOO_COSTLY : 'is not JSON', path: [] }];
    }
  };
}

function readPatterns(schemas: readonly JsonObject[], options: ValidatorOptions): ReadonlyMap<string, Pattern> {
  const patterns = new Map<string, Pattern>();
  for (const { pattern, patternProperties } of schemas)
    for (const source of [pattern ?? [], Object.keys(patternProperties ?? {})].flat() as readonly string[])
      if (!patterns.has(source)) patterns.set(source, toPattern(source, options));
  return patterns;
}

function toPattern(source: string, { from, maxPatternCharacters = MAX_PATTERN_CHARACTERS, onWarning }: ValidatorOptions): Pattern {
  const maxCharacters = from === 'peer' ? peerPatternLimit(source) : maxPatternCharacters;
  if (maxCharacters === 0)
    onWarning?.(`the pattern ${JSON.stringify(source.slice(0, 60))} is not checked: it may take too long, or is not a regular expression`);
  // Some schema libraries write patterns that are valid only without the `u` flag.
  return { regex: new RegExp(source, compiles(source, 'u') ? 'u' : ''), maxCharacters };
}

function tooLong({ maxPatternCharacters = MAX_PATTERN_CHARACTERS }: ValidatorOptions): string {
  return `has more than ${maxPatternCharacters} characters, the limit for strings with a "pattern" (option maxPatternCharacters of createJsonSchemaValidator)`;
}

/** Tells whether a value is plain JSON, which `JSON.stringify` keeps: no undefined members, no `toJSON` methods, no `NaN`. */
function isJson(value: unknown): value is JsonValue {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'string' || typeof value === 'boolean' || value === null;
  return typeof (value as { readonly toJSON?: unknown }).toJSON !== 'function' && Object.values(value).every(isJson);
}
