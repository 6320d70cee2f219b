/** Refuses arguments of prompts that no text fits: on the wire each is a string. By structure: no library is imported. */

import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { RegistrationError } from '../errors.ts';
import { isRawShape } from './raw-shape.ts';

/** A schema of zod 4, as far as it is looked into. */
interface ZodNode {
  readonly _zod: { readonly def: { readonly type?: unknown; readonly coerce?: unknown; readonly innerType?: unknown } };
}

/** Wrappers that leave what is inside to decide about a text. */
const WRAPPERS: ReadonlySet<unknown> = new Set(['optional', 'nullable', 'default', 'prefault', 'nonoptional', 'readonly']);

/** Kinds that take no text, in zod and in JSON Schema, and what does instead. */
const REMEDIES: Readonly<Record<string, string>> = {
  number: 'z.coerce.number()',
  integer: 'z.coerce.number()',
  boolean: 'z.stringbool()',
  array: 'z.string().transform(...)',
  object: 'z.string().transform(...)',
  record: 'z.string().transform(...)',
  tuple: 'z.string().transform(...)',
  null: 'z.string()',
};

/**
 * Looks at plain JSON Schemas and at fields of zod 4; what another library's schema takes cannot be told without a try.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: a field can never be given.
 * @see 2026-07-28 server/prompts#getting-a-prompt
 */
export function refuseNonText(prompt: string, schema: object): void {
  for (const [name, field] of Object.entries(fieldsOf(schema))) {
    const kind = kindOf(field);
    const remedy = kind !== undefined && Object.hasOwn(REMEDIES, kind) ? REMEDIES[kind] : undefined;
    if (remedy === undefined) continue;
    throw new RegistrationError(
      `prompt "${prompt}": argument "${name}" takes no string (its type is ${kind}), and arguments of prompts are strings: use ${remedy} or z.string()`,
    );
  }
}

function fieldsOf(schema: object): object {
  const { shape, properties } = schema as { readonly shape?: unknown; readonly properties?: unknown };
  const fields = '~standard' in schema ? shape : isRawShape(schema) ? schema : properties;
  return typeof fields === 'object' && fields !== null ? fields : {};
}

/** What a field takes alone; undefined where it may take more, or does not tell. */
function kindOf(field: unknown): string | undefined {
  if (typeof field !== 'object' || field === null) return undefined;
  if ('_zod' in field) return kindOfZod(field as ZodNode);
  // Of several types those of a list are named that are not text; a schema of another library has no word here.
  if ('~standard' in field || !isJsonObject(field)) return undefined;
  const types = [field['type']].flat();
  return types.includes('string') || typeof types[0] !== 'string' ? undefined : types[0];
}

function kindOfZod({ _zod: { def } }: ZodNode): string | undefined {
  const { innerType } = def;
  if (WRAPPERS.has(def.type) && typeof innerType === 'object' && innerType !== null && '_zod' in innerType)
    return kindOfZod(innerType as ZodNode);
  return def.coerce !== true && typeof def.type === 'string' ? def.type : undefined;
}
