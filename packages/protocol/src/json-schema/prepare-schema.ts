/**
 * Makes of a schema what the interpreter runs: a copy with the keywords that are known, each pattern behind a bound on the length of the
 * text, and each `enum` with the words of its error.
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { SchemaNotCheckableError } from '../errors.ts';
import { compiles, type Dialect, KEYWORDS, mapSubschemas } from './check-json-schema.ts';

/** Decides on what texts a pattern is tried. */
export interface PatternRules {
  /** The most characters of a text that the pattern is tried on; 0 leaves the pattern out. */
  maxCharacters(pattern: string): number;
  /** The error for a longer text; undefined lets it pass. */
  readonly tooLong: string | undefined;
}

/** What the interpreter runs. */
export interface PreparedSchema {
  readonly root: JsonObject | boolean;
  /** The longest name of a member that may be held against patterns; undefined where there are none. */
  readonly maxNameCharacters: number | undefined;
  /** Whether one step may look at much of the value: it compares objects, or holds names against patterns. */
  readonly hasCostlySteps: boolean;
}

/** More items take too long to compare with one another. */
const MAX_UNIQUE_ITEMS = 5000;
/** How much of an `enum` or `const` an error shows. */
const SHOWN_CHARACTERS = 200;

/** No format of JSON Schema, but one of the interpreter's, whose regular expression may take exponential time. */
const UNSAFE_FORMATS: readonly unknown[] = ['url'];

/**
 * @param prototype What every schema object of the copy inherits from.
 * @throws {SchemaNotCheckableError} A pattern is not a regular expression with the `u` flag.
 */
export function prepareSchema(schema: JsonObject | boolean, dialect: Dialect, patterns: PatternRules, prototype: object): PreparedSchema {
  const copier = new SchemaCopier(dialect, patterns, prototype);
  const root = typeof schema === 'boolean' ? schema : copier.copy(schema);
  return { root, maxNameCharacters: copier.maxNameCharacters, hasCostlySteps: copier.hasCostlySteps };
}

class SchemaCopier {
  maxNameCharacters: number | undefined;
  hasCostlySteps = false;
  readonly #dialect: Dialect;
  readonly #patterns: PatternRules;
  readonly #prototype: object;

  constructor(dialect: Dialect, patterns: PatternRules, prototype: object) {
    this.#dialect = dialect;
    this.#patterns = patterns;
    this.#prototype = prototype;
  }

  /** @param isNegated Whether it stands within a `not`: there a pattern that is not tried must count the other way. */
  copy(schema: JsonObject, isNegated = false): JsonObject {
    const copy = Object.create(this.#prototype) as Record<string, JsonValue | undefined>;
    const copied = mapSubschemas(schema, (sub, keyword) => this.copy(sub, isNegated !== (keyword === 'not')));
    for (const [keyword, value] of Object.entries(copied))
      if (KEYWORDS.has(keyword) && this.#isRead(keyword, schema)) copy[keyword] = value;
    if (copy['$dynamicRef'] !== undefined) throw new SchemaNotCheckableError('"$dynamicRef" is not supported: use "$ref"', '');
    const { $dynamicAnchor, format, pattern, patternProperties, uniqueItems, enum: values, const: only } = copy;
    const added: JsonObject[] = [];
    if ($dynamicAnchor !== undefined) copy['$anchor'] = $dynamicAnchor;
    if (UNSAFE_FORMATS.includes(format)) delete copy['format'];
    if (typeof pattern === 'string') {
      delete copy['pattern'];
      added.push(this.#guardPattern(pattern, isNegated));
    }
    if (isJsonObject(patternProperties)) copy['patternProperties'] = this.#guardNames(patternProperties);
    if (uniqueItems === true) {
      delete copy['uniqueItems'];
      this.hasCostlySteps = true;
      const tooMany = refuse(`has more than ${MAX_UNIQUE_ITEMS} items, too many to compare with one another`);
      added.push({ if: { maxItems: MAX_UNIQUE_ITEMS }, then: { uniqueItems }, else: tooMany });
    }
    if (Array.isArray(values)) copy['enum'] = this.#describe(values);
    if (only !== undefined) {
      delete copy['const'];
      added.push({ enum: this.#describe([only]) });
    }
    if (added.length > 0) copy['allOf'] = [...((copy['allOf'] as readonly JsonValue[] | undefined) ?? []), ...added];
    return copy;
  }

  /** Beside `$ref`, draft-07 reads definitions only. */
  #isRead(keyword: string, { $ref }: JsonObject): boolean {
    return this.#dialect !== '7' || $ref === undefined || ['$ref', 'definitions', '$defs'].includes(keyword);
  }

  #guardPattern(pattern: string, isNegated: boolean): JsonObject {
    const { tooLong } = this.#patterns;
    const maxLength = this.#limitOf(pattern);
    const untried = (tooLong !== undefined) === isNegated ? {} : refuse(tooLong ?? 'is not checked');
    return maxLength === 0 ? untried : { if: { maxLength }, then: { pattern }, else: untried };
  }

  /** A pattern that is left out takes every name, so that `additionalProperties: false` beside it refuses none. */
  #guardNames(patternProperties: JsonObject): JsonObject {
    this.hasCostlySteps = true;
    return Object.fromEntries(
      Object.entries(patternProperties).map(([pattern, schema]) => {
        const limit = this.#limitOf(pattern);
        if (limit === 0) return ['', true];
        this.maxNameCharacters = Math.min(limit, this.maxNameCharacters ?? Infinity);
        return [pattern, schema];
      }),
    );
  }

  #limitOf(pattern: string): number {
    const limit = this.#patterns.maxCharacters(pattern);
    if (limit > 0 && !compiles(pattern, 'u'))
      throw new SchemaNotCheckableError(
        `the pattern ${JSON.stringify(pattern.slice(0, 60))} is not a regular expression with the "u" flag, as JSON Schema has them`,
        '',
      );
    return limit;
  }

  /** The interpreter writes a whole `enum` into the error of each value that it does not hold, of which there may be thousands. */
  #describe(values: readonly JsonValue[]): readonly JsonValue[] {
    this.hasCostlySteps ||= values.some((value) => typeof value === 'object' && value !== null);
    const shown = JSON.stringify(values.length === 1 ? values[0] : values);
    const cut = shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS)}...` : shown;
    return withMessage(values, `must be ${values.length === 1 ? '' : 'one of '}${cut}`);
  }
}

/** A schema that no value fits, with the words of its error. */
function refuse(message: string): JsonObject {
  return { enum: withMessage([], message) };
}

/** An `enum` whose error the interpreter writes as `message`. */
function withMessage(values: readonly JsonValue[], message: string): readonly JsonValue[] {
  return Object.defineProperty([...values], 'toJSON', { value: () => message });
}
