/** `rateLimit()`: how often one caller may use a method. */

import type { Clock } from '@mortise/jsonrpc-core';
import { ProtocolError } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { checkTypes } from '../check-types.ts';
import type { Middleware, MiddlewareCall } from './middleware.ts';
import { TokenBucket } from '../token-bucket.ts';

/** The error code of a refused request: outside JSON-RPC's reserved range, and the number that HTTP has for it. */
export const RATE_LIMITED = 429;

const DEFAULT_METHODS: readonly string[] = ['tools/call', 'completion/complete'];
const DEFAULT_BURST = 60;
const DEFAULT_PER_SECOND = 10;
const DEFAULT_MAX_CALLERS = 10_000;

/** How requests are limited. */
export interface RateLimitOptions {
  /** How many requests may come at once. @default 60 */
  readonly burst?: number | undefined;
  /** How many come back in a second. @default 10 */
  readonly perSecond?: number | undefined;
  /** Each method has a limit of its own. @default `tools/call` and `completion/complete` */
  readonly methods?: readonly string[] | undefined;
  /** Whose limit a request counts against. @default the principal; the remote address where nobody was verified */
  readonly key?: ((call: MiddlewareCall) => string) | undefined;
  /** How many callers are remembered; the one who has been away longest is forgotten first. @default 10_000 */
  readonly maxCallers?: number | undefined;
  /** Tells when requests come back. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/**
 * Refuses requests beyond a rate with a `ProtocolError` of code 429 whose data says when to come back (`retryAfterMs`).
 *
 * A token bucket for each caller and method. Callers share nothing: one who floods the server is refused alone.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: a figure is none, such as that of an unset variable: it would be no limit.
 * @see 2026-07-28 server/tools#security-considerations
 */
export function rateLimit(options: RateLimitOptions = {}): Middleware {
  checkTypes("rateLimit's options", options, { burst: 'amount', perSecond: 'amount', maxCallers: 'count' });
  const {
    burst = DEFAULT_BURST,
    perSecond = DEFAULT_PER_SECOND,
    methods = DEFAULT_METHODS,
    key = callerOf,
    maxCallers = DEFAULT_MAX_CALLERS,
    clock = systemClock,
  } = options;
  const limited = new Set(methods);
  const buckets = new Map<string, TokenBucket>();
  return (call, next) => {
    if (!limited.has(call.method)) return next();
    const name = JSON.stringify([call.method, key(call)]);
    const bucket = buckets.get(name) ?? new TokenBucket(burst, perSecond, clock);
    // Written again at the end of the map, whose first entry is so always the one that was used longest ago.
    buckets.delete(name);
    buckets.set(name, bucket);
    if (buckets.size > maxCallers) forgetOldest(buckets);
    if (bucket.take()) return next();
    const retryAfterMs = bucket.msUntilNext();
    throw new ProtocolError(RATE_LIMITED, `Too many ${call.method} requests: try again in ${Math.ceil(retryAfterMs / 100) / 10} s`, {
      retryAfterMs,
    });
  };
}

function callerOf(call: MiddlewareCall): string {
  return call.principal === 'anonymous' ? `anonymous ${call.origin?.remoteAddress ?? ''}` : call.principal;
}

function forgetOldest(buckets: Map<string, TokenBucket>): void {
  const [oldest] = buckets.keys();
  if (oldest !== undefined) buckets.delete(oldest);
}
