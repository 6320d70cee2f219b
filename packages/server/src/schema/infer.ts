/**
 * What a schema's type says of its values. One step of inference a field: the compiler's work for a hundred tools is a budget
 * (`benchmarks/types`), so these types read `~standard` (and zod's own mirror of it) and nothing deeper.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { SchemaAdapter } from '@mortise/protocol/contracts';

/** The part of a Standard Schema that types are read from. A compile-time view: a value is looked at by `isStandardSchema`. */
export interface TypedSchema {
  readonly '~standard': { readonly version: 1; readonly vendor: string };
}

/** Fields by name, as `{ a: z.number(), b: z.string() }` has them. */
export interface RawShape {
  readonly [field: string]: TypedSchema;
}

/** The types of JSON, and what a compiler makes of them in a schema that is read from a file. Naming them keeps literals literal. */
type JsonTypeName = 'array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string' | (string & {});

/** A JSON Schema written by hand. */
export interface PlainJsonSchema {
  readonly $schema?: string;
  readonly type?: JsonTypeName | readonly JsonTypeName[];
  readonly '~standard'?: never;
  readonly [keyword: string]: unknown;
}

/**
 * Everything that may stand where an object's schema is wanted: a raw shape, a Standard Schema, JSON Schema, or an adapter. That a
 * JSON Schema's `type` is `object` is checked at registration: in one read from a file it is any string to the compiler.
 */
export type ObjectSchema = TypedSchema | RawShape | SchemaAdapter | (PlainJsonSchema & { readonly type: JsonTypeName });

/** Everything that may stand where a schema of any value is wanted. */
export type AnySchema = ObjectSchema | PlainJsonSchema;

/** What a schema gives after its check: defaults filled in, conversions made. A plain JSON Schema of objects gives a `JsonObject`, any other `unknown`. */
export type InferOutput<S> = Infer<S, 'output'>;

/** What a schema takes: fields with a default may be left out. */
export type InferInput<S> = Infer<S, 'input'>;

type Infer<S, Side extends 'input' | 'output'> = S extends TypedSchema
  ? ValueOf<S, Side>
  : S extends RawShape
    ? Split<S, { -readonly [K in keyof S]: ValueOf<S[K], Side> }, MayMiss[Side]>
    : S extends SchemaAdapter<infer T>
      ? T
      : PlainValue<S>;

/** A `type` that is only known to be a string is taken for `object`, as inputs have it. */
type PlainValue<S> = S extends { readonly type: infer T } ? ('object' extends T ? JsonObject : unknown) : unknown;

/** zod says it in fewer steps than the standard does: for a hundred tools that is a tenth of the whole. */
type ValueOf<S, Side extends 'input' | 'output'> = S extends { readonly _zod: { readonly [K in Side]: infer V } }
  ? V
  : S extends { readonly '~standard': { readonly types?: { readonly [K in Side]: infer V } | undefined } }
    ? V
    : unknown;

/** zod's marks of a field that may be left out. */
interface MayMiss {
  readonly input: { readonly _zod: { readonly optin: 'optional' | 'defaulted' } };
  readonly output: { readonly _zod: { readonly optout: 'optional' } };
}

type Split<S, Values, Mark> = WithOptional<Values, MissableKeys<S, Values, Mark>>;

/**
 * A field may be left out where its value may be `undefined`. `any` and `unknown` may be anything and say nothing of it;
 * there zod's own mark decides, and a library without one means a field that must be there.
 */
type MissableKeys<S, Values, Mark> = {
  [K in keyof Values]: undefined extends Values[K]
    ? unknown extends Values[K]
      ? K extends keyof S
        ? S[K] extends Mark
          ? K
          : never
        : never
      : K
    : never;
}[keyof Values];

/** Most shapes have no such field, and are then done. */
type WithOptional<Values, K extends keyof Values> = [K] extends [never]
  ? Values
  : Flatten<{ [P in Exclude<keyof Values, K>]: Values[P] } & { [P in K]?: Values[P] }>;
type Flatten<T> = { [K in keyof T]: T[K] };
