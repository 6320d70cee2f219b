/** `/server/zod-json-schema-compat`: JSON Schema of zod 3 and zod 4 schemas. */

import type * as z3 from 'zod/v3';
import * as mini from 'zod/v4-mini';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { type AnyObjectSchema, type AnySchema, isZ4Schema, parse } from './zod-compat.ts';

export { getMethodLiteral } from './zod-compat.ts';

interface JsonSchemaOptions {
  strictUnions?: boolean;
  /** Which side of a transform to describe. @default 'input' */
  pipeStrategy?: 'input' | 'output';
  /** @default 'draft-7' */
  target?: 'jsonSchema7' | 'draft-7' | 'jsonSchema2019-09' | 'draft-2020-12';
}

/** Converts a schema to JSON Schema. @throws The schema has no JSON Schema form, such as a transform on the output side. */
export function toJsonSchemaCompat(schema: AnyObjectSchema, options: JsonSchemaOptions = {}): Record<string, unknown> {
  const { strictUnions = true, pipeStrategy = 'input', target } = options;
  if (!isZ4Schema(schema)) return zodToJsonSchema(schema as z3.ZodTypeAny as never, { strictUnions, pipeStrategy });
  const isNew = target === 'jsonSchema2019-09' || target === 'draft-2020-12';
  return mini.toJSONSchema(schema, { target: isNew ? 'draft-2020-12' : 'draft-7', io: pipeStrategy });
}

/** @throws The error of zod. */
export function parseWithCompat(schema: AnySchema, data: unknown): unknown {
  return parse(schema, data);
}
