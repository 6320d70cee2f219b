/** `/server/completable`: gives a prompt's argument a function that completes it. */

import type { AnySchema, SchemaInput } from './zod-compat.ts';

export const COMPLETABLE_SYMBOL: unique symbol = Symbol.for('mcp.completable');

/** Returns the values that complete a text. `context.arguments` are those that the user has filled in already. */
export type CompleteCallback<T extends AnySchema = AnySchema> = (
  value: SchemaInput<T>,
  context?: { arguments?: Record<string, string> },
) => SchemaInput<T>[] | Promise<SchemaInput<T>[]>;

export type CompletableMeta<T extends AnySchema = AnySchema> = { complete: CompleteCallback<T> };
export type CompletableSchema<T extends AnySchema> = T & { [COMPLETABLE_SYMBOL]: CompletableMeta<T> };

/** Adds a completer to a schema. @returns The same schema. */
export function completable<T extends AnySchema>(schema: T, complete: CompleteCallback<T>): CompletableSchema<T> {
  Object.defineProperty(schema, COMPLETABLE_SYMBOL, { value: { complete } });
  return schema as CompletableSchema<T>;
}

export function isCompletable(schema: unknown): schema is CompletableSchema<AnySchema> {
  return typeof schema === 'object' && schema !== null && COMPLETABLE_SYMBOL in schema;
}

export function getCompleter<T extends AnySchema>(schema: T): CompleteCallback<T> | undefined {
  const { [COMPLETABLE_SYMBOL]: meta } = schema as { readonly [COMPLETABLE_SYMBOL]?: CompletableMeta<T> };
  return meta?.complete;
}

/** @deprecated Use the schema itself: a schema with a completer is the same object. */
export function unwrapCompletable<T extends AnySchema>(schema: CompletableSchema<T>): T {
  return schema;
}
