/**
 * The headers of a modern request, which say again what its body says, for those who route without reading bodies.
 *
 * @see 2026-07-28 basic/transports/streamable-http#request-metadata
 */

import { InvalidRequestError, type JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { findRevision, NEWEST } from '@mortise/protocol';
import { META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import { encodeHeaderValue, isHeaderText, METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER } from '../../headers.ts';

/** Tells whether a message is written in the modern era: its `_meta` names its version. */
export function versionOf(params: JsonObject | undefined): string | undefined {
  const meta = params?.['_meta'];
  if (!isJsonObject(meta) || !Object.hasOwn(meta, META_PROTOCOL_VERSION)) return undefined;
  const version = meta[META_PROTOCOL_VERSION];
  return typeof version === 'string' ? version : undefined;
}

/**
 * Adds the headers that mirror a message.
 *
 * `Mcp-Name` goes with the methods of the core that have a name; an extension's come with the caller's own headers.
 *
 * @throws {InvalidRequestError} `ERR_INVALID_REQUEST`: a method or version that no header can carry.
 */
export function mirrorMessage(headers: Record<string, string>, message: { readonly method: string; readonly params?: JsonObject }): void {
  const { method, params } = message;
  const version = versionOf(params);
  if (version !== undefined) headers[PROTOCOL_VERSION_HEADER] = toHeader('protocol version', version);
  headers[METHOD_HEADER] = toHeader('method', method);
  const nameParam = (findRevision(version) ?? NEWEST).requests.get(method)?.nameParam;
  const name = nameParam === undefined ? undefined : params?.[nameParam];
  if (typeof name === 'string') headers[NAME_HEADER] = encodeHeaderValue(name);
}

function toHeader(what: string, value: string): string {
  if (isHeaderText(value) && value === value.trim() && value !== '') return value;
  throw new InvalidRequestError(`The ${what} ${JSON.stringify(value)} cannot be sent as an HTTP header: it must be visible ASCII`, -32600);
}
