/** Plain JSON Schemas as adapters: shown as they were written, checked by a `JsonSchemaValidator`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { dialectOf } from '@mortise/protocol/checks';
import type { JsonSchemaValidator, SchemaAdapter, SchemaIssue, SchemaOutcome } from '@mortise/protocol/contracts';
import { reasonOf, unsupported, type SchemaPlace } from './schema-purpose.ts';

type Check = (value: unknown) => readonly SchemaIssue[];

/**
 * With a `validator` the schema is compiled now. Without one the default of `@mortise/protocol/json-schema` is loaded by the first check,
 * so that a server without plain JSON Schemas never loads it. A `default` in the schema is shown to peers and not applied.
 *
 * @throws {SchemaUnsupportedError} Where the schema is not JSON, or `validator` cannot check it.
 */
export function adaptJsonSchema(schema: object, place: SchemaPlace, validator?: JsonSchemaValidator): SchemaAdapter {
  const jsonSchema = toJson(schema, place);
  if (validator === undefined && dialectOf(jsonSchema) === undefined)
    throw unsupported(
      place,
      `is written in the dialect ${JSON.stringify(jsonSchema['$schema'])}, which the default validator cannot check: use 2020-12 or draft-07, or give the server a "validator"`,
    );
  let check = validator === undefined ? undefined : compile(validator, jsonSchema, place);
  let loading: Promise<Check> | undefined;
  return {
    jsonSchema,
    validate(value) {
      if (check !== undefined) return toOutcome(value, check(value));
      loading ??= loadDefaultValidator().then((loaded) => (check = compile(loaded, jsonSchema, place)));
      return loading.then((loaded) => toOutcome(value, loaded(value)));
    },
  };
}

function toOutcome(value: unknown, issues: readonly SchemaIssue[]): SchemaOutcome<unknown> {
  return issues.length === 0 ? { value } : { issues };
}

/** A copy of its own, so that a change by the author after registration shows nowhere. */
function toJson(schema: object, place: SchemaPlace): JsonObject {
  try {
    return JSON.parse(
      JSON.stringify(schema, (key, value: unknown) => {
        if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`"${key}" is a ${typeof value}`);
        return value;
      }),
    ) as JsonObject;
  } catch (cause) {
    throw unsupported(place, `is not JSON: ${reasonOf(cause)}`, cause);
  }
}

function compile(validator: JsonSchemaValidator, schema: JsonObject, place: SchemaPlace): Check {
  try {
    return validator.compile(schema);
  } catch (cause) {
    throw unsupported(place, `cannot be checked: ${reasonOf(cause)}`, cause);
  }
}

let defaultValidator: Promise<JsonSchemaValidator> | undefined;

function loadDefaultValidator(): Promise<JsonSchemaValidator> {
  defaultValidator ??= import('@mortise/protocol/json-schema').then(({ createJsonSchemaValidator }) =>
    createJsonSchemaValidator({ from: 'author' }),
  );
  return defaultValidator;
}
