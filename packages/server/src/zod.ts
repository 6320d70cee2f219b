/**
 * `@mortise/server/zod`: adapters for zod versions without built-in JSON Schema conversion: `fromZod(z)` for 4.0, 4.1 and `zod/mini`,
 * `fromZodV3(convert)` for zod 3. Imports none of them. zod 4.2 and later needs no adapter.
 */

import type { TypedSchema } from './schema/infer.ts';
import {
  isStandardSchema,
  type SchemaDirection,
  type StandardIssue,
  type StandardSchema,
  withConverter,
} from './schema/standard-schema.ts';

/** The part of the zod 4 namespace that `fromZod` uses. */
export interface ZodLibrary {
  // Parameter types differ between versions. The schema passed in always belongs to the same library.
  readonly toJSONSchema: (schema: never, params: { readonly target: 'draft-2020-12'; readonly io: SchemaDirection }) => object;
}

/**
 * Makes a function that adds JSON Schema conversion to schemas and shapes made with the zod that is passed. Their types stay the same.
 *
 * ```ts
 * import { z } from 'zod'; // 4.0 or 4.1
 * const schema = fromZod(z);
 * server.registerTool('add', { inputSchema: schema({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b));
 * ```
 *
 * @param z The zod namespace that the schemas are made with.
 */
export function fromZod(z: ZodLibrary): <S extends TypedSchema | Readonly<Record<string, TypedSchema>>>(schema: S) => S {
  const wrap = (schema: StandardSchema): object =>
    withConverter(schema, schema['~standard'], (each, io) => z.toJSONSchema(each as never, { target: 'draft-2020-12', io }));
  return <S extends TypedSchema | Readonly<Record<string, TypedSchema>>>(schema: S): S => {
    if (isStandardSchema(schema)) return wrap(schema) as S;
    return Object.fromEntries(Object.entries(schema).map(([name, field]) => [name, wrap(field as StandardSchema)])) as S;
  };
}

/** A schema of zod 3, recognized by its members and not by its class. */
export interface ZodV3Schema<Output = unknown, Input = unknown> {
  readonly _output: Output;
  readonly _input: Input;
  safeParseAsync(value: unknown): Promise<{ readonly data?: unknown; readonly error?: { readonly issues: readonly StandardIssue[] } }>;
}

/**
 * Converts a zod 3 schema to JSON Schema, for example `zodToJsonSchema` of `zod-to-json-schema`.
 *
 * @param options `io` is the side of the schema to convert, `input` or `output`. `pipeStrategy` is the same for `zod-to-json-schema`.
 */
export type ZodV3Converter = (schema: never, options: { readonly io: SchemaDirection; readonly pipeStrategy: SchemaDirection }) => object;

/**
 * Makes a function that adapts whole zod 3 schemas (also of `zod/v3` in later packages). Pass an object schema, not a shape.
 *
 * ```ts
 * import { z } from 'zod/v3';
 * import { zodToJsonSchema } from 'zod-to-json-schema';
 * const schema = fromZodV3(zodToJsonSchema);
 * server.registerTool('add', { inputSchema: schema(z.object({ a: z.number(), b: z.number() })) }, ({ a, b }) => String(a + b));
 * ```
 *
 * Does NOT check how the converter handles a date, a map or a transform: peers see its output unchanged.
 */
export function fromZodV3(convert: ZodV3Converter): <Output, Input>(schema: ZodV3Schema<Output, Input>) => StandardSchema<Input, Output> {
  return <Output, Input>(schema: ZodV3Schema<Output, Input>) => {
    if (typeof (schema as Partial<typeof schema>).safeParseAsync !== 'function')
      throw new TypeError('fromZodV3(convert)(schema): "schema" must be a zod 3 schema. For a shape, pass z.object(shape)');
    // The async method, because an async refinement that rejects in a synchronous first try is an unhandled rejection.
    const validate: StandardSchema['~standard']['validate'] = async (value) => {
      const { data, error } = await schema.safeParseAsync(value);
      return error ? { issues: error.issues } : { value: data };
    };
    const props = { version: 1, vendor: 'zod', validate } as const;
    const wrapped: object = withConverter(schema, props, (each, io) => convert(each as never, { io, pipeStrategy: io }));
    return wrapped as StandardSchema<Input, Output>;
  };
}
