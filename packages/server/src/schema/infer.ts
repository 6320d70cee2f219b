/**
 * Types that infer values from schemas. They read only `~standard` (and zod's copy of it), one inference step per field, because the compile time for
 * a hundred tools has a budget (`benchmarks/types`).
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { SchemaAdapter } from '@mortise/protocol/contracts';

/** The part of a Standard Schema that types are inferred from. Only a compile-time view: values are checked by `isStandardSchema`. */
export interface TypedSchema {
  readonly '~standard': { readonly version: 1; readonly vendor: string };
}

/** Schemas by field name: `{ a: z.number(), b: z.string() }`. */
export interface RawShape {
  readonly [field: string]: TypedSchema;
}

/** The types of JSON, and plain strings, as in a schema imported from a file. Listing the types keeps literals narrow. */
type JsonTypeName = 'array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string' | (string & {});

/** A JSON Schema written by hand. */
export interface PlainJsonSchema {
  readonly $schema?: string;
  readonly type?: JsonTypeName | readonly JsonTypeName[];
  readonly '~standard'?: never;
  readonly [keyword: string]: unknown;
}

/**
 * Every accepted schema of an object: a raw shape, a Standard Schema, a JSON Schema, or an adapter. That a JSON Schema's `type` is `object` is
 * checked at registration, because the compiler sees any string in a schema imported from a file.
 */
export type ObjectSchema = TypedSchema | RawShape | SchemaAdapter | (PlainJsonSchema & { readonly type: JsonTypeName });

/** Every accepted schema of any value. */
export type AnySchema = ObjectSchema | PlainJsonSchema;

/**
 * The value after validation, with defaults filled in and conversions applied. A plain JSON Schema of objects gives `JsonObject`, any other
 * `unknown`.
 */
export type InferOutput<S> = Infer<S, 'output'>;

/** The value before validation: fields with a default may be left out. */
export type InferInput<S> = Infer<S, 'input'>;

type Infer<S, Side extends 'input' | 'output'> = S extends TypedSchema
  ? ValueOf<S, Side>
  : S extends RawShape
    ? Split<S, { -readonly [K in keyof S]: ValueOf<S[K], Side> }, MayMiss[Side]>
    : S extends SchemaAdapter<infer T>
      ? T
      : PlainValue<S>;

/** A `type` known only as string counts as `object`, which is what inputs have. */
type PlainValue<S> = S extends { readonly type: infer T } ? ('object' extends T ? JsonObject : unknown) : unknown;

/** Reads zod's own types first, which takes fewer steps than `~standard`: a tenth of the compile time of a hundred tools. */
type ValueOf<S, Side extends 'input' | 'output'> = S extends { readonly _zod: { readonly [K in Side]: infer V } }
  ? V
  : S extends { readonly '~standard': { readonly types?: { readonly [K in Side]: infer V } | undefined } }
    ? V
    : unknown;

/** How zod marks an optional field. */
interface MayMiss {
  readonly input: { readonly _zod: { readonly optin: 'optional' | 'defaulted' } };
  readonly output: { readonly _zod: { readonly optout: 'optional' } };
}

type Split<S, Values, Mark> = WithOptional<Values, MissableKeys<S, Values, Mark>>;

/**
 * A field is optional if its value may be `undefined`. For `any` and `unknown` only zod's own mark counts; in other libraries such a field is
 * required.
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

/** Skips the optional members if there are none, as in most shapes. */
type WithOptional<Values, K extends keyof Values> = [K] extends [never]
  ? Values
  : Flatten<{ [P in Exclude<keyof Values, K>]: Values[P] } & { [P in K]?: Values[P] }>;
type Flatten<T> = { [K in keyof T]: T[K] };
