/**
 * The HTTP headers of a modern request that repeat parts of its body, so that proxies can route without reading it: `Mcp-Method`,
 * `Mcp-Name`, and `Mcp-Param-*` for arguments that a tool's schema marks with `x-mcp-header`.
 *
 * @see 2026-07-28 basic/transports/streamable-http#request-metadata
 */

import { InvalidRequestError, type JsonObject, type JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { findRevision, NEWEST } from '@mortise/protocol';
import { PARAM_HEADER_KEYWORD, readParamHeaders } from '@mortise/protocol/checks';
import type { ParamHeaders } from '@mortise/protocol/contracts';
import type { MethodFacts } from '@mortise/protocol/revisions';
import { META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import { HttpClientError, HttpOptionError } from '../errors.ts';
import {
  encodeHeaderValue,
  isHeaderBytes,
  isHeaderText,
  METHOD_HEADER,
  NAME_HEADER,
  PARAM_HEADER_PREFIX,
  PROTOCOL_VERSION_HEADER,
  readPath,
  toParamText,
} from '../headers.ts';

/** Headers as an object, or as an iterable of names and values such as `Headers` or a `Map`. */
export type GivenHeaders = Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]>;

/** Converts header names to lower case. */
export function toLowerCaseNames(headers: GivenHeaders): Record<string, string> {
  const pairs = Symbol.iterator in headers ? headers : Object.entries(headers);
  return Object.fromEntries(Array.from(pairs, ([name, value]) => [name.toLowerCase(), value]));
}

/** The headers that a program cannot set, because the HTTP sender or the transport sets them. */
const RESERVED = /^(?:host|connection|content-length|transfer-encoding|upgrade|trailer|te|mcp-session-id|last-event-id)$/;
/** The characters of a header name, in lower case: a token of RFC 9110 section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/**
 * Checks the headers that a program sets. Values must be strings: an unset environment variable would be sent as "undefined".
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: a header is invalid. The message does not contain the value, which may be secret.
 */
export function toSentHeaders(given: GivenHeaders): Record<string, string> {
  const headers = toLowerCaseNames(given);
  for (const [name, value] of Object.entries(headers)) {
    const fault = findFault(name, value);
    if (fault !== undefined) throw new HttpOptionError(`The header ${JSON.stringify(name)} in the option "headers" ${fault}`);
  }
  return headers;
}

function findFault(name: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return `must be a string, got ${typeof value}`;
  if (!HEADER_NAME.test(name)) return 'has an invalid name';
  if (RESERVED.test(name)) return 'is set by the transport itself: leave it out';
  return isHeaderBytes(value) ? undefined : 'has a character that is not valid in a header, such as a line break';
}

const MAX_TOOLS = 10_000;

/** Returns the protocol version in `_meta`; undefined for a message of the legacy era. */
export function versionOf(params: JsonObject | undefined): string | undefined {
  const meta = params?.['_meta'];
  if (!isJsonObject(meta) || !Object.hasOwn(meta, META_PROTOCOL_VERSION)) return undefined;
  const version = meta[META_PROTOCOL_VERSION];
  return typeof version === 'string' ? version : undefined;
}

/** Returns what the message's revision says about its method, such as its header rules; undefined for the method of an extension. */
export function findFacts({ method, params }: { readonly method: string; readonly params?: JsonObject }): MethodFacts | undefined {
  return (findRevision(versionOf(params)) ?? NEWEST).requests.get(method);
}

/**
 * Adds the headers that repeat parts of a message: `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name`.
 *
 * Sets `Mcp-Name` for methods of MCP only. For methods of extensions, the caller passes it in `headers`.
 *
 * @throws {InvalidRequestError} `ERR_INVALID_REQUEST`: the method or version is not valid in a header.
 */
export function mirrorMessage(headers: Record<string, string>, message: { readonly method: string; readonly params?: JsonObject }): void {
  const { method, params } = message;
  const version = versionOf(params);
  if (version !== undefined) headers[PROTOCOL_VERSION_HEADER] = toHeader('protocol version', version);
  headers[METHOD_HEADER] = toHeader('method', method);
  const nameParam = findFacts(message)?.nameParam;
  const name = nameParam === undefined ? undefined : params?.[nameParam];
  if (typeof name === 'string') headers[NAME_HEADER] = encodeHeaderValue(name);
}

function toHeader(what: string, value: string): string {
  if (isHeaderText(value) && value === value.trim() && value !== '') return value;
  throw new InvalidRequestError(`The ${what} ${JSON.stringify(value)} cannot be sent as an HTTP header: it must be visible ASCII`, -32600);
}

/**
 * Stores which tool arguments must also be sent as `Mcp-Param-*` headers. Reads this from `tools/list` results that pass through the
 * transport.
 *
 * @see 2026-07-28 basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
export class ToolHeaders {
  /** The tools that have arguments marked with `x-mcp-header`, the oldest first. */
  readonly #tools = new Map<string, ParamHeaders>();

  /**
   * Whether the JSON text of a `tools/list` result may contain `x-mcp-header`. If not, its schemas need no search. Text with escapes always
   * counts, because JSON may escape letters of the name.
   */
  static mayMark(text: string): boolean {
    return text.includes(PARAM_HEADER_KEYWORD) || text.includes('\\u');
  }

  /**
   * Reads the `x-mcp-header` marks in a page of `tools/list`.
   *
   * @param mayMark Whether the page may contain marks; see the static `mayMark`.
   * @param report Called for each tool that is left out because of an invalid mark.
   * @returns The page, without those tools.
   */
  learn(page: JsonObject, mayMark: boolean, report: (error: HttpClientError) => void): JsonObject {
    const { tools } = page;
    if (!Array.isArray(tools) || (!mayMark && this.#tools.size === 0)) return page;
    const kept = (tools as readonly JsonValue[]).filter((tool) => this.#learnOne(tool, mayMark, report));
    return kept.length === tools.length ? page : { ...page, tools: kept };
  }

  /** Returns the `Mcp-Param-*` headers of one `tools/call`, by lower-case name; undefined if it needs none. */
  headersOf(params: JsonObject | undefined): Record<string, string> | undefined {
    const marked = this.#tools.get(String(params?.['name']));
    if (marked === undefined) return undefined;
    const headers: Record<string, string> = {};
    for (const [name, path] of marked) {
      const text = toParamText(readPath(params?.['arguments'], path));
      if (text !== undefined) headers[PARAM_HEADER_PREFIX + name.toLowerCase()] = encodeHeaderValue(text);
    }
    return headers;
  }

  /** Reads the marks of one tool. @returns false if the tool must be left out of its list. */
  #learnOne(tool: JsonValue, mayMark: boolean, report: (error: HttpClientError) => void): boolean {
    if (!isJsonObject(tool) || typeof tool['name'] !== 'string') return true;
    const { name, inputSchema } = tool;
    this.#tools.delete(name);
    if (!mayMark || !isJsonObject(inputSchema)) return true;
    const headers = new Map<string, readonly string[]>();
    const fault = readParamHeaders(inputSchema, headers);
    if (fault !== undefined) {
      report(new HttpClientError('ERR_TOOL_HEADER', `The tool "${name}" was left out of "tools/list": ${fault}`));
      return false;
    }
    if (headers.size > 0) this.#keep(name, headers);
    return true;
  }

  #keep(name: string, headers: ParamHeaders): void {
    this.#tools.set(name, headers);
    if (this.#tools.size <= MAX_TOOLS) return;
    for (const oldest of this.#tools.keys()) {
      this.#tools.delete(oldest);
      return;
    }
  }
}
