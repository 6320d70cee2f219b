/**
 * MCP's own error codes and their `data`: functions that create and read such errors. `Revision.errorCodes` lists the codes that a
 * revision may send.
 */

import { type JsonObject, type JsonRpcErrorObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities } from './model/capabilities.ts';
import type { ElicitRequestURLParams } from './model/elicitation.ts';

/** Resource not found. Sent up to 2025-11-25; later revisions send -32602, but clients still accept this code. */
export const RESOURCE_NOT_FOUND_LEGACY = -32002;
/** The user must first open a URL (URL mode elicitation). 2025-11-25 only. */
export const URL_ELICITATION_REQUIRED = -32042;
/** An HTTP header is missing or malformed, or differs from the body. Since 2026-07-28. */
export const HEADER_MISMATCH = -32020;
/** The request needs a capability that the client did not declare. Since 2026-07-28. */
export const MISSING_CLIENT_CAPABILITY = -32021;
/** The server does not support the request's protocol version. Since 2026-07-28. */
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;

/** The token lacks a scope; `data.requiredScopes` lists all that are needed. Our own code: over HTTP it is also the status. */
export const INSUFFICIENT_SCOPE = 403;

/** The code that drafts of 2026-07-28 had for -32021. It is accepted from servers, but never sent. */
const MISSING_CAPABILITY_DRAFT = -32003;

/** The `data` of a -32042 error: the URLs that the user must first open. */
export interface UrlElicitationData extends JsonObject {
  readonly elicitations: readonly ElicitRequestURLParams[];
}

/** Creates a -32022 error, which lists the supported versions. @see 2026-07-28 basic/versioning#protocol-version-negotiation */
export function unsupportedVersionError(requested: string, supported: readonly string[]): ProtocolError {
  return new ProtocolError(UNSUPPORTED_PROTOCOL_VERSION, `Unsupported protocol version: use one of ${supported.join(', ')}`, {
    supported,
    requested,
  });
}

/** Creates a -32021 error, which lists the capabilities that the client has to declare. @see 2026-07-28 basic/index#error-codes */
export function missingCapabilityError(requiredCapabilities: ClientCapabilities): ProtocolError {
  const message = `The request needs client capabilities that it does not declare: ${capabilityNames(requiredCapabilities)}`;
  return new ProtocolError(MISSING_CLIENT_CAPABILITY, message, { requiredCapabilities });
}

/** Creates the error for a resource that does not exist. @param code The code that the client's revision has for it. */
export function resourceNotFoundError(uri: string, code: number): ProtocolError {
  return new ProtocolError(code, 'Resource not found', { uri });
}

/** Creates a -32602 error (invalid params). @param reason The sentence that a check of the params returned. */
export function invalidParamsError(reason: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, `Invalid params: ${reason}`);
}

/** Creates a -32042 error (the user must open URLs). 2025-11-25 only. @see 2025-11-25 client/elicitation#url-elicitation-required-error */
export function urlElicitationRequiredError(elicitations: readonly ElicitRequestURLParams[], message: string): ProtocolError {
  const data: UrlElicitationData = { elicitations };
  return new ProtocolError(URL_ELICITATION_REQUIRED, message, data);
}

/** Tells whether an error code is sent only by peers of the modern era. False for the codes of drafts and for -32601. */
export function isModernError(code: number): boolean {
  return code === HEADER_MISMATCH || code === MISSING_CLIENT_CAPABILITY || code === UNSUPPORTED_PROTOCOL_VERSION;
}

/**
 * Reads the capabilities that an error requires the client to declare.
 *
 * Accepts a -32021 error, and a -32003 error (the code in drafts) if its `data` has the same shape.
 *
 * @returns undefined for every other error.
 */
export function readMissingCapabilities(error: Pick<JsonRpcErrorObject, 'code' | 'data'>): ClientCapabilities | undefined {
  if (error.code !== MISSING_CLIENT_CAPABILITY && error.code !== MISSING_CAPABILITY_DRAFT) return undefined;
  const required = isJsonObject(error.data) ? error.data['requiredCapabilities'] : undefined;
  return isJsonObject(required) ? required : undefined;
}

/** Reads the supported versions from a -32022 error. @returns undefined for every other error. */
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
