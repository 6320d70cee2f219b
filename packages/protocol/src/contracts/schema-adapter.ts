/** Interfaces that convert schemas of any library to JSON Schema, and check values against them. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';

/** One error in a value. */
export interface SchemaIssue {
  readonly message: string;
  /** The path from the root to the error, for example `['items', 0, 'price']`. */
  readonly path: readonly (string | number)[];
}

/** The result of a check: the value with defaults and conversions applied, or the issues. */
export type SchemaOutcome<T> = { readonly value: T } | { readonly issues: readonly SchemaIssue[] };

/** A schema that can be converted to JSON Schema and can check a value. */
export interface SchemaAdapter<T = unknown> {
  /** The JSON Schema that peers get. */
  readonly jsonSchema: JsonObject;
  validate(value: unknown): SchemaOutcome<T> | Promise<SchemaOutcome<T>>;
}

/** Compiles JSON Schemas. Must not evaluate code or fetch anything. With schemas from peers it must limit time and memory. */
export interface JsonSchemaValidator {
  /** @throws {MortiseError} `ERR_SCHEMA_NOT_CHECKABLE`, with the reason: dialect, keyword, reference or size. */
  compile(schema: JsonValue): (value: unknown) => readonly SchemaIssue[];
}
