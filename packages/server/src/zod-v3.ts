/**
 * `@mortise/server/zod-v3`: schemas of zod 3, and of `zod/v3` in later packages. Handed a converter to JSON Schema
 * (`zod-to-json-schema`, say), imports none.
 */

import { type EffectIssue, guardEffects, throwFailure } from './schema/guard-effects.ts';
import type { StandardProps, StandardResult, StandardSchema } from './schema/standard-schema.ts';
import { withConverter } from './schema/with-converter.ts';

/** A schema of zod 3, by structure. */
export interface ZodV3Schema<Output = unknown, Input = unknown> {
  readonly _output: Output;
  readonly _input: Input;
  readonly _def: object;
}

/** What a converter is told beside the schema. `zodToJsonSchema` takes it as its options. */
export interface ZodV3ConvertOptions {
  /** Which side of a conversion is wanted: what the schema takes, or what it gives. */
  readonly io: 'input' | 'output';
  /** The same in the words of `zod-to-json-schema`, which otherwise tells both sides of a `pipe` at once. */
  readonly pipeStrategy: 'input' | 'output';
}

/** Tells a zod 3 schema as JSON Schema: `zodToJsonSchema` of `zod-to-json-schema`, say, as it is. */
export type ZodV3Converter = (schema: never, options: ZodV3ConvertOptions) => object;

/** A zod 3 schema, or a shape of them, as the server takes it. */
export type FromZodV3<S> =
  S extends ZodV3Schema<infer Output, infer Input>
    ? StandardSchema<Input, Output>
    : { readonly [K in keyof S]: S[K] extends ZodV3Schema<infer Output, infer Input> ? StandardSchema<Input, Output> : never };

/**
 * Gives a function that lets zod 3's schemas and shapes be told as JSON Schema.
 *
 * ```ts
 * import { z } from 'zod/v3';
 * import { zodToJsonSchema } from 'zod-to-json-schema';
 * const schema = fromZodV3(zodToJsonSchema);
 * server.registerTool('add', { inputSchema: schema({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b));
 * ```
 *
 * What JSON has no words for (dates, maps, functions, the output of a transform) is refused at registration, whatever the
 * converter makes of it: a schema told otherwise would refuse what it asks for.
 */
export function fromZodV3(
  convert: ZodV3Converter,
): <S extends ZodV3Schema | Readonly<Record<string, ZodV3Schema>>>(schema: S) => FromZodV3<S> {
  const tell = (schema: object, direction: 'input' | 'output'): object => {
    refuseUntellable(schema, direction, new Set());
    // Converters ask whether a field may be left out, and that runs its effects.
    const options = { io: direction, pipeStrategy: direction };
    return convertField(guardEffects(schema) ?? schema, (each) => convert(each as never, options));
  };
  return (schema) => withConverter(schema, tell, toProps);
}

/** That a field may be left out is told by its object; standing alone, converters tell it as an alternative to nothing. */
function convertField(schema: object, convert: (schema: object) => object): object {
  const { _def: definition } = schema as {
    readonly _def: { readonly typeName?: unknown; readonly innerType?: object; readonly description?: string };
  };
  if (definition.typeName !== 'ZodOptional' || definition.innerType === undefined) return convert(schema);
  const told = convertField(definition.innerType, convert);
  return definition.description === undefined ? told : { ...told, description: definition.description };
}

interface ZodV3Issue extends EffectIssue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** What zod 3 gives of a check. */
interface Parsed {
  readonly success: boolean;
  readonly data?: unknown;
  readonly error?: { readonly issues: readonly ZodV3Issue[] };
}

interface Parser {
  safeParse(value: unknown): Parsed;
  safeParseAsync(value: unknown): Promise<Parsed>;
}

/**
 * Whether an effect is asynchronous is only known when it has run, and what it then rejects with would be nobody's: so a schema with
 * effects is checked by zod's async method at once. One without has nothing to wait for.
 */
function toProps(schema: object): StandardProps {
  const parser = schema as Parser;
  if ('_zod' in schema)
    throw new TypeError(
      'This is a schema of zod 4: zod 4.2 and later go in as they are, earlier ones by fromZod(z) of @mortise/server/zod',
    );
  if (!('_def' in schema) || typeof parser.safeParse !== 'function')
    throw new TypeError('Not a zod 3 schema: hand over a schema, or an object whose every field is one');
  const guarded = guardEffects(schema) as Parser | undefined;
  const validate =
    guarded === undefined ? (value: unknown) => toResult(parser.safeParse(value)) : (value: unknown) => parse(guarded, value);
  return { version: 1, vendor: 'zod', validate };
}

function parse(guarded: Parser, value: unknown): StandardResult<unknown> | Promise<StandardResult<unknown>> {
  // Whether a field may be left out is asked without waiting. Nothing is lost by a try: what a guarded effect rejects with is caught.
  const known = value === undefined ? tryAtOnce(guarded) : undefined;
  return known ?? guarded.safeParseAsync(value).then(toResult);
}

function tryAtOnce(guarded: Parser): StandardResult<unknown> | undefined {
  try {
    return toResult(guarded.safeParse(undefined));
  } catch {
    return undefined;
  }
}

function toResult(parsed: Parsed): StandardResult<unknown> {
  if (parsed.success) return { value: parsed.data };
  const issues: readonly ZodV3Issue[] = parsed.error?.issues ?? [{ message: 'is invalid', path: [] }];
  throwFailure(issues);
  return { issues };
}

/** Kinds without words in JSON Schema. */
const UNTELLABLE: ReadonlySet<unknown> = new Set([
  'ZodBigInt',
  'ZodDate',
  'ZodFunction',
  'ZodMap',
  'ZodNaN',
  'ZodPromise',
  'ZodSet',
  'ZodSymbol',
]);

interface Definition {
  readonly typeName?: unknown;
  readonly coerce?: unknown;
  readonly effect?: { readonly type?: unknown };
  readonly shape?: unknown;
  readonly getter?: unknown;
}

/** Throws with the kind's name at the first schema inside that cannot be told. */
function refuseUntellable(value: unknown, direction: 'input' | 'output', seen: Set<object>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  const { _def: definition } = value as { readonly _def?: Definition };
  if (definition === undefined) {
    for (const inner of Object.values(value)) refuseUntellable(inner, direction, seen);
    return;
  }
  const { typeName, coerce, effect, shape, getter } = definition;
  const isCoercedInput = coerce === true && direction === 'input';
  if (UNTELLABLE.has(typeName) && !isCoercedInput) throw new TypeError(`${String(typeName)} cannot be represented in JSON Schema`);
  if (effect?.type === 'transform' && direction === 'output') throw new TypeError('Transforms cannot be represented in JSON Schema');
  if (typeof shape === 'function') refuseUntellable(shape(), direction, seen);
  if (typeof getter === 'function') refuseUntellable(getter(), direction, seen);
  for (const inner of Object.values(definition)) if (isSchemaOrList(inner)) refuseUntellable(inner, direction, seen);
}

/** Definitions also hold functions, values and options; only schemas and lists of them are followed. */
function isSchemaOrList(value: unknown): boolean {
  if (value instanceof Map) return false;
  return typeof value === 'object' && value !== null && ('_def' in value || Array.isArray(value));
}
