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

interface Marked {
  readonly [COMPLETER]?: Completer;
}

/**
 * Gives a field of a prompt's `argsSchema` suggestions.
 *
 * @param schema Stays as it is; what is returned is a copy of it with the suggestions.
 * @param complete Is given the typed text and the arguments chosen before. Long lists are cut at 100 by the server.
 * @see 2026-07-28 server/utilities/completion
 */
export function completable<S extends TypedSchema>(schema: S, complete: Completer): S {
  if (!isMarkable(schema) || !('~standard' in schema))
    throw new RegistrationError('completable(schema, complete): "schema" must be a schema, such as z.string()');
  if (typeof complete !== 'function') throw new RegistrationError('completable(schema, complete): "complete" must be a function');
  return Object.defineProperty(copySchema(schema), COMPLETER, { value: complete });
}

/**
 * A copy, so that one schema may stand in two places with different suggestions. zod binds a schema's methods to the object
 * itself and has `clone` for this; for any other library an object that inherits from the schema will do.
 */
function copySchema<S extends TypedSchema>(schema: S): S {
  const { clone } = schema as { readonly clone?: unknown };
  if ('_zod' in schema && typeof clone === 'function') return clone.call(schema) as S;
  // An object that inherits from a function cannot be called, and `~standard` of a schema may be a getter that needs the function: so its value is copied.
  return Object.create(schema, { '~standard': { value: schema['~standard'], enumerable: true } }) as S;
}

/** How many wrappers (`optional`, `default`, `nullable`) are looked into for the schema inside. */
const MAX_WRAPPERS = 8;

/** The completer of a field; also where `.optional()` or a default was put around it afterwards. */
export function getCompleter(schema: unknown): Completer | undefined {
  let at = schema;
  for (let i = 0; i <= MAX_WRAPPERS && isMarkable(at); i += 1) {
    const completer = at[COMPLETER];
    if (completer !== undefined) return completer;
    at = (at._zod?.def ?? at._def)?.innerType;
  }
  return undefined;
}

interface Wrapper extends Marked {
  readonly _zod?: { readonly def?: { readonly innerType?: unknown } };
  readonly _def?: { readonly innerType?: unknown };
}

function isMarkable(value: unknown): value is Wrapper {
  return (typeof value === 'object' || typeof value === 'function') && value !== null;
}

/** The completer of one field of an object schema: a raw shape, or a schema that shows its fields as `shape` or `entries`. */
export function getFieldCompleter(schema: unknown, field: string): Completer | undefined {
  if (!isMarkable(schema)) return undefined;
  const { shape, entries } = schema as { readonly shape?: unknown; readonly entries?: unknown };
  for (const fields of '~standard' in schema ? [shape, entries] : [schema]) {
    if (isMarkable(fields) && Object.hasOwn(fields, field)) return getCompleter((fields as Readonly<Record<string, unknown>>)[field]);
  }
  return undefined;
}
