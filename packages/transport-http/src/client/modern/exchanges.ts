/**
 * The modern era: each request is a POST of its own, answered by a JSON body or an event stream of its own, and leaving is cancelling.
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
import { encodeHeaderValue, METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER } from '../../headers.ts';
import { readFailure } from '../http-failure.ts';
import type { HttpCall } from '../http-sender.ts';
import { POST_HEADERS, toLowerCaseNames, type Wire } from '../wire.ts';
import { Exchange } from './exchange.ts';
import { mirrorMessage, ToolHeaders } from './request-headers.ts';

/** The bound of what is read, and where faults beside any request are reported. */
export interface ExchangeSettings {
  readonly maxMessageBytes: number;
  report(error: Error): void;
}

/** How many pages of tools are read to find the one whose headers were refused. */
const MAX_PAGES = 100;

export class Exchanges implements ExchangeTransport {
  readonly wire: Wire;
  readonly settings: ExchangeSettings;
  readonly #tools: ToolHeaders;
  readonly #runs = new Set<Exchange>();
  #lastVersion: string | undefined;
  #isClosed = false;

  /** @param tools What is known of the server's tools; may be shared by transports to the same server. */
  constructor(wire: Wire, settings: ExchangeSettings, tools: ToolHeaders = new ToolHeaders()) {
    this.wire = wire;
    this.settings = settings;
    this.#tools = tools;
  }

  exchange(request: JsonRpcRequest, options: ExchangeOptions = {}): Promise<JsonRpcResponse> {
    if (request.method === 'tools/call') return this.#callTool(request, options);
    if (request.method === 'tools/list') return this.#listTools(request, options);
    return this.#run(request, options).response;
  }

  /** Sends a message that is not answered, in the version that was spoken last. */
  async notify(notification: JsonRpcNotification): Promise<void> {
    if (this.#isClosed) throw new ConnectionClosedError();
    const call = this.#toCall(notification, {}, undefined);
    const answer = await this.wire.send(call).answer;
    if (answer.status < 300) return this.wire.discard(answer);
    throw (await readFailure(call, answer, undefined)).error;
  }

  /** Rejects what waits, and closes every stream. */
  close(): void {
    this.#isClosed = true;
    for (const run of this.#runs) run.fail(new ConnectionClosedError());
    this.wire.close();
  }

  /** A run is over. */
  forget(run: Exchange): void {
    this.#runs.delete(run);
  }

  async #listTools(request: JsonRpcRequest, options: ExchangeOptions): Promise<JsonRpcResponse> {
    const run = this.#run(request, options);
    const response = await run.response;
    return 'result' in response ? { ...response, result: this.#learn(response.result, run) } : response;
  }

  /** Calls a tool; where its headers are refused, looks at the tool once more and calls it once more. */
  async #callTool(request: JsonRpcRequest, options: ExchangeOptions): Promise<JsonRpcResponse> {
    const sent = this.#tools.headersOf(request.params);
    const response = await this.#run(request, options, sent).response;
    if (!('error' in response) || response.error.code !== HEADER_MISMATCH) return response;
    const wanted = await this.#lookAgain(request, options).catch(() => undefined);
    options.signal?.throwIfAborted();
    return wanted === undefined || isEqual(wanted, sent) ? response : this.#run(request, options, wanted).response;
  }

  /** @returns The headers of a call by the newest list of tools; undefined where that says none. */
  async #lookAgain({ params }: JsonRpcRequest, { signal, headers }: ExchangeOptions): Promise<Record<string, string> | undefined> {
    const { progressToken: _token, ...meta } = (params?.['_meta'] ?? {}) as JsonObject;
    const options = { ...(signal && { signal }), ...(headers && { headers }) };
    let cursor: JsonObject = {};
    for (let page = 0; page < MAX_PAGES; page++) {
      const request: JsonRpcRequest = { jsonrpc: '2.0', id: `tools-${page}`, method: 'tools/list', params: { ...cursor, _meta: meta } };
      const response = await this.#listTools(request, options);
      if (!('result' in response)) return undefined;
      const { tools, nextCursor } = response.result;
      const isFound = Array.isArray(tools) && tools.some((tool: JsonObject | undefined) => tool?.['name'] === params?.['name']);
      if (isFound || typeof nextCursor !== 'string') break;
      cursor = { cursor: nextCursor };
    }
    return this.#tools.headersOf(params);
  }

  #learn(page: JsonObject, run: Exchange): JsonObject {
    return this.#tools.learn(page, ToolHeaders.mayMark(run.text), (error) => this.settings.report(error));
  }

  #run(request: JsonRpcRequest, options: ExchangeOptions, params?: Readonly<Record<string, string>>): Exchange {
    const run = new Exchange(this, request, options);
    this.#runs.add(run);
    try {
      if (this.#isClosed) throw new ConnectionClosedError();
      run.start(() => this.#toCall(request, options, params));
    } catch (error) {
      run.fail(error);
    }
    return run;
  }

  #toCall(
    message: JsonRpcRequest | JsonRpcNotification,
    options: ExchangeOptions,
    params: Readonly<Record<string, string>> | undefined,
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

/** What an extension mirrors in `Mcp-Name` is the caller's to say, and ours to encode. What mirrors the body nobody else says. */
function toCallerHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const headers = toLowerCaseNames(given);
  const name = headers[NAME_HEADER];
  if (name !== undefined) headers[NAME_HEADER] = encodeHeaderValue(name);
  delete headers[METHOD_HEADER];
  delete headers[PROTOCOL_VERSION_HEADER];
  return headers;
}

function isEqual(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>> | undefined): boolean {
  return other !== undefined && JSON.stringify(one) === JSON.stringify(other);
}
