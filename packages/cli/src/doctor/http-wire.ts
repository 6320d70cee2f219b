/** A wire over Streamable HTTP: one POST a message, with the headers that the message's revision asks for. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { withTimeout } from '@mortise/jsonrpc-core/connection';
import { findRevision, NEWEST } from '@mortise/protocol';
import { META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import {
  encodeHeaderValue,
  METHOD_HEADER,
  NAME_HEADER,
  PROTOCOL_VERSION_HEADER,
  SESSION_ID_HEADER,
  SseDecoder,
} from '@mortise/transport-http';
import { CliError, ExitCode } from '../errors.ts';
import { readObject, type Reply, type Wire } from './wire.ts';

/** How long a server may take to delete a session, in milliseconds. */
const CLOSE_MS = 2000;
const BOTH_TYPES = 'application/json, text/event-stream';

export class HttpWire implements Wire {
  readonly kind = 'http';
  readonly strays: string[] = [];
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  #hasAnswered = false;
  readonly #closing = new AbortController();
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

  /** Sends a body that is no message. */
  sendText(text: string): Promise<Reply> {
    return this.post(text, this.#session);
  }

  /** Sends a body with just these headers, and those of the command line. Without an answer in time it resolves to an empty reply. */
  async post(body: string, headers: Readonly<Record<string, string>>, id?: unknown): Promise<Reply> {
    return this.request({ method: 'POST', body, headers: { 'content-type': 'application/json', accept: BOTH_TYPES, ...headers } }, id);
  }

  /** Sends any request to the server's URL. @param id The request whose answer an event stream is read for. */
  async request(init: RequestInit, id?: unknown): Promise<Reply> {
    const { signal, dispose } = withTimeout(this.#timeoutMs, this.#closing.signal);
    try {
      const response = await fetch(this.url, { redirect: 'manual', ...init, headers: { ...this.#headers, ...init.headers }, signal });
      const { status, headers } = response;
      this.#hasAnswered = true;
      const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
      const message = isStream ? await readStream(response, id) : readObject(await readText(response));
      return { status, headers, message };
    } catch (error) {
      // A server may cut the connection in place of an answer.
      if (signal.aborted || this.#hasAnswered) return {};
      throw new CliError(`${this.url} cannot be reached`, ExitCode.unreachable, { cause: error });
    } finally {
      dispose();
    }
  }

  /** The headers of a message: those of a modern request from its `_meta`, those of a session from what `initialize` agreed. */
  headersOf({ method, params }: JsonObject): Record<string, string> {
    const own = Object(params) as Record<string, unknown> & { readonly _meta?: Readonly<Record<string, unknown>> };
    const version = own._meta?.[META_PROTOCOL_VERSION];
    if (typeof version !== 'string') return this.#session;
    const { nameParam = '' } = (findRevision(version) ?? NEWEST).requests.get(String(method)) ?? {};
    const name = own[nameParam];
    return {
      [PROTOCOL_VERSION_HEADER]: version,
      [METHOD_HEADER]: String(method),
      ...(typeof name === 'string' ? { [NAME_HEADER]: encodeHeaderValue(name) } : {}),
    };
  }

  /** Whether `initialize` opened a session. */
  get hasSession(): boolean {
    return SESSION_ID_HEADER in this.#session;
  }

  /** Sends a GET and reads the status only. */
  async openStream(accept: string): Promise<Reply> {
    const { signal, dispose } = withTimeout(this.#timeoutMs, this.#closing.signal);
    try {
      const { status, headers, body } = await fetch(this.url, {
        redirect: 'manual',
        headers: { ...this.#headers, ...this.#session, accept },
        signal,
      });
      void body?.cancel().catch(() => undefined);
      return { status, headers };
    } catch {
      return {};
    } finally {
      dispose();
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    if (!this.hasSession) return;
    const headers = { ...this.#headers, ...this.#session };
    await fetch(this.url, { method: 'DELETE', redirect: 'manual', headers, signal: AbortSignal.timeout(CLOSE_MS) }).catch(() => undefined);
  }

  #agree({ headers, message }: Reply): void {
    const id = headers?.get(SESSION_ID_HEADER);
    const { protocolVersion } = Object(message?.['result']) as { protocolVersion?: unknown };
    this.#session = {
      ...(id ? { [SESSION_ID_HEADER]: id } : {}),
      ...(typeof protocolVersion === 'string' && findRevision(protocolVersion)?.era !== 'modern'
        ? { [PROTOCOL_VERSION_HEADER]: protocolVersion }
        : {}),
    };
  }
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Reads a body, as far as a client would read it. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > MAX_BODY_BYTES) return '';
    text += decoder.decode(chunk as Uint8Array, { stream: true });
  }
  return text + decoder.decode();
}

/** Reads an event stream up to the answer to a request. */
async function readStream(response: Response, id: unknown): Promise<JsonObject | undefined> {
  const decoder = new SseDecoder();
  for await (const chunk of response.body ?? []) {
    for (const { data } of decoder.push(chunk as Uint8Array)) {
      const message = readObject(data);
      if (message && !('method' in message) && (id === undefined || message['id'] === id)) return message;
    }
  }
  return undefined;
}
