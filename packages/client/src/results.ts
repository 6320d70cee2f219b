/** Checks the server's results, and converts its errors to the classes of this package. */

import { InvalidResponseError, type JsonObject, type RemoteError } from '@mortise/jsonrpc-core';
import { checkListItem, checkServerResult } from '@mortise/protocol/checks';
import { isResourceNotFound, readMissingCapabilities } from '@mortise/protocol/wire';
import { capabilityNames } from './capabilities.ts';
import { MissingCapabilityError, ResourceNotFoundError } from './errors.ts';
import { LIST_KEYS } from './lists.ts';
import type { Session } from './session.ts';

/** Members that the check of a result leaves out: malformed `_meta` and cache hints do not make a result invalid. */
const LENIENT = { _meta: undefined, ttlMs: undefined, cacheScope: undefined };

/**
 * Checks a server's result and returns it, without the malformed items of lists.
 *
 * Each malformed item is reported. Results of methods that MCP does not define pass unchecked.
 *
 * @throws {InvalidResponseError} The value is not a valid result of this method.
 */
export function checkResult(method: string, given: JsonObject, report: (error: Error) => void): JsonObject {
  // Older servers leave out `content` if there is structured content.
  const result = method === 'tools/call' && given['content'] === undefined ? { ...given, content: [] } : given;
  const problem = checkServerResult(method, result);
  if (problem !== undefined && checkServerResult(method, { ...result, ...LENIENT }) !== undefined) {
    throw new InvalidResponseError(`the server's response to "${method}" is not a valid result: ${problem}`);
  }
  const key = LIST_KEYS.get(method);
  return key === undefined ? result : withoutMalformed(method, key, result, report);
}

function withoutMalformed(method: string, key: string, result: JsonObject, report: (error: Error) => void): JsonObject {
  const items = result[key] as readonly JsonObject[];
  const good = items.filter((item) => {
    const reason = checkListItem(method, item);
    if (reason !== undefined) report(new InvalidResponseError(`the "${method}" result has a malformed item, which is left out: ${reason}`));
    return reason === undefined;
  });
  return good.length === items.length ? result : { ...result, [key]: good };
}

/** Converts a server's error to its specific class, if it has one. */
export function toClientError({ revision }: Session, method: string, { uri }: JsonObject, error: RemoteError): Error {
  if (method.startsWith('resources/') && typeof uri === 'string' && isResourceNotFound(error)) return new ResourceNotFoundError(uri, error);
  if (!revision.errorCodes.has('MISSING_CLIENT_CAPABILITY')) return error;
  const required = readMissingCapabilities({ code: error.rpcCode, ...(error.data !== undefined && { data: error.data }) });
  if (!required) return error;
  const missing = capabilityNames(required);
  const message = `the server needs what this client does not declare for "${method}": ${missing.join(', ')}. Give connect() a handler for it (elicitation, sampling, roots), or the extension (such as taskClient() for tasks)`;
  return new MissingCapabilityError(message, 'client', missing, { cause: error });
}
