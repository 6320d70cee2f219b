/**
 * `@mortise/server/zod-v3`: schemas of zod 3, and of `zod/v3` in later packages. Handed a converter to JSON Schema
 * (`zod-to-json-schema`, say), imports none.
 */

import {
  type StandardIssue,
  type StandardProps,
  type StandardResult,
  type StandardSchema,
  withConverter,
} from './schema/standard-schema.ts';

/** A schema of zod 3, by structure. */
export interface ZodV3Schema<Output = unknown, Input = unknown> {
  readonly _output: Output;
  readonly _input: Input;
  readonly _def: object;
}

/** What a converter is given beside the schema. `zodToJsonSchema` takes it as its options. */
export interface ZodV3ConvertOptions {
  /** Which side of a conversion is wanted: what the schema takes, or what it gives. */
  readonly io: 'input' | 'output';
  /** The same in the words of `zod-to-json-schema`, which otherwise gives both sides of a `pipe` at once. */
  readonly pipeStrategy: 'input' | 'output';
}

/** Converts a zod 3 schema to JSON Schema: `zodToJsonSchema` of `zod-to-json-schema`, say, as it is. */
export type ZodV3Converter = (schema: never, options: ZodV3ConvertOptions) => object;

/** A zod 3 schema, or a shape of them, as the server takes it. */
export type FromZodV3<S> =
  S extends ZodV3Schema<infer Output, infer Input>
    ? StandardSchema<Input, Output>
    : { readonly [K in keyof S]: S[K] extends ZodV3Schema<infer Output, infer Input> ? StandardSchema<Input, Output> : never };

/**
 * Gives a function that lets zod 3's schemas and shapes be converted to JSON Schema.
 *
 * ```ts
 * import { z } from 'zod/v3';
 * import { zodToJsonSchema } from 'zod-to-json-schema';
 * const schema = fromZodV3(zodToJsonSchema);
 * server.registerTool('add', { inputSchema: schema({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b));
 * ```
 *
 * What JSON Schema has no form for (dates, maps, functions, the output of a transform) is an error at registration, whatever the
 * converter makes of it: peers would be asked for what the schema then refuses.
 */
export function fromZodV3(
  convert: ZodV3Converter,
): <S extends ZodV3Schema | Readonly<Record<string, ZodV3Schema>>>(schema: S) => FromZodV3<S> {
  const toJsonSchema = (schema: object, io: 'input' | 'output'): object => {
    for (const definition of definitionsIn(schema)) refuseUnconvertible(definition, io);
    return convertField(schema, (each) => convert(each as never, { io, pipeStrategy: io }));
  };
  return (schema) => withConverter(schema, toJsonSchema, toProps);
}

/** What zod 3 says of one schema. */
interface Definition {
  readonly typeName?: unknown;
  readonly description?: string;
  readonly coerce?: unknown;
  readonly effect?: { readonly type?: unknown };
  readonly innerType?: object;
  readonly shape?: unknown;
  readonly getter?: unknown;
}

/** The object of a field says that it may be left out; standing alone, converters give an alternative to nothing. */
function convertField(schema: object, convert: (schema: object) => object): object {
  const { typeName, innerType, description } = (schema as { readonly _def: Definition })._def;
  if (typeName !== 'ZodOptional' || innerType === undefined) return convert(schema);
  const converted = convertField(innerType, convert);
  return description === undefined ? converted : { ...converted, description };
}

/** What zod 3 gives of a check. */
interface Parsed {
  readonly success: boolean;
  readonly data?: unknown;
  readonly error?: { readonly issues: readonly StandardIssue[] };
}

interface Parser {
  safeParse(value: unknown): Parsed;
  safeParseAsync(value: unknown): Promise<Parsed>;
}

/**
 * Whether an effect is asynchronous is only known when it has run, and what it then rejects with would be an unhandled rejection: so a
 * schema with effects is checked by zod's async method at once.
 */
function toProps(schema: object): StandardProps {
  const parser = schema as Parser;
  if ('_zod' in schema)
    throw new TypeError(
      'This is a schema of zod 4: zod 4.2 and later go in as they are, earlier ones by fromZod(z) of @mortise/server/zod',
    );
  if (!('_def' in schema) || typeof parser.safeParse !== 'function')
    throw new TypeError('Not a zod 3 schema: hand over a schema, or an object whose every field is one');
  const hasEffects = definitionsIn(schema).some(({ effect }) => effect !== undefined);
  const validate = hasEffects
    ? async (value: unknown) => toResult(await parser.safeParseAsync(value))
    : (value: unknown) => toResult(parser.safeParse(value));
  return { version: 1, vendor: 'zod', validate };
}

function toResult({ success, data, error }: Parsed): StandardResult<unknown> {
  return success ? { value: data } : { issues: error?.issues ?? [] };
}

/** Kinds without a form in JSON Schema. */
const UNCONVERTIBLE = /^Zod(?:BigInt|Date|Function|Map|NaN|Promise|Set|Symbol)$/;

function refuseUnconvertible({ typeName, coerce, effect }: Definition, io: 'input' | 'output'): void {
  if (UNCONVERTIBLE.test(String(typeName)) && !(coerce === true && io === 'input'))
    throw new TypeError(`${String(typeName)} cannot be represented in JSON Schema`);
  if (effect?.type === 'transform' && io === 'output') throw new TypeError('Transforms cannot be represented in JSON Schema');
}

/** The definitions of a schema and of all schemas in it. */
function definitionsIn(value: unknown, seen: Set<object> = new Set()): readonly Definition[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const { _def: definition } = value as { readonly _def?: Definition };
  // Not a schema, but a list of schemas, or schemas by name.
  if (definition === undefined) return Object.values(value).flatMap((inner) => definitionsIn(inner, seen));
  const { shape, getter } = definition;
  const hidden = [shape, getter].map((get) => (typeof get === 'function' ? (get as () => unknown)() : undefined));
  const parts = [...hidden, ...Object.values(definition).filter(isSchemaOrList)];
  return [definition, ...parts.flatMap((part) => definitionsIn(part, seen))];
}

/** Definitions also hold functions, values and options; only schemas and lists of them are followed. */
function isSchemaOrList(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('_def' in value || Array.isArray(value));
}
