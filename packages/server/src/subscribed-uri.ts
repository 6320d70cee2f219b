/** How long an address may be that somebody wants to be told of: it is kept for as long as the subscription lives. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';

/** As long as the longest address that a template reads. */
const MAX_URI_LENGTH = 8192;

/** @throws {ProtocolError} -32602: an address is longer than 8,192 characters. */
export function requireShortUris(uris: readonly unknown[]): void {
  const long = uris.map(String).find(({ length }) => length > MAX_URI_LENGTH);
  if (long === undefined) return;
  throw new ProtocolError(
    INVALID_PARAMS,
    `A URI to subscribe to has ${MAX_URI_LENGTH} characters at most, this one has ${long.length}: subscribe to what it lies in`,
  );
}
