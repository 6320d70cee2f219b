/**
 * Checks a value against a schema, keyword by keyword, and says in one short sentence each what is wrong where. Nothing is evaluated as
 * code. Every step is counted, since the value, and perhaps the schema, is a peer's.
 *
 * @see JSON Schema 2020-12, core and validation
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { SchemaIssue } from '../contracts/schema-adapter.ts';
import type { KeywordCheck } from './keywords.ts';

/** The most issues that are named. */
const MAX_ISSUES = 20;
/** The steps of one check: subschemas that meet a part of the value, members, characters of texts that are matched. */
const MAX_STEPS = 20_000_000;
/** How long one check may take, where the platform's clock runs on. */
const MAX_CHECK_MS = 2000;
/** Schemas within one another, references followed, down to the deepest part of the value. */
const MAX_DEPTH = 512;
/** How many steps lie between two looks at the clock. */
const STEPS_A_LOOK = 512;

export const TOO_COSTLY = 'takes too long to check against its schema';

/** Ends a check without a verdict. The message says why the value does not pass. */
export class Unchecked extends Error {
  readonly path: SchemaIssue['path'];

  constructor(message: string, path: SchemaIssue['path'] = []) {
    super(message);
    this.path = path;
  }
}

/** A `pattern`, and the longest text that it is tried on; 0 where it is not tried. */
export interface Pattern {
  readonly regex: RegExp;
  readonly maxCharacters: number;
}

/** What a value is checked against, and by which rules. */
export interface EvaluationRules {
  /** What is checked for each schema object, in order. */
  readonly checks: ReadonlyMap<JsonObject, readonly KeywordCheck[]>;
  /** Where each `$ref` leads, by the schema that holds it. */
  readonly targets: ReadonlyMap<JsonObject, JsonValue>;
  /** Every pattern of the schema, by its source. */
  readonly patterns: ReadonlyMap<string, Pattern>;
  /** Why a text that is too long for its pattern does not pass; undefined lets it pass. */
  readonly tooLong: string | undefined;
}

/** One check of one value. */
export class Evaluation {
  readonly issues: SchemaIssue[] = [];
  readonly rules: EvaluationRules;
  /**
   * Names and indices of what was checked in the object or array at hand: `unevaluated*` apply to the rest. `ALL` stands for all of it.
   * What belongs to a part, or to a branch that does not fit, is taken back.
   */
  readonly evaluated: (string | number | symbol)[] = [];
  /** Within an odd number of `not`: there a pattern that is not tried must fail, so that the whole passes. */
  isNegated = false;
  /** From the root of the value to the part that is checked. */
  readonly #path: (string | number)[] = [];
  /** Above 0 where only the verdict counts: in branches, conditions and `contains`. */
  #quiet = 0;
  #depth = 0;
  #steps = 0;
  #nextLook = STEPS_A_LOOK;
  #endsAt = Number.NaN;

  constructor(rules: EvaluationRules) {
    this.rules = rules;
  }

  /**
   * Whether the value fits.
   *
   * @throws {Unchecked} It takes too long, or a text is too long for its pattern.
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

  /** Checks a part of the value. */
  checkPart(schema: JsonValue | undefined, part: JsonValue, key: string | number): boolean {
    const from = this.evaluated.length;
    this.#path.push(key);
    const fits = this.check(schema, part);
    this.#path.pop();
    this.#forget(from);
    return fits;
  }

  /** Whether the value fits, without an issue where it does not. */
  fitsBranch(schema: JsonValue, value: JsonValue): boolean {
    const from = this.evaluated.length;
    this.#quiet += 1;
    const fits = this.check(schema, value);
    this.#quiet -= 1;
    if (!fits) this.#forget(from);
    return fits;
  }

  /** Whether a part of the value fits, without an issue where it does not. */
  fitsPart(schema: JsonValue, part: JsonValue, key: string | number): boolean {
    this.#quiet += 1;
    const fits = this.checkPart(schema, part, key);
    this.#quiet -= 1;
    return fits;
  }

  /** @returns undefined where a peer's pattern is not tried. */
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

  /** @param key Of a member that is missing or not allowed. */
  fail(message: string | (() => string), key?: string): false {
    if (this.isLoud)
      this.issues.push({
        message: typeof message === 'string' ? message : message(),
        path: key === undefined ? [...this.#path] : [...this.#path, key],
      });
    return false;
  }

  /** Ends a check that takes too many steps, or too long. A short one never looks at the clock. */
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
