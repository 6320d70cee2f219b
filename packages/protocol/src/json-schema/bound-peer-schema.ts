/** Limits the size and the patterns of schemas from peers, so that checking a value against them cannot take too long. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { SchemaNotCheckableError } from '../errors.ts';
import { compiles, type SchemaVisitor } from './check-json-schema.ts';

const MAX_CHARACTERS = 4_000_000;
const MAX_DEPTH = 64;
const MAX_SUBSCHEMAS = 5000;
/** The maximum number of subschemas that apply to one part of a value, including those behind references. */
const MAX_EXPANDED = 5000;
/** The maximum length of a chain of subschemas and `$ref`s that apply to one part of a value. */
const MAX_CHAIN = 500;
/** The maximum length of an `$id`, in characters. It is limited because references are resolved against it. */
const MAX_ID_CHARACTERS = 2000;

/** The maximum length of a peer's pattern, and of a string that is tested against it, in characters. */
const MAX_PATTERN_CHARACTERS = 1000;
/** The maximum number of `?` and `|` in a pattern. */
const MAX_CHOICES = 16;
/** The maximum number of steps of testing one string against a pattern. The steps are estimated, rather too high than too low. */
const MAX_MATCH_STEPS = 1e9;

/**
 * Creates a visitor for `checkJsonSchema` that throws if a peer's schema is too large.
 *
 * @throws {SchemaNotCheckableError} `ERR_SCHEMA_NOT_CHECKABLE`: the schema is too large.
 */
export function createSizeBound(root: JsonValue): SchemaVisitor {
  if (JSON.stringify(root).length > MAX_CHARACTERS) throw tooLarge(`longer than ${MAX_CHARACTERS} characters`, '');
  let count = 0;
  return ({ $id }, pointer, depth) => {
    count += 1;
    if (depth > MAX_DEPTH) throw tooLarge(`deeper than ${MAX_DEPTH}`, pointer);
    if (count > MAX_SUBSCHEMAS) throw tooLarge(`larger than ${MAX_SUBSCHEMAS} subschemas`, pointer);
    if (String($id).length > MAX_ID_CHARACTERS) throw tooLarge(`named by an "$id" of more than ${MAX_ID_CHARACTERS} characters`, pointer);
  };
}

function tooLarge(how: string, pointer: string): SchemaNotCheckableError {
  return new SchemaNotCheckableError(`the JSON Schema is too large: it is ${how}, the limit for schemas from peers`, pointer);
}

/**
 * Throws if too many subschemas apply to one part of a value, including those behind references.
 *
 * @param targets The target of each `$ref`, by the schema that contains the `$ref`.
 * @throws {SchemaNotCheckableError} `ERR_SCHEMA_NOT_CHECKABLE`: too many subschemas, or the schema refers to itself for the same part.
 */
export function boundExpansion(schemas: readonly JsonObject[], targets: ReadonlyMap<JsonObject, JsonValue>): void {
  /** For each schema, the number of subschemas that apply to one part of a value; undefined while it is being counted. */
  const sizes = new Map<JsonObject, number | undefined>();
  const measure = (schema: JsonObject, depth: number): number => {
    const known = sizes.get(schema);
    if (known !== undefined) return known;
    if (sizes.has(schema))
      throw new SchemaNotCheckableError('the JSON Schema refers to itself endlessly: put the "$ref" under "properties" or "items"', '');
    if (depth > MAX_CHAIN) throw tooLarge('a chain of too many references', '');
    sizes.set(schema, undefined);
    const size = inPlace(schema, targets.get(schema)).reduce((sum, part) => sum + measure(part, depth + 1), 1);
    if (size > MAX_EXPANDED) throw tooLarge(`larger than ${MAX_EXPANDED} subschemas for one place of a value`, '');
    sizes.set(schema, size);
    return size;
  };
  for (const schema of schemas) measure(schema, 0);
}

function inPlace(schema: JsonObject, target: JsonValue | undefined): readonly JsonObject[] {
  const direct = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'].flatMap((keyword) => schema[keyword] ?? []);
  const byName = ['dependentSchemas', 'dependencies'].flatMap((keyword) => Object.values(schema[keyword] ?? {}) as JsonValue[]);
  return [target, ...direct, ...byName].filter(isJsonObject);
}

/**
 * Returns the length of the longest string that a peer's pattern is tested against; 0 if the pattern is not tested at all.
 *
 * A heuristic: a repeated group that contains a repetition, `?` or `|`, and a back-reference, may take exponential time. Every other
 * repetition multiplies the time by the length of the string.
 */
export function peerPatternLimit(pattern: string): number {
  const { isRisky, repetitions, choices } = lookAt(pattern);
  if (isRisky || choices > MAX_CHOICES || pattern.length > MAX_PATTERN_CHARACTERS || !compiles(pattern, 'u')) return 0;
  const isAnchored = pattern.startsWith('^') && !pattern.includes('|');
  return Math.min(MAX_PATTERN_CHARACTERS, Math.round(MAX_MATCH_STEPS ** (1 / (repetitions + (isAnchored ? 0 : 1)))));
}

/** The tokens of a regular expression that decide how long a match may take: escapes, classes, groups, alternatives and quantifiers. */
const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|:|<[^>]*>))?|[)|*+?]|\{\d+(?:,\d*)?\}/gsu;

function lookAt(pattern: string): { readonly isRisky: boolean; readonly repetitions: number; readonly choices: number } {
  /** For each open group: whether it contains a part that can match in several ways. */
  const open = [false];
  const found = { isRisky: false, repetitions: 0, choices: 0 };
  let last = { token: '', isFlexible: false };
  for (const [token] of pattern.matchAll(TOKEN)) {
    const repeats = /^[*+{]/.test(token);
    const isFlexible = token === ')' ? (open.pop() ?? false) : /^[*+?|]|^\{.*,/.test(token);
    if (/^\\[1-9k]/.test(token) || (repeats && last.token === ')' && last.isFlexible)) found.isRisky = true;
    if (token === '?' || token === '|') found.choices += 1;
    else if (repeats && isFlexible) found.repetitions += 1;
    if (isFlexible) open[open.length - 1] = true;
    if (token.startsWith('(')) open.push(false);
    last = { token, isFlexible };
  }
  return found;
}
