/** The endpoints of an authorization server: methods, bodies, limits, and errors as responses. */

import cors from 'cors';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { rateLimit, type Options as RateLimitOptions } from 'express-rate-limit';
import { TooManyRequestsError } from './errors.ts';
import { allowedMethods } from './middleware/allowedMethods.ts';
import { refuse } from './respond.ts';

/** The options of `express-rate-limit`; false for no limit. */
export type RateLimit = Partial<RateLimitOptions> | false | undefined;

/** An endpoint: which methods it takes, how many requests, and what comes before its handler. */
interface Endpoint {
  readonly what: string;
  readonly methods: readonly string[];
  readonly body?: 'form' | 'json';
  readonly rateLimit: RateLimit;
  readonly windowMinutes: number;
  readonly limit: number;
  /** Whether pages of other origins may send requests. @default true */
  readonly isForPages?: boolean;
  readonly before?: RequestHandler;
}

/** Makes an endpoint. Its failures become error responses that nobody caches. */
export function endpoint(options: Endpoint, handle: (request: Request, response: Response) => Promise<void>): RequestHandler {
  const { what, methods, body = 'form', rateLimit: limits, windowMinutes, limit, isForPages = true, before } = options;
  const router = express.Router();
  if (isForPages) router.use(cors());
  router.use(allowedMethods([...methods]), body === 'form' ? express.urlencoded({ extended: false }) : express.json());
  router.use(...limitRequests(limits, windowMinutes, limit, what), ...(before ? [before] : []));
  router.all('/', async (request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    try {
      await handle(request, response);
    } catch (error) {
      refuse(response, error);
    }
  });
  return router;
}

/** Returns the middlewares that limit requests: none for `false`. */
function limitRequests(config: RateLimit, windowMinutes: number, limit: number, what: string): RequestHandler[] {
  if (config === false) return [];
  const message = new TooManyRequestsError(`You have exceeded the rate limit for ${what} requests`).toResponseObject();
  return [rateLimit({ windowMs: windowMinutes * 60_000, limit, standardHeaders: true, legacyHeaders: false, message, ...config })];
}
