/** What keeps the schema of a peer from keeping a program busy: bounds on its size before it is run, and on what its patterns may cost. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { SchemaNotCheckableError } from '../errors.ts';
import { compiles, type SchemaVisitor } from './check-json-schema.ts';

const MAX_CHARACTERS = 4_000_000;
const MAX_DEPTH = 64;
const MAX_SUBSCHEMAS = 5000;
/** Subschemas that apply to one place of a value, references followed. */
const MAX_EXPANDED = 5000;
/** `$ref`s that lead to one another. */
const MAX_CHAIN = 500;
/** References are joined to it. */
const MAX_ID_CHARACTERS = 2000;

/** The longest text that a pattern is tried on, and the longest pattern. */
const MAX_PATTERN_CHARACTERS = 1000;
/** Options and alternatives in one pattern. */
const MAX_CHOICES = 16;
/** About how many steps one match may take, counted too high. */
const MAX_MATCH_STEPS = 1e9;

/**
 * Bounds a schema while `checkJsonSchema` visits it.
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
  return new SchemaNotCheckableError(`the schema is ${how}, the most that is checked of a schema from a peer`, pointer);
}

/**
 * Bounds what applies to one place of a value once references are followed.
 *
 * @param targets Where each `$ref` leads, by the schema that holds it.
 * @throws {SchemaNotCheckableError} `ERR_SCHEMA_NOT_CHECKABLE`: too much, or the schema refers to itself for the same place.
 */
export function boundExpansion(schemas: readonly JsonObject[], targets: ReadonlyMap<JsonObject, JsonValue>): void {
  /** By schema; undefined while it is being measured. */
  const sizes = new Map<JsonObject, number | undefined>();
  const measure = (schema: JsonObject, depth: number): number => {
    const known = sizes.get(schema);
    if (known !== undefined) return known;
    if (sizes.has(schema)) throw new SchemaNotCheckableError('the schema refers to itself without going deeper into the value', '');
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
 * On how many characters a pattern of a peer is tried; 0 where it is not. A simple look, no proof: what repeats a group with a repetition,
 * an option or a choice in it may take exponential time, as may a back-reference; any other repetition multiplies the time by the length.
 */
export function peerPatternLimit(pattern: string): number {
  const { isRisky, repetitions, choices } = lookAt(pattern);
  if (isRisky || choices > MAX_CHOICES || pattern.length > MAX_PATTERN_CHARACTERS || !compiles(pattern, 'u')) return 0;
  const isAnchored = pattern.startsWith('^') && !pattern.includes('|');
  return Math.min(MAX_PATTERN_CHARACTERS, Math.round(MAX_MATCH_STEPS ** (1 / (repetitions + (isAnchored ? 0 : 1)))));
}

/** Escapes, classes, the ends of groups, alternatives, and quantifiers. Other characters stand for themselves. */
const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|:|<[^>]*>))?|[)|*+?]|\{\d+(?:,\d*)?\}/gsu;

function lookAt(pattern: string): { readonly isRisky: boolean; readonly repetitions: number; readonly choices: number } {
  /** For each open group, whether something in it can match in several ways. */
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
