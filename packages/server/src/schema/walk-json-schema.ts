/** Which keywords of JSON Schema hold schemas: the one map that every walk over a schema goes by. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';

/** Keywords whose value is one schema. */
const ONE: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords whose value is a list of schemas; `items` may be one in older dialects. */
const LIST: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
/** Keywords whose value has schemas by name. */
const BY_NAME: ReadonlySet<string> = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/** Calls `visit` for each schema directly inside a schema, with the keyword it hangs on and its name or position there. */
export function forEachSubschema(schema: JsonObject, visit: (subschema: JsonValue, keyword: string, key?: string | number) => void): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    if (Array.isArray(value)) {
      if (LIST.has(keyword)) value.forEach((item: JsonValue, i) => visit(item, keyword, i));
    } else if (BY_NAME.has(keyword)) {
      if (isJsonObject(value)) for (const [name, sub] of Object.entries(value)) if (sub !== undefined) visit(sub, keyword, name);
    } else if (ONE.has(keyword)) visit(value, keyword);
  }
}

/** A copy of a schema in which each schema directly inside it is what `change` gives for it. */
export function mapSubschemas(schema: JsonObject, change: (subschema: JsonObject) => JsonObject): JsonObject {
  const changed = (value: JsonValue): JsonValue => (isJsonObject(value) ? change(value) : value);
  const copy: Record<string, JsonValue | undefined> = { ...schema };
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    if (Array.isArray(value)) {
      if (LIST.has(keyword)) copy[keyword] = value.map(changed);
    } else if (BY_NAME.has(keyword)) {
      if (isJsonObject(value))
        copy[keyword] = Object.fromEntries(Object.entries(value).map(([name, sub]) => [name, sub === undefined ? sub : changed(sub)]));
    } else if (ONE.has(keyword)) copy[keyword] = changed(value);
  }
  return copy;
}
