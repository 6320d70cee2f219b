/**
 * The check of a modern request's headers against its body, so that whoever routed it by its headers and whoever runs it by its body have
 * read the same request.
 *
 * @see 2026-07-28 basic/transports/streamable-http#server-validation
 */

import type { JsonObject, JsonRpcMessage, JsonRpcRequest, RequestId } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { findRevision, type Revision, revisionsOf, supportedVersions } from '@mortise/protocol';
import {
  decodeHeaderValue,
  isSameParam,
  METHOD_HEADER,
  NAME_HEADER,
  PARAM_HEADER_PREFIX,
  PROTOCOL_VERSION_HEADER,
  readPath,
  toParamText,
} from '../../headers.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import { headerMismatch, otherVersion } from '../refusal.ts';

const NO_HEADER = 'send the version that "_meta" names';
const NO_VERSION = 'send "initialize" first, or name the version in it and in "_meta"';

/** The `_meta` of a message; undefined where it has none. */
export function metaOf(message: JsonRpcMessage): JsonObject | undefined {
  const meta = 'method' in message ? message.params?.['_meta'] : undefined;
  return isJsonObject(meta) ? meta : undefined;
}

/** Checks `MCP-Protocol-Version`. @param inBody The version in `_meta`; undefined where there is none, which others report. */
export function checkVersionHeader(http: HttpExchange, inBody: string | undefined, id: RequestId | undefined): void {
  const header = http.header(PROTOCOL_VERSION_HEADER);
  if (header === undefined)
    throw headerMismatch(`The header "MCP-Protocol-Version" is missing: ${inBody === undefined ? NO_VERSION : NO_HEADER}`, id);
  if (inBody !== undefined && header !== inBody)
    throw headerMismatch('The header "MCP-Protocol-Version" differs from the version in "_meta"', id);
}

/**
 * Tells a client of an older revision what is spoken where none of those is served: it cannot find out otherwise. For requests whose
 * `_meta` names no version.
 *
 * @see 2026-07-28 basic/versioning#backward-compatibility
 */
export function refuseOlder(http: HttpExchange, id: RequestId): void {
  const version = http.header(PROTOCOL_VERSION_HEADER);
  if (findRevision(version)?.era === 'modern') return;
  const spoken = supportedVersions(revisionsOf('modern')).join(', ');
  const remedy = `this server speaks ${spoken} only, so name that version in it and in "_meta"`;
  if (version === undefined) throw headerMismatch(`The header "MCP-Protocol-Version" is missing: ${remedy}`, id);
  throw otherVersion(`The header "MCP-Protocol-Version" names another version: ${remedy}`, id);
}

/** Checks `Mcp-Method`, `Mcp-Name` where the method has a name, and the `Mcp-Param-*` headers of a tool call. */
export function checkMirrorHeaders(http: HttpExchange, revision: Revision, { id, method, params }: JsonRpcRequest): void {
  const { endpoint } = http.host;
  if (http.header(METHOD_HEADER) === undefined) throw headerMismatch('The header "Mcp-Method" is missing: send the method of the body', id);
  checkMethodIfSent(http, method, id);
  const facts = revision.requests.get(method);
  const nameParam = facts === undefined ? endpoint.nameParam(method) : facts.nameParam;
  if (nameParam !== undefined) checkOne(http, { header: NAME_HEADER, shown: 'Mcp-Name', value: params?.[nameParam], id });
  const tool = method === 'tools/call' ? params?.['name'] : undefined;
  const marked = typeof tool === 'string' ? endpoint.paramHeaders(tool, http.principal, http) : undefined;
  // Headers that the tool does not mark mean nothing.
  for (const [name, path] of marked ?? []) {
    const value = readPath(params?.['arguments'], path);
    checkOne(http, { header: PARAM_HEADER_PREFIX + name.toLowerCase(), shown: `Mcp-Param-${name}`, value, id });
  }
}

/** Checks `Mcp-Method` of a message that may do without. */
export function checkMethodIfSent(http: HttpExchange, inBody: string, id: RequestId | undefined): void {
  const method = http.header(METHOD_HEADER);
  if (method !== undefined && method !== inBody) throw headerMismatch('The header "Mcp-Method" differs from the method in the body', id);
}

interface Mirrored {
  readonly header: string;
  readonly shown: string;
  readonly value: unknown;
  readonly id: RequestId;
}

function checkOne(http: HttpExchange, { header, shown, value, id }: Mirrored): void {
  const raw = http.header(header);
  if (raw === undefined) {
    // A value that no header can carry is for the tool's own schema to judge.
    if (toParamText(value) === undefined) return;
    throw headerMismatch(`The header "${shown}" is missing: it mirrors a value of the body`, id);
  }
  const text = decodeHeaderValue(raw);
  if (text === undefined) throw headerMismatch(`The header "${shown}" has characters that a header may not have, or is not base64`, id);
  if (!isSameParam(text, value)) throw headerMismatch(`The header "${shown}" differs from the body`, id);
}
