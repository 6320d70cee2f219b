/** `rateLimit()`: limits how often a caller may use a method. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { toNetwork } from '@mortise/protocol/edge';
import { RegistrationError } from '../errors.ts';
import type { Middleware, MiddlewareCall } from './middleware.ts';
import { TokenBucket } from '../token-bucket.ts';

/** The JSON-RPC error code of a request beyond the rate: 429, outside JSON-RPC's reserved range. Over HTTP it is sent with status 200. */
export const RATE_LIMITED = 429;

/** How many token buckets are kept, one per caller and method. The least recently used bucket is dropped first. */
const MAX_BUCKETS = 10_000;

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  /** How many requests a caller may send at once, before `perSecond` limits them. At least 1. @default 60 */
  readonly burst?: number | undefined;
  /** How many requests per second a caller may send to one method on average. @default 10 */
  readonly perSecond?: number | undefined;
  /** Names the caller: requests with the same key share a limit. @default the principal, or the remote address if no user was verified */
  readonly key?: ((call: MiddlewareCall) => string) | undefined;
}

/**
 * Makes middleware that rejects requests beyond a rate with a `ProtocolError` of code 429, whose `data.retryAfterMs` tells when to retry.
 *
 * Each caller has its own token bucket for each method, so one caller that floods the server does not affect the others. For one method only:
 * `server.use('tools/call', rateLimit({ burst: 20 }))`.
 *
 * Does NOT see what never reaches a method: an unknown method, invalid params, a refused token (401), a malformed HTTP request. Limit those
 * in the web framework or proxy in front.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: an option is unknown or has an invalid value, such as `NaN`.
 * @see 2026-07-28 server/tools#security-considerations
 */
export function rateLimit(options: RateLimitOptions = {}): Middleware {
  checkOptions('rateLimit', options, { burst: 1, perSecond: 0, key: 'function' }, RegistrationError);
  const { burst = 60, perSecond = 10, key = callerOf } = options;
  if (perSecond === 0) throw new RegistrationError('rateLimit: "perSecond" must be more than 0: nobody refused could ever come back');
  const buckets = new Map<string, TokenBucket>();
  return (call, next) => {
    const name = JSON.stringify([call.method, key(call)]);
    const bucket = buckets.get(name) ?? new TokenBucket(burst, perSecond, call.clock);
    // Moved to the end of the map, so that the first entry is always the least recently used.
    buckets.delete(name);
    buckets.set(name, bucket);
    const [oldest = name] = buckets.keys();
    if (buckets.size > MAX_BUCKETS) buckets.delete(oldest);
    if (bucket.take()) return next();
    const retryAfterMs = bucket.msUntilNext();
    const seconds = Math.ceil(retryAfterMs / 100) / 10;
    throw new ProtocolError(RATE_LIMITED, `Too many ${call.method} requests: try again in ${seconds} s`, { retryAfterMs });
  };
}

/** Names the caller of a request: the principal, or the network of the remote address if no user was verified. */
export function callerOf(call: Pick<MiddlewareCall, 'principal' | 'origin'>): string {
  return call.principal === 'anonymous' ? `anonymous ${toNetwork(call.origin?.remoteAddress ?? '')}` : call.principal;
}
