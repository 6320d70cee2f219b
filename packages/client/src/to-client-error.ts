/** Gives errors that a caller may want to act on a class of their own. The one place that does. */

import { ConnectionClosedError, ConnectionLostError, type JsonObject, RemoteError } from '@mortise/jsonrpc-core';
import type { Era } from '@mortise/protocol';
import { isResourceNotFound, readMissingCapabilities } from '@mortise/protocol/wire';
import { MissingCapabilityError, ResourceNotFoundError } from './errors.ts';

/** The request that failed. */
export interface FailedRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly era: Era;
  /** Whether a lost connection is opened again. */
  readonly isReopened: boolean;
}

export function toClientError(error: unknown, request: FailedRequest): unknown {
  if (error instanceof RemoteError) return fromRemote(error, request);
  if (error instanceof ConnectionClosedError && request.isReopened) {
    return new ConnectionLostError(
      `the connection broke before "${request.method}" was answered: whether it was carried out is not known`,
      { cause: error },
    );
  }
  return error;
}

function fromRemote(error: RemoteError, { method, params, era }: FailedRequest): Error {
  const { uri } = params;
  if (method.startsWith('resources/') && typeof uri === 'string' && isResourceNotFound(error)) return new ResourceNotFoundError(uri, error);
  const required =
    era === 'modern' ? readMissingCapabilities({ code: error.rpcCode, ...(error.data !== undefined && { data: error.data }) }) : undefined;
  if (!required) return error;
  const missing = namesOf(required);
  return new MissingCapabilityError(
    `the server needs what this client does not declare for "${method}": ${missing.join(', ')}. Give connect() a handler for it (elicitation, sampling, roots), or the extension`,
    'client',
    missing,
    { cause: error },
  );
}

/** Dotted names of capabilities, and the identifiers of extensions. */
function namesOf(capabilities: JsonObject): readonly string[] {
  return Object.entries(capabilities).flatMap(([name, settings]) => {
    const inner = typeof settings === 'object' && settings !== null ? Object.keys(settings) : [];
    if (name === 'extensions') return inner;
    return inner.length > 0 ? inner.map((key) => `${name}.${key}`) : [name];
  });
}
