/** What all schemas are made of. Objects are loose: members that nobody here knows are kept. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { z } from 'zod/v4';

/** A loose object that is known under the name of a model type. A property test holds the two equal in what they accept. */
export function loose<T>(shape: z.ZodRawShape): z.ZodType<T> {
  return z.looseObject(shape) as unknown as z.ZodType<T>;
}

/** Any JSON object. */
export const JsonObjectSchema: z.ZodType<JsonObject> = loose({});
/** Any JSON value; absent is none. */
export const JsonValueSchema: z.ZodType = z.unknown().refine((value) => value !== undefined, 'Required');
/** A request's id or a progress token. */
export const RequestIdSchema: z.ZodType<string | number> = z.union([z.string(), z.int()]);

export const optionalString: z.ZodOptional<z.ZodString> = z.string().optional();
export const optionalNumber: z.ZodOptional<z.ZodNumber> = z.number().optional();
export const optionalInt: z.ZodOptional<z.ZodInt> = z.int().optional();
export const optionalBoolean: z.ZodOptional<z.ZodBoolean> = z.boolean().optional();
export const optionalStrings: z.ZodOptional<z.ZodArray<z.ZodString>> = z.array(z.string()).optional();
export const optionalObject: z.ZodOptional<z.ZodType<JsonObject>> = JsonObjectSchema.optional();
