/** How long the addresses may be that somebody wants to be told of: they are kept for as long as the subscription lives. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';

/** As long as the longest address that a template reads. */
const MAX_URI_LENGTH = 8192;
/** What addresses have on average, at most. */
const MEAN_URI_LENGTH = 256;
/** A server that allows few subscriptions is to allow long addresses, too. */
const LEAST_TOTAL_LENGTH = 64 * 1024;

/** @throws {ProtocolError} -32602: an address is longer than 8,192 characters. */
export function requireShortUris(uris: readonly unknown[]): void {
  const long = uris.map(String).find(({ length }) => length > MAX_URI_LENGTH);
  if (long === undefined) return;
  throw new ProtocolError(
    INVALID_PARAMS,
    `A URI to subscribe to has ${MAX_URI_LENGTH} characters at most, this one has ${long.length}: subscribe to what it lies in`,
  );
}

/**
 * @param length Of all addresses that one session, or all listens of one connection, name, in characters.
 * @throws {ProtocolError} -32602: they are too long in sum.
 */
export function requireShortInSum(length: number, maxSubscriptions: number): void {
  const max = Math.max(maxSubscriptions * MEAN_URI_LENGTH, LEAST_TOTAL_LENGTH);
  if (length <= max) return;
  throw new ProtocolError(
    INVALID_PARAMS,
    `The URIs that are subscribed to together would have ${length} characters, at most ${max} are kept (${MEAN_URI_LENGTH} for each of the server's option "maxSubscriptions", and ${LEAST_TOTAL_LENGTH} in any case): subscribe to what they lie in`,
  );
}
