/** Interfaces of adapters that convert the schemas of any library to JSON Schema, and check values against them. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';

/** One reason why a value does not match its schema. */
export interface SchemaIssue {
  readonly message: string;
  /** The path from the root of the value to the invalid part, for example `['items', 0, 'price']`. */
  readonly path: readonly (string | number)[];
}

/** The result of checking a value: the value with defaults and conversions applied, or the reasons why it is not valid. */
export type SchemaOutcome<T> = { readonly value: T } | { readonly issues: readonly SchemaIssue[] };

/** A schema of any library, converted to JSON Schema and able to check a value. */
export interface SchemaAdapter<T = unknown> {
  /** The JSON Schema that the peer sees, for example in `tools/list`. */
  readonly jsonSchema: JsonObject;
  validate(value: unknown): SchemaOutcome<T> | Promise<SchemaOutcome<T>>;
}

/** Compiles JSON Schemas to checks. Must not evaluate code or fetch anything. With schemas from peers it must limit time and memory. */
export interface JsonSchemaValidator {
  /** @returns The check of a value. @throws {MortiseError} `ERR_SCHEMA_NOT_CHECKABLE`: wrong dialect, keyword, reference or size. */
  compile(schema: JsonValue): (value: unknown) => readonly SchemaIssue[];
}
