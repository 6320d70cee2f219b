/**
 * Checks a value against a schema, keyword by keyword, and collects issues. Evaluates no code. The number of steps is limited, because
 * the value, and perhaps the schema, comes from a peer.
 *
 * @see JSON Schema 2020-12, core and validation
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { SchemaIssue } from '../contracts/schema-adapter.ts';
import type { KeywordCheck } from './keywords.ts';

/** The maximum number of issues that are collected. */
const MAX_ISSUES = 20;
/** The maximum number of steps of one check. A subschema, a member and a character of a matched string are one step each. */
const MAX_STEPS = 20_000_000;
/** The time limit of one check, on platforms whose clock advances while code runs. */
const MAX_CHECK_MS = 2000;
/** The maximum depth of nested schemas, including those behind references. */
const MAX_DEPTH = 512;
/** The number of steps between two reads of the clock. */
const STEPS_A_LOOK = 512;

export const TOO_COSTLY = 'takes too long to check against its schema';

/** Thrown to end a check early. The value counts as invalid, with this message as its issue. */
export class Unchecked extends Error {
  readonly path: SchemaIssue['path'];

  constructor(message: string, path: SchemaIssue['path'] = []) {
    super(message);
    this.path = path;
  }
}

/** A `pattern`, and the length of the longest string that it is tested against; 0 if it is not tested. */
export interface Pattern {
  readonly regex: RegExp;
  readonly maxCharacters: number;
}

/** A schema, prepared for checks. */
export interface EvaluationRules {
  /** The checks of each schema object, in order. */
  readonly checks: ReadonlyMap<JsonObject, readonly KeywordCheck[]>;
  /** The target of each `$ref`, by the schema that contains the `$ref`. */
  readonly targets: ReadonlyMap<JsonObject, JsonValue>;
  /** The patterns of the schema, by source. */
  readonly patterns: ReadonlyMap<string, Pattern>;
  /** The issue of a string that is too long for its pattern; if undefined, such a string passes. */
  readonly tooLong: string | undefined;
}

/** One check of one value. */
export class Evaluation {
  readonly issues: SchemaIssue[] = [];
  readonly rules: EvaluationRules;
  /**
   * The names and indices already evaluated in the current object or array; `unevaluated*` apply to the rest. `ALL` means all.
   * Entries of a nested value, or of a branch that does not match, are removed again.
   */
  readonly evaluated: (string | number | symbol)[] = [];
  /** True within an odd number of `not`. There an untested pattern counts as not matching, so that the value still passes. */
  isNegated = false;
  /** The path from the root of the value to the part being checked. */
  readonly #path: (string | number)[] = [];
  /** Above 0 while no issues are collected: in branches, conditions and `contains`. */
  #quiet = 0;
  #depth = 0;
  #steps = 0;
  #nextLook = STEPS_A_LOOK;
  #endsAt = Number.NaN;

  constructor(rules: EvaluationRules) {
    this.rules = rules;
  }

  /**
   * Tells whether the value matches the schema, and collects issues.
   *
   * @throws {Unchecked} The check takes too long, or a string is too long for its pattern.
   */
  check(schema: JsonValue | undefined, value: JsonValue): boolean {
    this.spend(1);
    if (!isJsonObject(schema)) return schema !== false || this.fail('is not allowed');
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new Unchecked(TOO_COSTLY);
    const from = this.evaluated.length;
    let fits = true;
    for (const check of this.rules.checks.get(schema) ?? []) {
      if (!check(this, schema, value, from)) fits = false;
      if (!fits && !this.isLoud) break;
    }
    this.#depth -= 1;
    return fits;
  }

  /** Checks a member or item of the value. */
  checkPart(schema: JsonValue | undefined, part: JsonValue, key: string | number): boolean {
    const from = this.evaluated.length;
    this.#path.push(key);
    const fits = this.check(schema, part);
    this.#path.pop();
    this.#forget(from);
    return fits;
  }

  /** Tells whether the value matches, without collecting issues. */
  fitsBranch(schema: JsonValue, value: JsonValue): boolean {
    const from = this.evaluated.length;
    this.#quiet += 1;
    const fits = this.check(schema, value);
    this.#quiet -= 1;
    if (!fits) this.#forget(from);
    return fits;
  }

  /** Tells whether a member or item of the value matches, without collecting issues. */
  fitsPart(schema: JsonValue, part: JsonValue, key: string | number): boolean {
    this.#quiet += 1;
    const fits = this.checkPart(schema, part, key);
    this.#quiet -= 1;
    return fits;
  }

  /** @returns undefined if a peer's pattern is not tested. */
  matches(pattern: string, text: string): boolean | undefined {
    const { regex, maxCharacters } = this.rules.patterns.get(pattern) as Pattern;
    this.spend(Math.min(text.length, maxCharacters) + 1);
    if (text.length <= maxCharacters && maxCharacters > 0) return regex.test(text);
    if (this.rules.tooLong !== undefined) throw new Unchecked(this.rules.tooLong, [...this.#path]);
    return undefined;
  }

  get isLoud(): boolean {
    return this.#quiet === 0 && this.issues.length < MAX_ISSUES;
  }

  /** Adds an issue. @param key The name of a member that is missing or not allowed. */
  fail(message: string | (() => string), key?: string): false {
    if (this.isLoud)
      this.issues.push({
        message: typeof message === 'string' ? message : message(),
        path: key === undefined ? [...this.#path] : [...this.#path, key],
      });
    return false;
  }

  /** Counts steps, and throws `Unchecked` after too many steps or too much time. A short check never reads the clock. */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps < this.#nextLook) return;
    const now = performance.now();
    this.#nextLook = this.#steps + STEPS_A_LOOK;
    if (Number.isNaN(this.#endsAt)) this.#endsAt = now + MAX_CHECK_MS;
    if (this.#steps > MAX_STEPS || now > this.#endsAt) throw new Unchecked(TOO_COSTLY);
  }

  #forget(from: number): void {
    while (this.evaluated.length > from) this.evaluated.pop();
  }
}
