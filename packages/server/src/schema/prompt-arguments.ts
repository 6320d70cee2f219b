/** A prompt's arguments as lists show them, from the schema that checks them. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { PromptArgument } from '@mortise/protocol/model';
import { RegistrationError } from '../errors.ts';

/**
 * One argument a property, in the schema's order, with its title and description.
 *
 * @see 2026-07-28 server/prompts#prompt
 */
export function toPromptArguments(schema: JsonObject): readonly PromptArgument[] {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required: readonly JsonValue[] = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, property]) => {
    const { title, description } = isJsonObject(property) ? property : {};
    return {
      name,
      ...(typeof title === 'string' ? { title } : undefined),
      ...(typeof description === 'string' ? { description } : undefined),
      required: required.includes(name),
    };
  });
}

/** What in zod makes a value of a string, by the type of the value. */
const REMEDIES: Readonly<Record<string, string>> = {
  number: 'z.coerce.number()',
  integer: 'z.coerce.number()',
  boolean: 'z.stringbool()',
  array: 'z.string().transform(...)',
  object: 'z.string().transform(...)',
};

/**
 * Refuses arguments that must be given and that no string fits: on the wire each argument is a string.
 *
 * @param schema As the program wrote it. @param jsonSchema What it was converted to.
 * @throws {RegistrationError} `ERR_REGISTRATION`, with what to write instead.
 * @see 2026-07-28 server/prompts#getting-a-prompt
 */
export function refuseNonText(prompt: string, schema: object, jsonSchema: JsonObject): void {
  const { properties, required } = jsonSchema;
  if (!isJsonObject(properties) || !Array.isArray(required)) return;
  const { shape = schema } = schema as { readonly shape?: object };
  for (const [name, property] of Object.entries(properties)) {
    const types = typesOf(property).filter((each) => each !== 'null');
    const [type] = types;
    const remedy = types.length === 1 && typeof type === 'string' ? REMEDIES[type] : undefined;
    // A plain JSON Schema has no such member.
    const field = (shape as Readonly<Record<string, unknown>>)[name];
    if (remedy === undefined || !required.includes(name) || takesMore(field)) continue;
    throw new RegistrationError(
      `prompt "${prompt}": argument "${name}" takes no string (its type is ${type}), and arguments of prompts are strings: use ${field === undefined ? '"type": "string"' : `${remedy} or z.string()`}`,
    );
  }
}

/** The types of a property, those of its alternatives included. */
function typesOf(property: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  if (!isJsonObject(property)) return [];
  const { type, anyOf } = property;
  return Array.isArray(anyOf) ? anyOf.flatMap(typesOf) : [type].flat();
}

/** Whether a field of zod takes more than its JSON Schema says: `z.coerce` any string, a default nothing at all. */
function takesMore(field: unknown): boolean {
  const { _zod, _def } = (field ?? {}) as { readonly _zod?: { readonly def: ZodDefinition }; readonly _def?: ZodDefinition };
  const { coerce, defaultValue, innerType } = _zod?.def ?? _def ?? {};
  return coerce === true || defaultValue !== undefined || (innerType !== undefined && takesMore(innerType));
}

interface ZodDefinition {
  readonly coerce?: unknown;
  readonly defaultValue?: unknown;
  readonly innerType?: unknown;
}
