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

/** The maximum number of issues that one check of a value collects. */
const MAX_ISSUES = 20;
/** The maximum number of steps of one check of a value. Each subschema, member and character of a matched string is one step. */
const MAX_STEPS = 20_000_000;
/** The time limit of one check of a value, in milliseconds. Has an effect only where the clock advances while code runs. */
const MAX_CHECK_MS = 2000;
/** The maximum depth of nested schemas, including those behind references. */
const MAX_DEPTH = 512;
/** The number of steps after which the clock is read again. */
const STEPS_A_LOOK = 512;

export const TOO_COSTLY = 'takes too long to check against its schema';

/** Thrown to end the check of a value early. The value counts as invalid, with this message as its issue. */
export class Unchecked extends Error {
  readonly path: SchemaIssue['path'];

  constructor(message: string, path: SchemaIssue['path'] = []) {
    super(message);
    this.path = path;
  }
}

/** A compiled `pattern`, and the length of the longest string that is tested against it; 0 if none is tested. */
export interface Pattern {
  readonly regex: RegExp;
  readonly maxCharacters: number;
}

/** A JSON Schema, prepared for checks of values. */
export interface EvaluationRules {
  /** The keyword checks of each schema object, in the order in which they run. */
  readonly checks: ReadonlyMap<JsonObject, readonly KeywordCheck[]>;
  /** The target of each `$ref`, by the schema that contains the `$ref`. */
  readonly targets: ReadonlyMap<JsonObject, JsonValue>;
  /** The compiled patterns of the schema, by their source text. */
  readonly patterns: ReadonlyMap<string, Pattern>;
  /** The issue of a string that is too long to be tested against its pattern; if undefined, such a string counts as valid. */
  readonly tooLong: string | undefined;
}

/** The check of one value against one schema. */
export class Evaluation {
  readonly issues: SchemaIssue[] = [];
  readonly rules: EvaluationRules;
  /**
   * The member names or indices that keywords have already evaluated in the current object or array; `unevaluatedProperties` and
   * `unevaluatedItems` apply to the rest. `ALL` means all of them. Entries of a nested value, or of a branch that does not match, are
   * removed again.
   */
  readonly evaluated: (string | number | symbol)[] = [];
  /** True within an odd number of `not` keywords. There a pattern that is not tested counts as not matching, so the value still passes. */
  isNegated = false;
  /** The path from the root of the value to the part being checked. */
  readonly #path: (string | number)[] = [];
  /** Above 0 while no issues are collected, because a mismatch is allowed: in branches such as `anyOf`, conditions and `contains`. */
  #quiet = 0;
  #depth = 0;
  #steps = 0;
  #nextLook = STEPS_A_LOOK;
  #endsAt = Number.NaN;

  constructor(rules: EvaluationRules) {
    this.rules = rules;
  }

  /**
   * Tells whether a value matches a schema, and collects the issues if it does not.
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

  /** Checks a member or item of the current value against a schema. */
  checkPart(schema: JsonValue | undefined, part: JsonValue, key: string | number): boolean {
    const from = this.evaluated.length;
    this.#path.push(key);
    const fits = this.check(schema, part);
    this.#path.pop();
    this.#forget(from);
    return fits;
  }

  /** Tells whether the current value matches a branch such as one of `anyOf`, without collecting issues. */
  fitsBranch(schema: JsonValue, value: JsonValue): boolean {
    const from = this.evaluated.length;
    this.#quiet += 1;
    const fits = this.check(schema, value);
    this.#quiet -= 1;
    if (!fits) this.#forget(from);
    return fits;
  }

  /** Tells whether a member or item of the current value matches a schema, without collecting issues. */
  fitsPart(schema: JsonValue, part: JsonValue, key: string | number): boolean {
    this.#quiet += 1;
    const fits = this.checkPart(schema, part, key);
    this.#quiet -= 1;
    return fits;
  }

  /** Tests a string against a pattern. @returns undefined if a peer's pattern is not tested, because that could take too long. */
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

  /** Adds an issue at the current part of the value. @param key The name of a member that is missing or not allowed. */
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
