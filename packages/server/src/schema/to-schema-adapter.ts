/** Turns whatever a program gives as a schema into the one form that the server works with. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { JsonSchemaValidator, SchemaAdapter } from '@mortise/protocol/contracts';
import { checkJsonSchema } from './check-json-schema.ts';
import { adaptJsonSchema } from './json-schema.ts';
import { adaptRawShape, isRawShape } from './raw-shape.ts';
import { withObjectRoot } from './root-object.ts';
import { unsupported, type SchemaPlace, type SchemaPurpose } from './schema-purpose.ts';
import { adaptStandardSchema } from './standard.ts';
import { isStandardSchema } from './standard-schema.ts';

/** How schemas are adapted. */
export interface SchemaOptions {
  /** Checks values against plain JSON Schemas. @default that of `@mortise/protocol/json-schema`, loaded when first needed */
  readonly validator?: JsonSchemaValidator | undefined;
  /** Narrows what peers are told further. @default none @throws {SchemaUnsupportedError} */
  readonly narrow?: ((schema: JsonObject, place: SchemaPlace) => JsonObject) | undefined;
}

/**
 * Adapts a raw shape, a Standard Schema that can tell itself as JSON Schema, a plain JSON Schema, or an adapter made elsewhere.
 *
 * Nothing is left out of what peers are told: a schema without words in JSON Schema is refused. Tools' inputs, prompts'
 * arguments and forms have an object at their root; a tool's output may be anything.
 *
 * @param purpose Decides which side of a conversion is told, and whether the root must be an object.
 * @param name The tool's or prompt's name, for messages.
 * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`, with the reason and what to do.
 * @see 2026-07-28 basic/index#json-schema-usage
 */
export function toSchemaAdapter(schema: unknown, purpose: SchemaPurpose, name: string, options: SchemaOptions = {}): SchemaAdapter {
  const place = { purpose, name };
  const adapter = adapt(schema, place, options);
  const jsonSchema = shapeRoot(adapter.jsonSchema, place, options);
  checkJsonSchema(jsonSchema, place);
  return jsonSchema === adapter.jsonSchema ? adapter : withJsonSchema(adapter, jsonSchema);
}

function shapeRoot(schema: JsonObject, place: SchemaPlace, { narrow }: SchemaOptions): JsonObject {
  if (place.purpose === 'tool output') return schema;
  const rooted = withObjectRoot(schema, place);
  return narrow ? narrow(rooted, place) : rooted;
}

function adapt(schema: unknown, place: SchemaPlace, options: SchemaOptions): SchemaAdapter {
  if (isStandardSchema(schema)) return adaptStandardSchema(schema, place);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw unsupported(
      place,
      `must be a shape, a schema or a JSON Schema, got ${schema === null ? 'null' : Array.isArray(schema) ? 'an array' : typeof schema}`,
    );
  }
  if (isSchemaAdapter(schema)) return schema;
  if (isZodV3(schema))
    throw unsupported(place, 'is a zod 3 schema. Wrap it with fromZodV3(convert) of @mortise/server/zod-v3, or import from zod 4');
  return isRawShape(schema) ? adaptRawShape(schema, place) : adaptJsonSchema(schema, place, options.validator);
}

function isSchemaAdapter(schema: object): schema is SchemaAdapter {
  const { jsonSchema, validate } = schema as Partial<SchemaAdapter>;
  return typeof validate === 'function' && typeof jsonSchema === 'object' && jsonSchema !== null;
}

function isZodV3(schema: object): boolean {
  return '_def' in schema && 'safeParse' in schema;
}

function withJsonSchema(adapter: SchemaAdapter, jsonSchema: JsonObject): SchemaAdapter {
  return { jsonSchema, validate: (value) => adapter.validate(value) };
}
