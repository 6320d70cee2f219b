/** What all schemas are made of. Objects are loose: members that nobody here knows are kept. */

import { z } from 'zod/v4';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { META_SUBSCRIPTION_ID } from '../model/meta.ts';

/** A loose object that is known under the name of a model type. A property test holds the two equal in what they accept. */
export function loose<T>(...shapes: readonly z.ZodRawShape[]): z.ZodType<T> {
  return z.looseObject(Object.assign({}, ...shapes) as z.ZodRawShape) as unknown as z.ZodType<T>;
}

/**
 * An object whose members all fit, whatever their names. zod leaves a member that is named `__proto__` out of what it gives, without a
 * look at it; here that one must fit, too.
 */
export function record<T>(member: z.ZodType<T>): z.ZodType<Readonly<Record<string, T>>> {
  const isGood = (value: unknown): boolean => {
    const named = typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, '__proto__') : undefined;
    return named === undefined || member.safeParse(named.value).success;
  };
  return z.unknown().refine(isGood, 'The member "__proto__" does not fit').pipe(z.record(z.string(), member));
}

/** Any JSON object. */
export const object: z.ZodType<JsonObject> = loose({});
/** Any JSON value; it must be there. */
export const value: z.ZodType = z.unknown().refine((given) => given !== undefined, 'Required');
/** A request's id or a progress token. */
export const id: z.ZodType<string | number> = z.union([z.string(), z.int()]);

export const optionalString: z.ZodOptional<z.ZodString> = z.string().optional();
export const optionalNumber: z.ZodOptional<z.ZodNumber> = z.number().optional();
export const optionalInt: z.ZodOptional<z.ZodInt> = z.int().optional();
export const optionalBoolean: z.ZodOptional<z.ZodBoolean> = z.boolean().optional();
export const optionalStrings: z.ZodOptional<z.ZodArray<z.ZodString>> = z.array(z.string()).optional();
export const optionalObject: z.ZodOptional<z.ZodType<JsonObject>> = object.optional();

/** Params of a request. */
export function params<T>(...shapes: readonly z.ZodRawShape[]): z.ZodType<T> {
  return loose<T>({ _meta: loose({ progressToken: id.optional() }).optional() }, ...shapes);
}

/** Params of a notification. */
export function notificationParams<T>(...shapes: readonly z.ZodRawShape[]): z.ZodType<T> {
  return loose<T>({ _meta: loose({ [META_SUBSCRIPTION_ID]: id.optional() }).optional() }, ...shapes);
}
