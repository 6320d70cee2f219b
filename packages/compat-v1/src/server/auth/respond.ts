/** What the handlers of the authorization server have in common. */

import type { RequestHandler, Response } from 'express';
import { rateLimit, type Options as RateLimitOptions } from 'express-rate-limit';
import type * as z from 'zod/v4';
import { InvalidRequestError, OAuthError, ServerError, TooManyRequestsError } from './errors.ts';

/** The options of `express-rate-limit`; false for no limit. */
export type RateLimit = Partial<RateLimitOptions> | false | undefined;

/** Returns the middlewares that limit requests: none for `false`. */
export function limitRequests(config: RateLimit, windowMinutes: number, limit: number, what: string): RequestHandler[] {
  if (config === false) return [];
  const message = new TooManyRequestsError(`You have exceeded the rate limit for ${what} requests`).toResponseObject();
  return [rateLimit({ windowMs: windowMinutes * 60_000, limit, standardHeaders: true, legacyHeaders: false, message, ...config })];
}

/** Returns OAuth's error for any failure. What else went wrong stays on the server. */
export function toOAuthError(error: unknown): OAuthError {
  return error instanceof OAuthError ? error : new ServerError('Internal Server Error');
}

/** Sends an error as JSON: status 500 for the server's own failures, else 400. */
export function refuse(response: Response, error: unknown): void {
  const known = toOAuthError(error);
  response.status(known instanceof ServerError ? 500 : 400).json(known.toResponseObject());
}

/** Makes a handler whose failures become error responses that nobody caches. */
export function answering(handle: (...given: Parameters<RequestHandler>) => Promise<void>): RequestHandler {
  return async (request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    try {
      await handle(request, response, next);
    } catch (error) {
      refuse(response, error);
    }
  };
}

/** Reads parameters by a schema. @throws {InvalidRequestError} They do not match. */
export function readParams<T extends z.ZodType>(schema: T, given: unknown): z.infer<T> {
  const { success, data, error } = schema.safeParse(given ?? {});
  if (!success) throw new InvalidRequestError(error.message);
  return data;
}
