/**
 * MCP's own error codes, what their `data` holds, and how they are made and read. Which revision may send which is said by
 * `Revision.errorCodes`.
 */

import { type JsonObject, type JsonRpcErrorObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities } from './model/capabilities.ts';
import type { ElicitRequestURLParams } from './model/elicitation.ts';

/** No such resource. Sent until 2025-11-25, still read after. Then -32602. */
export const RESOURCE_NOT_FOUND_LEGACY = -32002;
/** A page must be opened first. 2025-11-25 only. */
export const URL_ELICITATION_REQUIRED = -32042;
/** An HTTP header is missing, malformed or differs from the body. Since 2026-07-28. */
export const HEADER_MISMATCH = -32020;
/** The request needs something that the client did not declare. Since 2026-07-28. */
export const MISSING_CLIENT_CAPABILITY = -32021;
/** The request is written in a revision that the server does not speak. Since 2026-07-28. */
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;

/** An early number of -32021. Read, never sent. */
const MISSING_CAPABILITY_DRAFT = -32003;

/** `data` of -32042. */
export interface UrlElicitationData extends JsonObject {
  readonly elicitations: readonly ElicitRequestURLParams[];
}

/** The error for a request in a revision that is not spoken here. @see 2026-07-28 basic/versioning#protocol-version-negotiation */
export function unsupportedVersionError(requested: string, supported: readonly string[]): ProtocolError {
  return new ProtocolError(UNSUPPORTED_PROTOCOL_VERSION, `Unsupported protocol version: use one of ${supported.join(', ')}`, {
    supported,
    requested,
  });
}

/** The error for a request that needs undeclared capabilities. @see 2026-07-28 basic/index#error-codes */
export function missingCapabilityError(requiredCapabilities: ClientCapabilities): ProtocolError {
  const message = `The request needs client capabilities that it does not declare: ${capabilityNames(requiredCapabilities)}`;
  return new ProtocolError(MISSING_CLIENT_CAPABILITY, message, { requiredCapabilities });
}

/** The error for a resource that does not exist. @param code `revision.rules.resourceNotFoundCode`. */
export function resourceNotFoundError(uri: string, code: number): ProtocolError {
  return new ProtocolError(code, 'Resource not found', { uri });
}

/** The error for params that do not fit, with the sentence of a check. */
export function invalidParamsError(reason: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, `Invalid params: ${reason}`);
}

/** The error that sends a user to a page first. 2025-11-25 only. @see 2025-11-25 client/elicitation#url-elicitation-required-error */
export function urlElicitationRequiredError(elicitations: readonly ElicitRequestURLParams[]): ProtocolError {
  const data: UrlElicitationData = { elicitations };
  return new ProtocolError(URL_ELICITATION_REQUIRED, 'The user has to open a page first', data);
}

/** Tells whether an error code proves a modern peer. Draft numbers and -32601 do not. */
export function isModernError(code: number): boolean {
  return code === HEADER_MISMATCH || code === MISSING_CLIENT_CAPABILITY || code === UNSUPPORTED_PROTOCOL_VERSION;
}

/**
 * What an error says that the client should have declared.
 *
 * Reads -32021, and -32003 where its data has the same shape; any other error, and any other -32003, gives undefined.
 */
export function readMissingCapabilities(error: Pick<JsonRpcErrorObject, 'code' | 'data'>): ClientCapabilities | undefined {
  if (error.code !== MISSING_CLIENT_CAPABILITY && error.code !== MISSING_CAPABILITY_DRAFT) return undefined;
  const required = isJsonObject(error.data) ? error.data['requiredCapabilities'] : undefined;
  return isJsonObject(required) ? required : undefined;
}

/** The revisions that an unsupported-version error offers instead; undefined for every other error. */
export function readSupportedVersions(error: Pick<JsonRpcErrorObject, 'code' | 'data'>): readonly string[] | undefined {
  if (error.code !== UNSUPPORTED_PROTOCOL_VERSION || !isJsonObject(error.data)) return undefined;
  const { supported } = error.data;
  return Array.isArray(supported) && supported.every((version) => typeof version === 'string') ? supported : undefined;
}

function capabilityNames(capabilities: JsonObject, prefix = ''): string {
  const names = Object.entries(capabilities).map(([key, value]) => {
    const nested = isJsonObject(value) && key !== 'extensions' ? capabilityNames(value, `${prefix}${key}.`) : '';
    return nested === '' ? prefix + key : nested;
  });
  return names.join(', ');
}
