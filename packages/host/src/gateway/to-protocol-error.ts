/** What a call of a server behind failed with, as the error for the client in front. */

import { InputRequiredError } from '@mortise/client';
import { isMortiseError, ProtocolError, RemoteError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import { isResourceNotFound, resourceNotFoundError } from '@mortise/protocol/wire';
import { UrlElicitationRequiredError } from '@mortise/server';

/** Texts for failures that are not an answer of the server. They say nothing about how the server is reached. */
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['ERR_SERVER_UNAVAILABLE', 'is not available'],
  ['ERR_SIGN_IN_REQUIRED', 'needs the operator of this gateway to sign in'],
  ['ERR_TIMEOUT', 'did not respond in time'],
  ['ERR_CONNECTION_LOST', 'ended during the call: whether it was carried out is not known'],
  ['ERR_CONNECTION_CLOSED', 'ended during the call: whether it was carried out is not known'],
  ['ERR_INVALID_RESPONSE', 'sent an invalid response'],
  ['ERR_MISSING_CAPABILITY', 'does not support this'],
]);

/**
 * Converts an error. What the server answered passes unchanged, with its code and data.
 *
 * @param uri The URI of the resource that the request is about, if it is about one.
 */
export function toProtocolError(error: unknown, server: string, revision: Revision, uri: string | undefined): unknown {
  if (error instanceof InputRequiredError && error.elicitations.length > 0) return new UrlElicitationRequiredError(error.elicitations);
  const remote = findRemote(error);
  if (remote) {
    if (uri !== undefined && isResourceNotFound(remote)) return resourceNotFoundError(uri, revision.rules.resourceNotFoundCode);
    return new ProtocolError(remote.rpcCode, remote.message, remote.data, { cause: error });
  }
  const text = isMortiseError(error) ? TEXTS.get(error.code) : undefined;
  if (text === undefined) return error;
  return new ProtocolError(INTERNAL_ERROR, `The server "${server}" behind this gateway ${text}`, undefined, { cause: error });
}

/** Finds the server's own error: the error itself, or the cause of one of the client's classes. */
function findRemote(error: unknown): RemoteError | undefined {
  if (error instanceof RemoteError) return error;
  return error instanceof Error && error.cause instanceof RemoteError ? error.cause : undefined;
}
