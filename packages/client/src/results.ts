/** Checks a server's result where it becomes canonical, in both eras, and gives its errors the classes of this package. */

import { InvalidResponseError, type JsonObject, type RemoteError } from '@mortise/jsonrpc-core';
import { checkListItem, checkServerResult } from '@mortise/protocol/checks';
import { isResourceNotFound, readMissingCapabilities } from '@mortise/protocol/wire';
import { capabilityNames } from './capabilities.ts';
import { MissingCapabilityError, ResourceNotFoundError } from './errors.ts';
import { LIST_KEYS } from './lists.ts';
import type { Session } from './session.ts';

/** Malformed `_meta` and hints for caches are no reason to refuse a result. */
const LENIENT = { _meta: undefined, ttlMs: undefined, cacheScope: undefined };

/**
 * Gives the result back.
 *
 * A malformed item of a list is reported and left out, so that it does not hide the others. Methods that MCP does not know pass.
 *
 * @throws {InvalidResponseError} It is not a result of this method.
 */
export function checkResult(method: string, given: JsonObject, report: (error: Error) => void): JsonObject {
  // Older servers leave `content` out where there is structured content.
  const result = method === 'tools/call' && given['content'] === undefined ? { ...given, content: [] } : given;
  const problem = checkServerResult(method, result);
  if (problem !== undefined && checkServerResult(method, { ...result, ...LENIENT }) !== undefined) {
    throw new InvalidResponseError(`the server's answer to "${method}" is not a valid result: ${problem}`);
  }
  const key = LIST_KEYS.get(method);
  return key === undefined ? result : withoutMalformed(method, key, result, report);
}

function withoutMalformed(method: string, key: string, result: JsonObject, report: (error: Error) => void): JsonObject {
  const items = result[key] as readonly JsonObject[];
  const good = items.filter((item) => {
    const reason = checkListItem(method, item);
    if (reason !== undefined) report(new InvalidResponseError(`"${method}" lists a malformed item: ${reason}`));
    return reason === undefined;
  });
  return good.length === items.length ? result : { ...result, [key]: good };
}

/** Gives errors of the server that a caller may want to act on a class of their own. */
export function toClientError({ revision }: Session, method: string, { uri }: JsonObject, error: RemoteError): Error {
  if (method.startsWith('resources/') && typeof uri === 'string' && isResourceNotFound(error)) return new ResourceNotFoundError(uri, error);
  if (!revision.errorCodes.has('MISSING_CLIENT_CAPABILITY')) return error;
  const required = readMissingCapabilities({ code: error.rpcCode, ...(error.data !== undefined && { data: error.data }) });
  if (!required) return error;
  const missing = capabilityNames(required);
  const message = `the server needs what this client does not declare for "${method}": ${missing.join(', ')}. Give connect() a handler for it (elicitation, sampling, roots), or the extension`;
  return new MissingCapabilityError(message, 'client', missing, { cause: error });
}
