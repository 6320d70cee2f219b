/** Refuses arguments of prompts that must be given and that no text fits: on the wire each is a string. By structure: no library is imported. */

import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { RegistrationError } from '../errors.ts';
import { isRawShape } from './raw-shape.ts';

/** A schema of zod 4, as far as it is looked into. */
interface ZodNode {
  readonly _zod: { readonly def: { readonly type?: unknown; readonly coerce?: unknown; readonly innerType?: unknown } };
}

interface JsonSchemaNode {
  readonly properties?: unknown;
  readonly required?: unknown;
}

/** Wrappers that leave what is inside to decide about a text. */
const WRAPPERS: ReadonlySet<unknown> = new Set(['optional', 'nullable', 'nonoptional', 'readonly']);

/** Kinds that take no text, in zod and in JSON Schema, and what of zod makes them of one. */
const REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ['number', 'z.coerce.number()'],
  ['integer', 'z.coerce.number()'],
  ['boolean', 'z.stringbool()'],
]);
/** Kinds that only the program itself can make of a text. */
const OWN_KINDS: ReadonlySet<unknown> = new Set(['array', 'object', 'record', 'tuple', 'null']);

/**
 * Looks at plain JSON Schemas and at fields of zod 4; what another library's schema takes cannot be told without a try.
 *
 * A field that may be left out is let through: the prompt works without it.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: a field that must be given never can be.
 * @see 2026-07-28 server/prompts#getting-a-prompt
 */
export function refuseNonText(prompt: string, schema: object): void {
  for (const [name, field] of Object.entries(fieldsOf(schema)) as [string, unknown][]) {
    const kind = kindOf(field);
    const remedy = OWN_KINDS.has(kind) ? 'z.string().transform(...)' : REMEDIES.get(kind);
    if (remedy === undefined) continue;
    throw new RegistrationError(
      `prompt "${prompt}": argument "${name}" takes no string (its type is ${kind}), and arguments of prompts are strings: use ${isZod(field) ? `${remedy} or z.string()` : '"type": "string"'}`,
    );
  }
}

function fieldsOf(schema: object): object {
  const { shape } = schema as { readonly shape?: unknown };
  const fields = '~standard' in schema ? shape : isRawShape(schema) ? schema : requiredOf(schema as JsonSchemaNode);
  return typeof fields === 'object' && fields !== null ? fields : {};
}

function requiredOf({ properties, required }: JsonSchemaNode): object {
  if (typeof properties !== 'object' || properties === null || !Array.isArray(required)) return {};
  return Object.fromEntries(Object.entries(properties).filter(([name]) => required.includes(name)));
}

/** What a field takes alone; undefined where it may take more, or does not tell. */
function kindOf(field: unknown): string | undefined {
  if (isZod(field)) return kindOfZod(field);
  // Of several types those of a list are named that are not text; a schema of another library has no word here.
  if (!isJsonObject(field) || '~standard' in field) return undefined;
  const types = [field['type']].flat();
  return types.includes('string') || typeof types[0] !== 'string' ? undefined : types[0];
}

/** @param isRequired Whether something around it takes nothing but what is there. */
function kindOfZod({ _zod: { def } }: ZodNode, isRequired = false): string | undefined {
  const { type, innerType } = def;
  if (type === 'optional' && !isRequired) return undefined;
  if (WRAPPERS.has(type) && isZod(innerType)) return kindOfZod(innerType, isRequired || type === 'nonoptional');
  return def.coerce !== true && typeof type === 'string' ? type : undefined;
}

function isZod(field: unknown): field is ZodNode {
  return typeof field === 'object' && field !== null && '_zod' in field;
}
