/**
 * Holds a modern request's headers against its body, so that whoever routed it by its headers and whoever runs it by its body cannot
 * have read two different requests.
 *
 * @see 2026-07-28 basic/transports/streamable-http#server-validation
 */

import type { JsonRpcRequest, RequestId } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { findRevision, revisionsOf, supportedVersions } from '@mortise/protocol';
import { HEADER_MISMATCH } from '@mortise/protocol/wire';
import type { ParamHeaders } from '@mortise/protocol/contracts';
import {
  decodeHeaderValue,
  isSameParam,
  METHOD_HEADER,
  NAME_HEADER,
  PARAM_HEADER_PREFIX,
  PROTOCOL_VERSION_HEADER,
  readPath,
  toParamText,
} from '../headers.ts';
import type { HttpRequest } from './http-request.ts';
import { HttpRefusal } from './refusal.ts';

const NO_HEADER = 'send the version that "_meta" names';
const NO_VERSION = 'send "initialize" first, or name the version in it and in "_meta"';

/** Checks `MCP-Protocol-Version`. @param inBody The version in `_meta`; undefined where there is none, which others report. */
export function checkVersionHeader(request: HttpRequest, inBody: string | undefined, id: RequestId | undefined): void {
  const header = request.header(PROTOCOL_VERSION_HEADER);
  if (header === undefined)
    throw mismatch(`The header "MCP-Protocol-Version" is missing: ${inBody === undefined ? NO_VERSION : NO_HEADER}`, id);
  if (inBody !== undefined && header !== inBody)
    throw mismatch('The header "MCP-Protocol-Version" differs from the version in "_meta"', id);
}

/**
 * Tells a client of an older revision what is spoken where none of those is served: it cannot find out otherwise. For requests whose
 * `_meta` names no version.
 *
 * @see 2026-07-28 basic/versioning#backward-compatibility
 */
export function refuseOlder(request: HttpRequest, id: RequestId): void {
  const version = request.header(PROTOCOL_VERSION_HEADER);
  if (findRevision(version)?.era === 'modern') return;
  const spoken = supportedVersions(revisionsOf('modern')).join(', ');
  const remedy = `this server speaks ${spoken} only, so name that version in it and in "_meta"`;
  if (version === undefined) throw mismatch(`The header "MCP-Protocol-Version" is missing: ${remedy}`, id);
  throw new HttpRefusal(400, `The header "MCP-Protocol-Version" names another version: ${remedy}`, { rpcCode: INVALID_PARAMS, id });
}

/** Checks `Mcp-Method`, and `Mcp-Name` where the method has a name. @param nameParam The parameter that `Mcp-Name` mirrors. */
export function checkMethodHeaders(request: HttpRequest, message: JsonRpcRequest, nameParam: string | undefined): void {
  if (request.header(METHOD_HEADER) === undefined)
    throw mismatch('The header "Mcp-Method" is missing: send the method of the body', message.id);
  checkMethodIfSent(request, message.method, message.id);
  if (nameParam === undefined) return;
  checkOne(request, { header: NAME_HEADER, shown: 'Mcp-Name', value: readPath(message.params, [nameParam]), id: message.id });
}

/** Checks `Mcp-Method` of a message that may do without. */
export function checkMethodIfSent(request: HttpRequest, inBody: string, id: RequestId | undefined): void {
  const method = request.header(METHOD_HEADER);
  if (method !== undefined && method !== inBody) throw mismatch('The header "Mcp-Method" differs from the method in the body', id);
}

/** Checks the `Mcp-Param-*` headers of a tool call. Those that the tool does not mark mean nothing. */
export function checkParamHeaders(request: HttpRequest, message: JsonRpcRequest, params: ParamHeaders): void {
  const args = message.params?.['arguments'];
  for (const [name, path] of params) {
    checkOne(request, {
      header: PARAM_HEADER_PREFIX + name.toLowerCase(),
      shown: `Mcp-Param-${name}`,
      value: readPath(args, path),
      id: message.id,
    });
  }
}

interface Mirrored {
  readonly header: string;
  readonly shown: string;
  readonly value: unknown;
  readonly id: RequestId;
}

function checkOne(request: HttpRequest, { header, shown, value, id }: Mirrored): void {
  const raw = request.header(header);
  if (raw === undefined) {
    // A value that no header can carry is for the tool's own schema to judge.
    if (toParamText(value) === undefined) return;
    throw mismatch(`The header "${shown}" is missing: it mirrors a value of the body`, id);
  }
  const text = decodeHeaderValue(raw);
  if (text === undefined) throw mismatch(`The header "${shown}" has characters that a header may not have, or is not base64`, id);
  if (!isSameParam(text, value)) throw mismatch(`The header "${shown}" differs from the body`, id);
}

function mismatch(message: string, id: RequestId | undefined): HttpRefusal {
  return new HttpRefusal(400, message, { rpcCode: HEADER_MISMATCH, id });
}
