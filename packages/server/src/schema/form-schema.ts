/** Brings an object schema into the narrow form that elicitation has: flat fields of a few kinds, and nothing else at the root. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';

const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time'];
const SCALARS: readonly unknown[] = ['string', 'number', 'integer', 'boolean'];

/**
 * What a client could not show is refused. `additionalProperties`, which forms do not have, is left out: a form never sends
 * fields that it does not have.
 *
 * @throws {TypeError} Naming the field and what a form can have instead.
 * @see 2026-07-28 client/elicitation#requested-schema
 */
export function toFormSchema(schema: JsonObject): JsonObject {
  const { $schema, type, properties, required } = schema;
  if (!isJsonObject(properties)) throw new TypeError('must have its fields under "properties"');
  for (const [name, field] of Object.entries(properties)) {
    const fault = findFault(field);
    if (fault !== undefined) throw new TypeError(`field "${name}" ${fault}`);
  }
  return { ...($schema === undefined ? undefined : { $schema }), type, properties, ...(required === undefined ? undefined : { required }) };
}

function findFault(field: JsonValue | undefined): string | undefined {
  if (!isJsonObject(field)) return 'must be a schema';
  const { type, format, items } = field;
  if (type === 'array')
    return isChoice(items) ? undefined : 'is a list: a form has lists of choices only, as an array of an enum of strings';
  if (!SCALARS.includes(type))
    return `is ${type === undefined ? 'without one type' : `of type ${JSON.stringify(type)}`}: a form has strings, numbers, integers, booleans and choices, and does not nest`;
  if (type === 'string' && format !== undefined && !FORMATS.includes(format))
    return `has the format ${JSON.stringify(format)}: a form has ${FORMATS.join(', ')}`;
  return undefined;
}

/** One of an enum of strings, or of titled constants. */
function isChoice(items: JsonValue | undefined): boolean {
  if (!isJsonObject(items)) return false;
  const { enum: values, anyOf } = items;
  return (
    (Array.isArray(values) && values.every((value: JsonValue) => typeof value === 'string')) ||
    (Array.isArray(anyOf) && anyOf.every((each: JsonValue) => isJsonObject(each) && typeof each['const'] === 'string'))
  );
}
