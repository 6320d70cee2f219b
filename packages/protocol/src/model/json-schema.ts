/** JSON Schemas as they travel: plain JSON objects, open to every keyword. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** A JSON Schema. Without `$schema` it is read as 2020-12. */
export interface JsonSchemaObject extends JsonObject {
  readonly $schema?: string | undefined;
}

/** A JSON Schema whose root is an object, as tools' inputs are. */
export interface ObjectJsonSchema extends JsonSchemaObject {
  readonly type: 'object';
  readonly properties?: JsonObject | undefined;
  readonly required?: readonly string[] | undefined;
}
