/** `completable`: adds suggestions (`completion/complete`) to a prompt argument, by a function attached to the argument's schema. */

import { RegistrationError } from './errors.ts';
import type { TypedSchema } from './schema/infer.ts';

/** The second argument of a completer: what it gets besides the text that the user has typed. */
export interface CompleteContext {
  /** The other arguments that the user has chosen so far. Not verified: they come from the client. */
  readonly arguments?: Readonly<Record<string, string>> | undefined;
}

/** What a completer may return: suggested values, best first, or a whole `Completion` with `total` and `hasMore`. */
export type CompleteReturn =
  readonly string[] | { readonly values: readonly string[]; readonly total?: number | undefined; readonly hasMore?: boolean | undefined };

/** Suggests values for the text that the user has typed into a prompt argument or template variable. */
export type Completer<Context = unknown> = (
  value: string,
  context: CompleteContext,
  ctx: Context,
) => CompleteReturn | Promise<CompleteReturn>;

/** Where a schema holds its completer. From `Symbol.for`, so that several installed copies of this package share it. */
const COMPLETER: unique symbol = Symbol.for('mortise.completer') as typeof COMPLETER;

interface FieldDefinition {
  readonly innerType?: unknown;
  readonly coerce?: unknown;
}

/** The schema of one prompt argument. For `z.optional(s)`, `z.default(s)` and the like, zod stores `s` as `innerType`. */
interface Field {
  readonly [COMPLETER]?: Completer;
  readonly _zod?: { readonly def?: FieldDefinition };
  readonly _def?: FieldDefinition;
}

/**
 * Adds suggestions to a field of a prompt's `argsSchema`.
 *
 * @param schema The field's schema. It is modified and returned, so do not use the same schema object for fields with other suggestions.
 * @param complete Called with the typed text and the arguments chosen so far. The server sends at most 100 values.
 * @see 2026-07-28 server/utilities/completion
 */
export function completable<S extends TypedSchema>(schema: S, complete: Completer): S {
  if (!isField(schema) || !('~standard' in schema))
    throw new RegistrationError('completable(schema, complete): "schema" must be a schema, such as z.string()');
  if (Object.hasOwn(schema, COMPLETER) || typeof complete !== 'function')
    throw new RegistrationError('completable(schema, complete): "complete" must be a function, and "schema" must not have suggestions yet');
  return Object.defineProperty(schema, COMPLETER, { value: complete });
}

/** Returns the completer that `completable` added to a schema, also if `.optional()` or `.default()` was called on it afterwards. */
export function getCompleter(schema: unknown): Completer | undefined {
  return layersOf(schema).find((layer) => layer[COMPLETER])?.[COMPLETER];
}

/** Returns the completer that `completable` added to one field of an object schema. */
export function getFieldCompleter(schema: unknown, field: string): Completer | undefined {
  return getCompleter(findField(schema, field));
}

/** Tells whether a field uses `z.coerce`. Such a field accepts a string, even if its JSON Schema says `number`. */
export function isFieldCoerced(schema: unknown, field: string): boolean {
  return layersOf(findField(schema, field)).some((layer) => (layer._zod?.def ?? layer._def)?.coerce === true);
}

/** Finds the schema of one field: in a plain object of schemas, or in an object schema of zod (`shape`) or valibot (`entries`). */
function findField(schema: unknown, field: string): unknown {
  if (!isField(schema)) return undefined;
  const { shape, entries } = schema as { readonly shape?: unknown; readonly entries?: unknown };
  const fields = '~standard' in schema ? (shape ?? entries) : schema;
  return isField(fields) && Object.hasOwn(fields, field) ? (fields as Readonly<Record<string, unknown>>)[field] : undefined;
}

/** Returns a field's schema, followed by the schemas that `.optional()`, `.default()` and the like have wrapped. */
function layersOf(schema: unknown): readonly Field[] {
  return isField(schema) ? [schema, ...layersOf((schema._zod?.def ?? schema._def)?.innerType)] : [];
}

function isField(value: unknown): value is Field {
  return (typeof value === 'object' || typeof value === 'function') && value !== null;
}
