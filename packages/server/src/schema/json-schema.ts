/** Adapters for plain JSON Schemas: clients see the schema as written, and a `JsonSchemaValidator` checks values. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { dialectOf } from '@mortise/protocol/checks';
import type { JsonSchemaValidator, SchemaAdapter, SchemaIssue } from '@mortise/protocol/contracts';

type Check = (value: unknown) => readonly SchemaIssue[];

/**
 * Adapts a plain JSON Schema. With a `validator` the schema is compiled at once. Without one, the first check loads the default validator of
 * `@mortise/protocol/json-schema`, so that a server without plain JSON Schemas never loads it. A `default` in the schema is shown but not applied.
 *
 * @throws {Error} The schema contains something other than JSON, or cannot be compiled.
 */
export function adaptJsonSchema(schema: object, validator?: JsonSchemaValidator): SchemaAdapter {
  const jsonSchema = copy(schema);
  if (!validator && dialectOf(jsonSchema) === undefined)
    throw new TypeError(
      `is written in the dialect ${JSON.stringify(jsonSchema['$schema'])}, which the default validator cannot check: use 2020-12 or draft-07, or give the server a "validator"`,
    );
  let check = validator && compile(validator, jsonSchema);
  let loading: Promise<Check> | undefined;
  return {
    jsonSchema,
    validate(value) {
      if (check) return toOutcome(value, check(value));
      loading ??= loadDefaultValidator().then((loaded) => (check = compile(loaded, jsonSchema)));
      return loading.then((loaded) => toOutcome(value, loaded(value)));
    },
  };
}

function toOutcome(value: unknown, issues: readonly SchemaIssue[]): ReturnType<SchemaAdapter['validate']> {
  return issues.length === 0 ? { value } : { issues };
}

/** Copies a JSON Schema, so that later changes by the program have no effect. */
function copy(schema: object): JsonObject {
  try {
    return JSON.parse(JSON.stringify(schema)) as JsonObject;
  } catch (cause) {
    throw new TypeError('is not JSON: it contains a cycle or a BigInt', { cause });
  }
}

function compile(validator: JsonSchemaValidator, schema: JsonObject): Check {
  try {
    return validator.compile(schema);
  } catch (cause) {
    throw new TypeError(`cannot be checked: ${(cause as Error).message}`, { cause });
  }
}

let defaultValidator: Promise<JsonSchemaValidator> | undefined;

function loadDefaultValidator(): Promise<JsonSchemaValidator> {
  defaultValidator ??= import('@mortise/protocol/json-schema').then(({ createJsonSchemaValidator }) =>
    createJsonSchemaValidator({ from: 'author' }),
  );
  return defaultValidator;
}
