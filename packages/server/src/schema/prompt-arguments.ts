/** A prompt's arguments as lists show them, from the schema that checks them; and which of them no text fits: on the wire each is a string. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { PromptArgument } from '@mortise/protocol/model';
import { RegistrationError } from '../errors.ts';
import { isRawShape } from './raw-shape.ts';

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

/** A schema of zod 4, as far as it is looked into. */
interface ZodNode {
  readonly _zod: { readonly def: { readonly type?: unknown; readonly coerce?: unknown; readonly innerType?: unknown } };
}

/** Wrappers that leave what is inside to decide about a text. */
const WRAPPERS: ReadonlySet<unknown> = new Set(['optional', 'nullable', 'nonoptional', 'readonly']);

const OWN_CODE = 'z.string().transform(...)';
/** Kinds that take no text, in zod and in JSON Schema, and what of zod makes them of one. */
const REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ['number', 'z.coerce.number()'],
  ['integer', 'z.coerce.number()'],
  ['boolean', 'z.stringbool()'],
  ...['array', 'object', 'record', 'tuple', 'null'].map((kind) => [kind, OWN_CODE] as const),
]);

/**
 * Refuses arguments that must be given and that no text fits. Looks at plain JSON Schemas and at fields of zod 4; what another library's
 * schema takes cannot be known without a try. A field that may be left out passes: the prompt works without it.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: a field that must be given never can be.
 * @see 2026-07-28 server/prompts#getting-a-prompt
 */
export function refuseNonText(prompt: string, schema: object): void {
  for (const [name, field] of Object.entries(fieldsOf(schema)) as [string, unknown][]) {
    const kind = isZod(field) ? kindOfZod(field) : kindOfJson(field);
    const remedy = REMEDIES.get(kind);
    if (remedy === undefined) continue;
    const use = isZod(field) ? `${remedy} or z.string()` : '"type": "string"';
    throw new RegistrationError(
      `prompt "${prompt}": argument "${name}" takes no string (its type is ${kind}), and arguments of prompts are strings: use ${use}`,
    );
  }
}

function fieldsOf(schema: object): object {
  const { shape, properties, required } = schema as {
    readonly shape?: unknown;
    readonly properties?: unknown;
    readonly required?: unknown;
  };
  if ('~standard' in schema) return typeof shape === 'object' && shape !== null ? shape : {};
  if (isRawShape(schema)) return schema;
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.fromEntries(Object.entries(properties ?? {}).filter(([name]) => names.includes(name)));
}

/** The one kind that a JSON Schema takes; undefined where it may take a string, or does not say. */
function kindOfJson(field: unknown): string | undefined {
  if (!isJsonObject(field) || '~standard' in field) return undefined;
  const types = [field['type']].flat();
  return types.includes('string') || typeof types[0] !== 'string' ? undefined : types[0];
}

/** @param isRequired Whether a wrapper around it takes away that it may be left out. */
function kindOfZod({ _zod: { def } }: ZodNode, isRequired = false): string | undefined {
  const { type, innerType } = def;
  if (type === 'optional' && !isRequired) return undefined;
  if (WRAPPERS.has(type) && isZod(innerType)) return kindOfZod(innerType, isRequired || type === 'nonoptional');
  return def.coerce !== true && typeof type === 'string' ? type : undefined;
}

function isZod(field: unknown): field is ZodNode {
  return typeof field === 'object' && field !== null && '_zod' in field;
}
