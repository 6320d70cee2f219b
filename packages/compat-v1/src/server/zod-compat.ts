/** `/server/zod-compat`: reads schemas of zod 3 and zod 4 alike. */

import * as z3 from 'zod/v3';
import type * as z4 from 'zod/v4/core';
import * as mini from 'zod/v4-mini';

export type AnySchema = z3.ZodTypeAny | z4.$ZodType;
export type AnyObjectSchema = z3.AnyZodObject | z4.$ZodObject | AnySchema;
export type ZodRawShapeCompat = Record<string, AnySchema>;
export type SchemaOutput<S> = S extends z3.ZodTypeAny ? z3.infer<S> : S extends z4.$ZodType ? z4.output<S> : never;
export type SchemaInput<S> = S extends z3.ZodTypeAny ? z3.input<S> : S extends z4.$ZodType ? z4.input<S> : never;
export type ShapeOutput<Shape extends ZodRawShapeCompat> = { [K in keyof Shape]: SchemaOutput<Shape[K]> };
export type ParseOutcome<S> = { success: true; data: SchemaOutput<S> } | { success: false; error: unknown };

/** The members of schemas that are read here, whichever zod made them. */
interface SchemaParts {
  readonly _zod?: { readonly def?: DefinitionParts };
  readonly _def?: DefinitionParts;
  readonly shape?: unknown;
  readonly value?: unknown;
  readonly description?: string;
  readonly parse?: unknown;
  readonly safeParse?: unknown;
  isOptional?(): boolean;
}
interface DefinitionParts {
  readonly type?: string;
  readonly shape?: unknown;
  readonly value?: unknown;
  readonly values?: readonly unknown[];
}

export function isZ4Schema(schema: AnySchema): schema is z4.$ZodType {
  return (schema as SchemaParts)._zod !== undefined;
}

/** Tells whether a value is a schema of zod, and not a shape of them. */
export function isSchema(value: unknown): value is AnySchema {
  if (typeof value !== 'object' || value === null) return false;
  const { _def, _zod, parse, safeParse } = value as SchemaParts;
  return _def !== undefined || _zod !== undefined || (typeof parse === 'function' && typeof safeParse === 'function');
}

/** Tells whether a value is a shape: an object whose members are schemas. The empty object is one. */
export function isShape(value: unknown): value is ZodRawShapeCompat {
  if (typeof value !== 'object' || value === null || isSchema(value)) return false;
  const fields: readonly unknown[] = Object.values(value);
  return fields.length === 0 || fields.some((field) => isSchema(field) && 'parse' in field);
}

/** Makes an object schema of a shape. @throws {Error} The shape mixes zod 3 and zod 4. */
export function objectFromShape(shape: ZodRawShapeCompat): AnyObjectSchema {
  const fields = Object.values(shape);
  if (fields.every(isZ4Schema)) return mini.object(shape as Record<string, z4.$ZodType>);
  if (fields.some(isZ4Schema)) throw new Error('Mixed Zod versions detected in object shape.');
  return z3.object(shape as z3.ZodRawShape);
}

export function safeParse<S extends AnySchema>(schema: S, data: unknown): ParseOutcome<S> {
  const outcome: unknown = isZ4Schema(schema) ? mini.safeParse(schema, data) : (schema as z3.ZodTypeAny).safeParse(data);
  return outcome as ParseOutcome<S>;
}

/** Like `safeParseAsync`, but returns no promise if the schema needs none. */
export function safeParseMaybeAsync<S extends AnySchema>(schema: S, data: unknown): ParseOutcome<S> | Promise<ParseOutcome<S>> {
  const { '~standard': standard } = schema as { readonly '~standard'?: Standard };
  if (!isZ4Schema(schema) || !standard) return safeParseAsync(schema, data);
  const outcome = standard.validate(data);
  return outcome instanceof Promise ? outcome.then((settled) => toOutcome<S>(settled)) : toOutcome<S>(outcome);
}

function toOutcome<S>(outcome: StandardOutcome): ParseOutcome<S> {
  return outcome.issues ? { success: false, error: outcome } : { success: true, data: outcome.value as SchemaOutput<S> };
}

interface StandardOutcome {
  readonly value?: unknown;
  readonly issues?: readonly unknown[];
}
interface Standard {
  validate(data: unknown): StandardOutcome | Promise<StandardOutcome>;
}

export async function safeParseAsync<S extends AnySchema>(schema: S, data: unknown): Promise<ParseOutcome<S>> {
  const outcome: unknown = isZ4Schema(schema)
    ? await mini.safeParseAsync(schema, data)
    : await (schema as z3.ZodTypeAny).safeParseAsync(data);
  return outcome as ParseOutcome<S>;
}

/** @throws The error of zod. */
export function parse<S extends AnySchema>(schema: S, data: unknown): SchemaOutput<S> {
  const outcome = safeParse(schema, data);
  if (!outcome.success) throw outcome.error;
  return outcome.data;
}

/** Returns the fields of an object schema; undefined for any other. */
export function getObjectShape(schema: AnyObjectSchema | undefined): Record<string, AnySchema> | undefined {
  const { _zod, shape: own } = (schema ?? {}) as SchemaParts;
  const shape = _zod ? _zod.def?.shape : own;
  return (typeof shape === 'function' ? (shape as () => unknown)() : shape) as Record<string, AnySchema> | undefined;
}

/** Returns an object schema for a shape or an object schema; undefined for anything else, such as a union. */
export function normalizeObjectSchema(schema: AnySchema | ZodRawShapeCompat | undefined): AnyObjectSchema | undefined {
  if (schema === undefined) return undefined;
  if (!isSchema(schema)) return Object.keys(schema).length > 0 && isShape(schema) ? objectFromShape(schema) : undefined;
  return getObjectShape(schema) === undefined ? undefined : schema;
}

/** Describes an error of zod: each problem, and where it is. */
export function getParseErrorMessage(error: unknown): string {
  const { issues, message } = (error ?? {}) as { readonly issues?: readonly Issue[]; readonly message?: unknown };
  if (Array.isArray(issues) && issues.length > 0) return (issues as readonly Issue[]).map(describeIssue).join('\n');
  return typeof message === 'string' ? message : String(error);
}

interface Issue {
  readonly message: string;
  readonly path?: readonly PropertyKey[];
}

function describeIssue({ message, path = [] }: Issue): string {
  const [first, ...rest] = path;
  if (first === undefined) return message;
  const below = rest.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return `${message} at ${String(first)}${below}`;
}

export function getSchemaDescription(schema: AnySchema): string | undefined {
  return (schema as SchemaParts).description;
}

export function isSchemaOptional(schema: AnySchema): boolean {
  const { _zod, isOptional } = schema as SchemaParts;
  return _zod ? _zod.def?.type === 'optional' : isOptional?.call(schema) === true;
}

/** Returns the one value that a literal schema accepts; undefined for other schemas. */
export function getLiteralValue(schema: AnySchema): unknown {
  const { _zod, _def, value } = schema as SchemaParts;
  const definition = _zod?.def ?? _def;
  return definition?.value ?? definition?.values?.[0] ?? value;
}

/** Returns the method that a request or notification schema is for. @throws {Error} It has no literal method. */
export function getMethodLiteral(schema: AnyObjectSchema): string {
  const method = getObjectShape(schema)?.['method'];
  if (!method) throw new Error('Schema is missing a method literal');
  const value = getLiteralValue(method);
  if (typeof value !== 'string') throw new Error('Schema method literal must be a string');
  return value;
}
