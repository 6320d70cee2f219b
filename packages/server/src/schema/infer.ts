/**
 * What a schema's type says of its values. One step of inference a field: the compiler's work for a hundred tools is a budget
 * (`benchmarks/types`), so these types read `~standard` and nothing deeper.
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

/** A JSON Schema written by hand. */
export interface PlainJsonSchema {
  readonly $schema?: string;
  readonly type?: string | readonly string[];
  readonly '~standard'?: never;
  readonly [keyword: string]: unknown;
}

/** Everything that may stand where an object's schema is wanted: a raw shape, a Standard Schema, JSON Schema, or an adapter. */
export type ObjectSchema = TypedSchema | RawShape | SchemaAdapter | (PlainJsonSchema & { readonly type: 'object' });

/** Everything that may stand where a schema of any value is wanted. */
export type AnySchema = ObjectSchema | PlainJsonSchema;

/** What a schema gives after its check: defaults filled in, conversions made. A plain JSON Schema gives a `JsonObject`. */
export type InferOutput<S> = S extends TypedSchema ? Output<S> : S extends RawShape ? ShapeOutput<S> : S extends SchemaAdapter<infer T> ? T : JsonObject;

/** What a schema takes: fields with a default may be left out. */
export type InferInput<S> = S extends TypedSchema ? Input<S> : S extends RawShape ? ShapeInput<S> : S extends SchemaAdapter<infer T> ? T : JsonObject;

type Output<S> = S extends { readonly '~standard': { readonly types?: infer T } } ? (NonNullable<T> extends { readonly output: infer O } ? O : unknown) : unknown;
type Input<S> = S extends { readonly '~standard': { readonly types?: infer T } } ? (NonNullable<T> extends { readonly input: infer I } ? I : unknown) : unknown;

/**
 * A field may be left out where its value may be `undefined`. `any` and `unknown` may be anything and say nothing of it;
 * there zod's own mark decides, and a library without one means a field that must be there.
 */
type MayMiss<S, Value, Mark> = undefined extends Value ? (unknown extends Value ? (S extends Mark ? true : false) : true) : false;

interface MayMissInOutput {
  readonly _zod: { readonly optout: 'optional' };
}
interface MayMissInInput {
  readonly _zod: { readonly optin: 'optional' | 'defaulted' };
}

type MissableOutputs<S> = { [K in keyof S]: MayMiss<S[K], Output<S[K]>, MayMissInOutput> extends true ? K : never }[keyof S];
type MissableInputs<S> = { [K in keyof S]: MayMiss<S[K], Input<S[K]>, MayMissInInput> extends true ? K : never }[keyof S];

type Flatten<T> = { [K in keyof T]: T[K] };
type ShapeOutput<S> = Flatten<
  { -readonly [K in Exclude<keyof S, MissableOutputs<S>>]: Output<S[K]> } & { -readonly [K in MissableOutputs<S>]?: Output<S[K]> }
>;
type ShapeInput<S> = Flatten<
  { -readonly [K in Exclude<keyof S, MissableInputs<S>>]: Input<S[K]> } & { -readonly [K in MissableInputs<S>]?: Input<S[K]> }
>;
