/** Completion of prompt arguments and template variables: how a field provides suggestions. */

import { RegistrationError } from './errors.ts';
import type { TypedSchema } from './schema/infer.ts';

/** What a completer gets besides the typed text. */
export interface CompleteContext {
  /** The other arguments that the user has chosen so far. Not verified: they come from the client. */
  readonly arguments?: Readonly<Record<string, string>> | undefined;
}

/** What a completer may return: values, best first, or a whole completion with `total` and `hasMore`. */
export type CompleteReturn =
  readonly string[] | { readonly values: readonly string[]; readonly total?: number | undefined; readonly hasMore?: boolean | undefined };

/** Suggests values for the typed text. */
export type Completer<Context = unknown> = (
  value: string,
  context: CompleteContext,
  ctx: Context,
) => CompleteReturn | Promise<CompleteReturn>;

/** A registered symbol, so that a prompt works across installed copies of this package. */
const COMPLETER: unique symbol = Symbol.for('mortise.completer') as typeof COMPLETER;

interface FieldDefinition {
  readonly innerType?: unknown;
  readonly coerce?: unknown;
}

/** A field's schema. zod stores the schema inside `optional`, `default` and the like as `innerType`. */
interface Field {
  readonly [COMPLETER]?: Completer;
  readonly _zod?: { readonly def?: FieldDefinition };
  readonly _def?: FieldDefinition;
}

/**
 * Adds suggestions to a field of a prompt's `argsSchema`.
 *
 * @param schema Modified and returned. Use a separate schema for a field with other suggestions.
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

/** Returns the completer of a field, also if `.optional()` or a default was added around it afterwards. */
export function getCompleter(schema: unknown): Completer | undefined {
  return layersOf(schema).find((layer) => layer[COMPLETER])?.[COMPLETER];
}

/** Returns the completer of one field of an object schema. */
export function getFieldCompleter(schema: unknown, field: string): Completer | undefined {
  return getCompleter(findField(schema, field));
}

/** Tells whether a field uses zod's `z.coerce`. Such a field accepts a string, although its JSON Schema does not say so. */
export function isFieldCoerced(schema: unknown, field: string): boolean {
  return layersOf(findField(schema, field)).some((layer) => (layer._zod?.def ?? layer._def)?.coerce === true);
}

/** Finds one field of an object schema: of a raw shape, or of a schema with `shape` or `entries`. */
function findField(schema: unknown, field: string): unknown {
  if (!isField(schema)) return undefined;
  const { shape, entries } = schema as { readonly shape?: unknown; readonly entries?: unknown };
  const fields = '~standard' in schema ? (shape ?? entries) : schema;
  return isField(fields) && Object.hasOwn(fields, field) ? (fields as Readonly<Record<string, unknown>>)[field] : undefined;
}

/** Returns a field's schema and each schema inside it. */
function layersOf(schema: unknown): readonly Field[] {
  return isField(schema) ? [schema, ...layersOf((schema._zod?.def ?? schema._def)?.innerType)] : [];
}

function isField(value: unknown): value is Field {
  return (typeof value === 'object' || typeof value === 'function') && value !== null;
}
