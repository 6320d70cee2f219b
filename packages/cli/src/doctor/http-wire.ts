/** A wire over Streamable HTTP: one POST a message, with the headers that the message's revision asks for. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { REVISIONS } from '@mortise/protocol';
import {
  encodeHeaderValue,
  METHOD_HEADER,
  NAME_HEADER,
  PROTOCOL_VERSION_HEADER,
  SESSION_ID_HEADER,
  SseDecoder,
} from '@mortise/transport-http';
import type { Reply, Wire } from './wire.ts';

const MODERN = new Set(REVISIONS.filter(({ era }) => era === 'modern').map(({ version }) => version));
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const BOTH_TYPES = 'application/json, text/event-stream';

export class HttpWire implements Wire {
  readonly kind = 'http';
  readonly strays: string[] = [];
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  /** What `initialize` agreed: legacy requests carry it. */
  #session: Record<string, string> = {};

  constructor(url: string, headers: Readonly<Record<string, string>>, timeoutMs: number) {
    this.url = url;
    this.#headers = headers;
    this.#timeoutMs = timeoutMs;
  }

  async send(message: JsonObject): Promise<Reply> {
    const reply = await this.post(JSON.stringify(message), this.headersOf(message), message['id']);
    if (message['method'] === 'initialize') this.#agree(reply);
    return reply;
  }

  sendText(text: string): Promise<Reply> {
    return this.post(text, this.#session);
  }

  /** Sends a body with just these headers, and those of the command line. Without an answer in time it resolves to an empty reply. */
  async post(body: string, headers: Readonly<Record<string, string>>, id?: unknown): Promise<Reply> {
    return this.request({ method: 'POST', body, headers: { 'content-type': 'application/json', accept: BOTH_TYPES, ...headers } }, id);
  }

  /** Sends any request to the server's URL. @param id The request whose answer an event stream is read for. */
  async request(init: RequestInit, id?: unknown): Promise<Reply> {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await fetch(this.url, { redirect: 'manual', ...init, headers: { ...this.#headers, ...init.headers }, signal });
      const { status, headers } = response;
      const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
      const message = isStream ? await readStream(response, id) : toMessage(await response.text());
      return { status, headers, message };
    } catch (error) {
      if (signal.aborted) return {};
      throw error;
    }
  }

  /** The headers of a message: those of a modern request from its `_meta`, those of a session from what `initialize` agreed. */
  headersOf({ method, params }: JsonObject): Record<string, string> {
    const { name, uri, _meta } = Object(params) as { name?: unknown; uri?: unknown; _meta?: Record<string, unknown> };
    const version = _meta?.[VERSION_KEY];
    if (typeof version !== 'string') return this.#session;
    const target = method === 'resources/read' ? uri : name;
    const isNamed = typeof target === 'string' && ['tools/call', 'prompts/get', 'resources/read'].includes(String(method));
    return {
      [PROTOCOL_VERSION_HEADER]: version,
      [METHOD_HEADER]: String(method),
      ...(isNamed ? { [NAME_HEADER]: encodeHeaderValue(target) } : {}),
    };
  }

  /** Whether `initialize` opened a session. */
  get hasSession(): boolean {
    return SESSION_ID_HEADER in this.#session;
  }

  /** Sends a GET and reads the status only. */
  async head(accept: string): Promise<Reply> {
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(this.#timeoutMs)]);
    try {
      const { status, headers } = await fetch(this.url, { headers: { ...this.#headers, ...this.#session, accept }, signal });
      return { status, headers };
    } catch (error) {
      if (signal.aborted) return {};
      throw error;
    } finally {
      abort.abort();
    }
  }

  async close(): Promise<void> {
    if (this.hasSession) await this.request({ method: 'DELETE', headers: this.#session });
  }

  #agree({ headers, message }: Reply): void {
    const id = headers?.get(SESSION_ID_HEADER);
    const { protocolVersion } = Object(message?.['result']) as { protocolVersion?: unknown };
    this.#session = {
      ...(id ? { [SESSION_ID_HEADER]: id } : {}),
      ...(typeof protocolVersion === 'string' && !MODERN.has(protocolVersion) ? { [PROTOCOL_VERSION_HEADER]: protocolVersion } : {}),
    };
  }
}

/** Reads an event stream up to the answer to a request. */
async function readStream(response: Response, id: unknown): Promise<JsonObject | undefined> {
  const decoder = new SseDecoder();
  for await (const chunk of response.body ?? []) {
    for (const { data } of decoder.push(chunk as Uint8Array)) {
      const message = toMessage(data);
      if (message && !('method' in message) && (id === undefined || message['id'] === id)) return message;
    }
  }
  return undefined;
}

function toMessage(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
