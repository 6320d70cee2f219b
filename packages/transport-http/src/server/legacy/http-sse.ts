/**
 * The server side of HTTP+SSE, the transport of the oldest revision. A GET opens an event stream, whose first event names the URL to post
 * to. The session ends with the stream.
 *
 * @deprecated since 2025-03-26: use Streamable HTTP.
 * @see 2024-11-05 basic/transports#http-with-sse
 */

import type { JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { classifyMessage, serializeMessage } from '@mortise/jsonrpc-core/messages';
import type { AuthInfo, LegacySession, Principal, SessionLink } from '@mortise/protocol/contracts';
import { readAccepts } from '../../headers.ts';
import { encodeEvent, encodeMessageEvent } from '../../sse/encode-event.ts';
import { type HttpExchange, writeResponse } from '../http/http-exchange.ts';
import type { ResponseStream } from '../http/response-stream.ts';
import type { SharedState } from '../http/shared-state.ts';
import { busy, HttpRefusal } from '../http/refusal.ts';
import { closeSession } from './http-session.ts';
import { LegacyCall, rejectUnreachable } from './legacy-call.ts';
import { toFailure } from './legacy-post.ts';
import { generateSessionId } from './session-table.ts';

const ID_PARAMETER = 'sessionId';
/**
 * How many calls one HTTP+SSE client may have in progress, including those whose response the client has not read yet. Needed because,
 * unlike in Streamable HTTP, a call has no connection of its own.
 */
const MAX_CALLS = 100;

/** Handles a GET to the HTTP+SSE path: opens the event stream, and the session that lives as long as the stream. */
export function openSseChannel(http: HttpExchange): void {
  const { shared } = http;
  if (!readAccepts(http.header('accept')).sse)
    throw new HttpRefusal(406, 'This URL opens an event stream: send "Accept: text/event-stream"');
  const id = generateSessionId();
  const release = shared.holdStream(http.limitKey);
  let channel: SseChannel;
  try {
    channel = new SseChannel(http);
  } catch (error) {
    release();
    throw error;
  }
  shared.sseChannels.set(id, channel);
  channel.stream.onClose(() => {
    release();
    shared.sseChannels.delete(id);
    void channel.close();
  });
  // Relative to the stream's URL, so that it is right behind any proxy and stays in the origin.
  const path = http.mountPath + (shared.settings.ssePaths?.messages ?? '');
  void channel.stream.write(encodeEvent({ event: 'endpoint', data: `${path}?${ID_PARAMETER}=${encodeURIComponent(id)}` }));
}

/** Handles a message that an HTTP+SSE client posts. Its response is sent on the event stream. @param readMessage Reads the body. */
export async function acceptSseMessage(http: HttpExchange, readMessage: () => Promise<JsonRpcMessage>): Promise<void> {
  const query = new URLSearchParams(http.target.slice(http.target.indexOf('?')));
  const channel = http.shared.sseChannels.get(query.get(ID_PARAMETER) ?? '');
  if (channel === undefined || channel.principal !== http.principal) throw unknownChannel();
  await channel.serve(http, await readMessage());
}

function unknownChannel(): HttpRefusal {
  return new HttpRefusal(404, 'There is no such session: open the event stream again');
}

/** The HTTP+SSE connection of one client: its event stream and its session. */
export class SseChannel implements SessionLink {
  readonly canRequest: boolean = true;
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly stream: ResponseStream;
  readonly #shared: SharedState;
  readonly #legacy: LegacySession;
  #closed: Promise<void> | undefined;
  #calls = 0;

  constructor(http: HttpExchange) {
    this.principal = http.principal;
    this.auth = http.auth;
    this.#shared = http.shared;
    this.#legacy = http.shared.server.openSession(this);
    this.stream = http.openStream('wait');
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if (!this.stream.isOpen) return rejectUnreachable(message, 'the client closed its event stream');
    try {
      return this.stream.write(encodeMessageEvent(serializeMessage(message)));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Handles one message. @throws {HttpRefusal} 503: too many calls run or wait for the client to read. 404: the event stream has ended. */
  async serve(http: HttpExchange, message: JsonRpcMessage): Promise<void> {
    if (!this.stream.isOpen) throw unknownChannel();
    const isRequest = classifyMessage(message) === 'request';
    // Other messages are always accepted: a call may wait for one, or be cancelled by it.
    if (isRequest && this.#calls >= MAX_CALLS) throw busy('Too many calls at once on this stream: read the responses, then send again');
    http.empty(202);
    const call = new SseCall(http, this);
    this.#shared.calls.add(call);
    if (isRequest) this.#calls++;
    try {
      const response = await this.#answer(message, call);
      if (response !== undefined) await this.stream.writeWhenRoom(encodeMessageEvent(writeResponse(response).json));
    } finally {
      if (isRequest) this.#calls--;
      this.#shared.end(call);
    }
  }

  /** Ends the session and the event stream. Safe to call twice, because the end of the stream calls it too. Never rejects. */
  close(): Promise<void> {
    this.#closed ??= closeSession(this.#legacy, this.#shared.settings.logger);
    this.stream.end();
    return this.#closed;
  }

  /** Returns the response to send on the event stream. An error is sent there too, because the POST already has its status 202. */
  async #answer(message: JsonRpcMessage, call: SseCall): Promise<JsonRpcResponse | undefined> {
    try {
      return await this.#legacy.receive(message, call);
    } catch (error) {
      if (classifyMessage(message) !== 'request') throw error;
      return toFailure(this.#shared, message as JsonRpcRequest, error);
    }
  }
}

class SseCall extends LegacyCall {
  readonly #channel: SseChannel;

  constructor(http: HttpExchange, channel: SseChannel) {
    super(http);
    this.#channel = channel;
  }

  override send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return this.#channel.send(message);
  }
}
