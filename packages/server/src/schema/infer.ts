/**
 * Types that infer the type of a value from its schema. They read only `~standard` (and zod's copy of it), one inference step per field,
 * because the compile time for a hundred tools has a budget (`benchmarks/types`).
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { SchemaAdapter } from '@mortise/protocol/contracts';

/** The part of a Standard Schema that types are inferred from. For the compiler only: at run time `isStandardSchema` recognizes schemas. */
export interface TypedSchema {
  readonly '~standard': { readonly version: 1; readonly vendor: string };
}

/** A plain object of schemas by field name, as a short form of an object schema: `{ a: z.number(), b: z.string() }`. */
export interface RawShape {
  readonly [field: string]: TypedSchema;
}

/** The `type` of a JSON Schema, or any string, as in a schema imported from a file. Listing the names keeps string literals narrow. */
type JsonTypeName = 'array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string' | (string & {});

/** A plain JSON Schema, written by hand or imported from a file. */
export interface PlainJsonSchema {
  readonly $schema?: string | undefined;
  readonly type?: JsonTypeName | readonly JsonTypeName[] | undefined;
  readonly '~standard'?: never;
  readonly [keyword: string]: unknown;
}

/**
 * Every accepted form of an object schema: a plain object of schemas (raw shape), a Standard Schema such as z.object(), a JSON Schema
 * (2020-12 or draft-07), or a `SchemaAdapter`. That a JSON Schema's `type` is `object` is checked at registration, because in an imported
 * file it is any string.
 *
 * A Standard Schema must convert to JSON Schema, as zod does from 4.2 on. For an older zod see `@mortise/server/zod`. A schema without a
 * JSON Schema form, such as a Date or a transform, is a `SchemaUnsupportedError` at registration.
 */
export type ObjectSchema = TypedSchema | RawShape | SchemaAdapter | (PlainJsonSchema & { readonly type: JsonTypeName });

/** Every accepted form of a schema, for any value: as `ObjectSchema`, or a JSON Schema of any type. */
export type AnySchema = ObjectSchema | PlainJsonSchema;

/**
 * The type of a value after validation by the schema, with defaults filled in and conversions applied. A plain JSON Schema with the type
 * `object` gives `JsonObject`, any other `unknown`.
 */
export type InferOutput<S> = Infer<S, 'output'>;

/** The type of a value before validation by the schema: fields with a default may be left out. */
export type InferInput<S> = Infer<S, 'input'>;

type Infer<S, Side extends 'input' | 'output'> = S extends TypedSchema
  ? ValueOf<S, Side>
  : S extends RawShape
    ? Split<S, { -readonly [K in keyof S]: ValueOf<S[K], Side> }, MayMiss[Side]>
    : S extends SchemaAdapter<infer T>
      ? T
      : PlainValue<S>;

/** The type of a value of a plain JSON Schema. A `type` known only as `string` counts as `object`, which all tool inputs are. */
type PlainValue<S> = S extends { readonly type: infer T } ? ('object' extends T ? JsonObject : unknown) : unknown;

/** The value type of a schema. Reads zod's own types first, with fewer steps than `~standard`: saves a tenth of the compile time. */
type ValueOf<S, Side extends 'input' | 'output'> = S extends { readonly _zod: { readonly [K in Side]: infer V } }
  ? V
  : S extends { readonly '~standard': { readonly types?: { readonly [K in Side]: infer V } | undefined } }
    ? V
    : unknown;

/** The mark that zod sets on the schema of an optional field. */
interface MayMiss {
  readonly input: { readonly _zod: { readonly optin: 'optional' | 'defaulted' } };
  readonly output: { readonly _zod: { readonly optout: 'optional' } };
}

type Split<S, Values, Mark> = WithOptional<Values, MissableKeys<S, Values, Mark>>;

/**
 * The names of the optional fields of a shape. A field is optional if its value may be `undefined`. For `any` and `unknown` only zod's own
 * mark counts; in other libraries such a field is required.
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

/** An object type with optional fields `K`. Saves the compiler a step if there are none, as in most shapes. */
type WithOptional<Values, K extends keyof Values> = [K] extends [never]
  ? Values
  : Flatten<{ [P in Exclude<keyof Values, K>]: Values[P] } & { [P in K]?: Values[P] }>;
type Flatten<T> = { [K in keyof T]: T[K] };
