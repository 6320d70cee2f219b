/** Completion of arguments while they are typed: how a field says what it suggests, and how suggestions are put into order. */

import { RegistrationError } from './errors.ts';
import type { TypedSchema } from './schema/infer.ts';

/** What a completer knows beside the typed text. */
export interface CompleteContext {
  /** The other arguments, as far as the user has chosen them. Unverified: they are what the client sent. */
  readonly arguments?: Readonly<Record<string, string>> | undefined;
}

/** What a completer may give: the values best first, or a whole completion that knows of more. */
export type CompleteReturn =
  readonly string[] | { readonly values: readonly string[]; readonly total?: number | undefined; readonly hasMore?: boolean | undefined };

/** Suggests values for what has been typed. */
export type Completer<Context = unknown> = (
  value: string,
  context: CompleteContext,
  ctx: Context,
) => CompleteReturn | Promise<CompleteReturn>;

/** Shared by every installed copy of this package: a prompt may be written in one and served by another. */
const COMPLETER: unique symbol = Symbol.for('mortise.completer') as typeof COMPLETER;

interface FieldDefinition {
  readonly innerType?: unknown;
  readonly coerce?: unknown;
}

/** A field's schema. zod keeps what `optional`, `default` and the like wrap as `innerType`. */
interface Field {
  readonly [COMPLETER]?: Completer;
  readonly _zod?: { readonly def?: FieldDefinition };
  readonly _def?: FieldDefinition;
}

/**
 * Gives a field of a prompt's `argsSchema` suggestions.
 *
 * @param schema Is marked and returned. A field with other suggestions needs a schema of its own.
 * @param complete Is given the typed text and the arguments chosen before. Long lists are cut at 100 by the server.
 * @see 2026-07-28 server/utilities/completion
 */
export function completable<S extends TypedSchema>(schema: S, complete: Completer): S {
  if (!isField(schema) || !('~standard' in schema))
    throw new RegistrationError('completable(schema, complete): "schema" must be a schema, such as z.string()');
  if (Object.hasOwn(schema, COMPLETER) || typeof complete !== 'function')
    throw new RegistrationError('completable(schema, complete): "complete" must be a function, and "schema" one without suggestions yet');
  return Object.defineProperty(schema, COMPLETER, { value: complete });
}

/** The completer of a field; also where `.optional()` or a default was put around it afterwards. */
export function getCompleter(schema: unknown): Completer | undefined {
  return layersOf(schema).find((layer) => layer[COMPLETER])?.[COMPLETER];
}

/** The completer of one field of an object schema. */
export function getFieldCompleter(schema: unknown, field: string): Completer | undefined {
  return getCompleter(findField(schema, field));
}

/** Whether a field is made by zod's `z.coerce`: it takes a string, which its JSON Schema does not say. */
export function isFieldCoerced(schema: unknown, field: string): boolean {
  return layersOf(findField(schema, field)).some((layer) => (layer._zod?.def ?? layer._def)?.coerce === true);
}

/** One field of an object schema: a raw shape, or a schema that shows its fields as `shape` or `entries`. */
function findField(schema: unknown, field: string): unknown {
  if (!isField(schema)) return undefined;
  const { shape, entries } = schema as { readonly shape?: unknown; readonly entries?: unknown };
  const fields = '~standard' in schema ? (shape ?? entries) : schema;
  return isField(fields) && Object.hasOwn(fields, field) ? (fields as Readonly<Record<string, unknown>>)[field] : undefined;
}

/** A field's schema, and each one that it wraps. */
function layersOf(schema: unknown): readonly Field[] {
  return isField(schema) ? [schema, ...layersOf((schema._zod?.def ?? schema._def)?.innerType)] : [];
}

function isField(value: unknown): value is Field {
  return (typeof value === 'object' || typeof value === 'function') && value !== null;
}
