/**
 * How schemas of any library, or plain JSON Schema, are shown to peers and checked.
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  readonly message: string;
  /** From the root to the place, for example `['items', 0, 'price']`. */
  readonly path: readonly (string | number)[];
}

/** What a check found: the value with defaults and conversions, or the issues. */
export type SchemaOutcome<T> = { readonly value: T } | { readonly issues: readonly SchemaIssue[] };

/** A schema that can be converted to JSON Schema and can check a value. */
export interface SchemaAdapter<T = unknown> {
  /** The JSON Schema shown to peers. */
  readonly jsonSchema: JsonObject;
  validate(value: unknown): SchemaOutcome<T> | Promise<SchemaOutcome<T>>;
}

/** Compiles JSON Schemas. Must not evaluate code or fetch anything; one that is given schemas of peers must bound what they may cost. */
export interface JsonSchemaValidator {
  /** @throws {MortiseError} `ERR_SCHEMA_NOT_CHECKABLE`, with the reason: dialect, keyword, reference or size. */
  compile(schema: JsonValue): (value: unknown) => readonly SchemaIssue[];
}
