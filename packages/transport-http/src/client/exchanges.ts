/**
 * Sends the requests of the modern era over HTTP: each one is a POST, whose response is a JSON body or an event stream. Closing the HTTP
 * response cancels the request.
 *
 * @see 2026-07-28 basic/transports/streamable-http#sending-messages
 */

import {
  ConnectionClosedError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '@mortise/jsonrpc-core';
import { serializeMessage } from '@mortise/jsonrpc-core/messages';
import type { ExchangeOptions, ExchangeTransport } from '@mortise/jsonrpc-core/transport';
import { HEADER_MISMATCH } from '@mortise/protocol/wire';
import { encodeHeaderValue, NAME_HEADER, PROTOCOL_VERSION_HEADER } from '../headers.ts';
import { isSuccess, readFailure } from './http-failure.ts';
import type { HttpCall } from './http-sender.ts';
import { ModernExchange } from './modern-exchange.ts';
import { findFacts, mirrorMessage, ToolHeaders, toLowerCaseNames, toSentHeaders } from './request-headers.ts';
import { ACCEPT_TIMEOUT_MS, POST_HEADERS, type Sending, type Wire } from './wire.ts';

/** How many pages of `tools/list` are read to find a tool after the server refused the headers of its `tools/call`. */
const MAX_PAGES = 100;

export class Exchanges implements ExchangeTransport {
  readonly wire: Wire;
  /** Called with each error that belongs to no request. */
  readonly report: (error: Error) => void;
  readonly #tools = new ToolHeaders();
  readonly #running = new Set<ModernExchange>();
  /** The notifications that the server has not accepted yet. */
  readonly #accepting = new Set<Sending>();
  #lastVersion: string | undefined;
  #isClosed = false;

  constructor(wire: Wire, report: (error: Error) => void) {
    this.wire = wire;
    this.report = report;
  }

  exchange(request: JsonRpcRequest, options: ExchangeOptions = {}): Promise<JsonRpcResponse> {
    const paramHeaders = findFacts(request)?.paramHeaders;
    if (paramHeaders === 'sent') return this.#callTool(request, options);
    if (paramHeaders === 'marked') return this.#listTools(request, options);
    return this.#start(request, options).response;
  }

  /** Sends a notification. Its protocol version is that of the last request. */
  async notify(notification: JsonRpcNotification): Promise<void> {
    if (this.#isClosed) throw new ConnectionClosedError();
    const call = this.#toCall(notification, {});
    const sending = this.wire.send(call, { timeoutMs: ACCEPT_TIMEOUT_MS });
    this.#accepting.add(sending);
    try {
      const answer = await sending.answer;
      if (!isSuccess(answer)) throw (await readFailure(this.wire, call, answer)).error;
      this.wire.discard(answer);
    } finally {
      this.#accepting.delete(sending);
    }
  }

  /** Rejects pending requests and closes all their HTTP responses. */
  close(): void {
    this.#isClosed = true;
    for (const exchange of this.#running) exchange.fail(new ConnectionClosedError());
    for (const sending of this.#accepting) sending.abort(new ConnectionClosedError());
    this.wire.close();
  }

  forget(exchange: ModernExchange): void {
    this.#running.delete(exchange);
  }

  async #listTools(request: JsonRpcRequest, options: ExchangeOptions): Promise<JsonRpcResponse> {
    const exchange = this.#start(request, options);
    const response = await exchange.response;
    if (!('result' in response)) return response;
    return { ...response, result: this.#tools.learn(response.result, ToolHeaders.mayMark(exchange.text), this.report) };
  }

  /** Sends `tools/call`. If the server refuses its `Mcp-Param-*` headers, reads `tools/list` again and repeats the call once. */
  async #callTool(request: JsonRpcRequest, options: ExchangeOptions): Promise<JsonRpcResponse> {
    const sent = this.#tools.headersOf(request.params);
    const response = await this.#start(request, options, sent).response;
    if (!('error' in response) || response.error.code !== HEADER_MISMATCH) return response;
    const wanted = await this.#lookAgain(request, options).catch(() => undefined);
    options.signal?.throwIfAborted();
    return wanted === undefined || isEqual(wanted, sent) ? response : this.#start(request, options, wanted).response;
  }

  /** Reads `tools/list` again. @returns The `Mcp-Param-*` headers of the `tools/call`; undefined if it needs none. */
  async #lookAgain({ params }: JsonRpcRequest, { signal, headers }: ExchangeOptions): Promise<Record<string, string> | undefined> {
    const { progressToken: _token, ...meta } = (params?.['_meta'] ?? {}) as JsonObject;
    let cursor: JsonObject = {};
    for (let page = 0; page < MAX_PAGES; page++) {
      const request: JsonRpcRequest = { jsonrpc: '2.0', id: `tools-${page}`, method: 'tools/list', params: { ...cursor, _meta: meta } };
      const response = await this.#listTools(request, { signal, headers });
      if (!('result' in response)) return undefined;
      const { tools, nextCursor } = response.result;
      const isFound = Array.isArray(tools) && tools.some((tool: JsonObject | undefined) => tool?.['name'] === params?.['name']);
      if (isFound || typeof nextCursor !== 'string') break;
      cursor = { cursor: nextCursor };
    }
    return this.#tools.headersOf(params);
  }

  #start(request: JsonRpcRequest, options: ExchangeOptions, params?: Readonly<Record<string, string>>): ModernExchange {
    const exchange = new ModernExchange(this, request, options);
    this.#running.add(exchange);
    try {
      if (this.#isClosed) throw new ConnectionClosedError();
      exchange.start(this.#toCall(request, options, params));
    } catch (error) {
      exchange.fail(error);
    }
    return exchange;
  }

  #toCall(
    message: JsonRpcRequest | JsonRpcNotification,
    options: ExchangeOptions,
    params?: Readonly<Record<string, string>> | undefined,
  ): HttpCall {
    const headers: Record<string, string> = { ...this.wire.headers };
    if (options.headers !== undefined) Object.assign(headers, toCallerHeaders(options.headers));
    Object.assign(headers, POST_HEADERS, params);
    mirrorMessage(headers, message);
    if ('id' in message) this.#lastVersion = headers[PROTOCOL_VERSION_HEADER];
    else if (this.#lastVersion !== undefined) headers[PROTOCOL_VERSION_HEADER] ??= this.#lastVersion;
    return { method: 'POST', url: this.wire.url, headers, body: serializeMessage(message) };
  }
}

/** Checks the caller's headers, and encodes the `Mcp-Name` of an extension's request. @throws {HttpOptionError} As `toSentHeaders`. */
function toCallerHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const { [NAME_HEADER]: name, ...others } = toLowerCaseNames(given);
  const headers = toSentHeaders(others);
  return name === undefined ? headers : { ...headers, [NAME_HEADER]: encodeHeaderValue(name) };
}

function isEqual(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>> | undefined): boolean {
  return other !== undefined && JSON.stringify(one) === JSON.stringify(other);
}
