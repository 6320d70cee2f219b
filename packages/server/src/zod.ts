/**
 * `@mortise/server/zod`: schemas of a zod that cannot be converted to JSON Schema by itself: 4.0, 4.1 and `zod/mini` by `fromZod(z)`, zod 3
 * by `fromZodV3(convert)`. Imports none of them. Schemas of zod 4.2 and later need nothing of this.
 */

import type { TypedSchema } from './schema/infer.ts';
import {
  isStandardSchema,
  type SchemaDirection,
  type StandardIssue,
  type StandardSchema,
  withConverter,
} from './schema/standard-schema.ts';

/** The part of zod 4 that is used. */
export interface ZodLibrary {
  // The library's own parameter types differ from version to version; what is handed in is a schema of that same library.
  readonly toJSONSchema: (schema: never, params: { readonly target: 'draft-2020-12'; readonly io: SchemaDirection }) => object;
}

/**
 * Gives a function that lets this zod's schemas and shapes be converted to JSON Schema; their types stay.
 *
 * ```ts
 * import { z } from 'zod'; // 4.0 or 4.1
 * const schema = fromZod(z);
 * server.registerTool('add', { inputSchema: schema({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b));
 * ```
 *
 * @param z The namespace that the schemas are made with.
 */
export function fromZod(z: ZodLibrary): <S extends TypedSchema | Readonly<Record<string, TypedSchema>>>(schema: S) => S {
  const wrap = (schema: StandardSchema): object =>
    withConverter(schema, schema['~standard'], (each, io) => z.toJSONSchema(each as never, { target: 'draft-2020-12', io }));
  return <S extends TypedSchema | Readonly<Record<string, TypedSchema>>>(schema: S): S => {
    if (isStandardSchema(schema)) return wrap(schema) as S;
    return Object.fromEntries(Object.entries(schema).map(([name, field]) => [name, wrap(field as StandardSchema)])) as S;
  };
}

/** A schema of zod 3, by structure. */
export interface ZodV3Schema<Output = unknown, Input = unknown> {
  readonly _output: Output;
  readonly _input: Input;
  safeParseAsync(value: unknown): Promise<{ readonly data?: unknown; readonly error?: { readonly issues: readonly StandardIssue[] } }>;
}

/**
 * Converts a zod 3 schema to JSON Schema: `zodToJsonSchema` of `zod-to-json-schema`, say, as it is.
 *
 * @param options Which side of a conversion is wanted, also in the words of `zod-to-json-schema`.
 */
export type ZodV3Converter = (schema: never, options: { readonly io: SchemaDirection; readonly pipeStrategy: SchemaDirection }) => object;

/**
 * Gives a function that lets a whole schema of zod 3 (or of `zod/v3` in later packages) be used: an object, not a shape.
 *
 * ```ts
 * import { z } from 'zod/v3';
 * import { zodToJsonSchema } from 'zod-to-json-schema';
 * const schema = fromZodV3(zodToJsonSchema);
 * server.registerTool('add', { inputSchema: schema(z.object({ a: z.number(), b: z.number() })) }, ({ a, b }) => String(a + b));
 * ```
 *
 * Does NOT judge what the converter makes of a date, a map or a transform: what it gives is what peers see.
 */
export function fromZodV3(convert: ZodV3Converter): <Output, Input>(schema: ZodV3Schema<Output, Input>) => StandardSchema<Input, Output> {
  return <Output, Input>(schema: ZodV3Schema<Output, Input>) => {
    if (typeof (schema as Partial<typeof schema>).safeParseAsync !== 'function')
      throw new TypeError('fromZodV3: not a schema. A shape is wrapped as a whole: z.object({ ... })');
    // By the async method alone: an async refinement that rejects in a first try without waiting would be an unhandled rejection.
    const validate: StandardSchema['~standard']['validate'] = async (value) => {
      const { data, error } = await schema.safeParseAsync(value);
      return error ? { issues: error.issues } : { value: data };
    };
    const props = { version: 1, vendor: 'zod', validate } as const;
    const wrapped: object = withConverter(schema, props, (each, io) => convert(each as never, { io, pipeStrategy: io }));
    return wrapped as StandardSchema<Input, Output>;
  };
}
