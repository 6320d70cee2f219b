/** How the handlers of an authorization server read parameters, and refuse. */

import type { Response } from 'express';
import type * as z from 'zod/v4';
import { InvalidRequestError, OAuthError, ServerError } from './errors.ts';

/** Returns OAuth's error for any failure. What else went wrong stays on the server. */
export function toOAuthError(error: unknown): OAuthError {
  return error instanceof OAuthError ? error : new ServerError('Internal Server Error');
}

/** Sends an error as JSON: status 500 for the server's own failures, else 400. */
export function refuse(response: Response, error: unknown): void {
  const known = toOAuthError(error);
  response.status(known instanceof ServerError ? 500 : 400).json(known.toResponseObject());
}

/** Reads parameters by a schema. @throws {InvalidRequestError} They do not match. */
export function readParams<T extends z.ZodType>(schema: T, given: unknown): z.infer<T> {
  const { success, data, error } = schema.safeParse(given ?? {});
  if (!success) throw new InvalidRequestError(error.message);
  return data;
}

export function toUrl(text: string | undefined): URL | undefined {
  return text === undefined ? undefined : new URL(text);
}
