/**
 * HTTP+SSE of the oldest revision: one address gives an event stream, whose first event names another to post to. The stream is the
 * channel, and its end is the session's.
 *
 * @deprecated since 2025-03-26: use Streamable HTTP.
 * @see 2024-11-05 basic/transports#http-with-sse
 */

import type { JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { classifyMessage, parseJson, serializeMessage } from '@mortise/jsonrpc-core/messages';
import type { LegacySession, SessionLink } from '@mortise/protocol/contracts';
import { NoStreamError } from '../errors.ts';
import { encodeEvent, encodeMessageEvent } from '../sse/encode-event.ts';
import { checkBodyHeaders, checkParsedBody } from './check-body.ts';
import { closeSession } from './close-session.ts';
import { type Caller, HostedCall } from './hosted-call.ts';
import type { HttpHost } from './http-host.ts';
import { toFailure } from './legacy-post.ts';
import { namesEventStream } from './media-types.ts';
import { HttpRefusal, invalidRefusal } from './refusal.ts';
import type { Reply } from './reply.ts';
import type { SseStream } from './sse-stream.ts';
import { toJsonText } from './to-json-text.ts';

const ID_PARAMETER = 'sessionId';

/** The channel of one client. */
export class SseChannel implements SessionLink {
  readonly canRequest: boolean = true;
  readonly caller: Caller;
  readonly #host: HttpHost;
  readonly sse: SseStream;
  readonly #legacy: LegacySession;
  #closed: Promise<void> | undefined;

  /** @param openStream Called once there is a session. */
  constructor(host: HttpHost, caller: Caller, openStream: () => SseStream) {
    this.#host = host;
    this.caller = caller;
    this.#legacy = host.endpoint.openSession(this);
    this.sse = openStream();
  }

  get principal(): Caller['principal'] {
    return this.caller.principal;
  }

  get auth(): Caller['auth'] {
    return this.caller.auth;
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if (!this.sse.isOpen)
      return Promise.reject(new NoStreamError(`"${message.method}" cannot reach the client: it closed its event stream`));
    try {
      return this.sse.write(encodeMessageEvent(serializeMessage(message)));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Takes one message; its answer goes out on the stream. */
  async receive(message: JsonRpcMessage, caller: Caller): Promise<void> {
    const call = this.#host.begin(new ChannelCall(caller, this));
    try {
      const response = await this.#answer(message, call);
      if (response !== undefined) await this.sse.writeWhenRoom(encodeMessageEvent(toJsonText(response)));
    } finally {
      this.#host.end(call);
    }
  }

  /** Safe to call twice: the end of the stream, which it brings about, calls it too. Never rejects. */
  close(): Promise<void> {
    this.#closed ??= closeSession(this.#legacy, this.#host.settings.logger);
    this.sse.end();
    return this.#closed;
  }

  /** The POST is answered already: who asked is told on the stream that its request failed, or would wait in vain. */
  async #answer(message: JsonRpcMessage, call: ChannelCall): Promise<JsonRpcResponse | undefined> {
    try {
      return await this.#legacy.receive(message, call);
    } catch (error) {
      if (classifyMessage(message) !== 'request') throw error;
      return toFailure(this.#host, message as JsonRpcRequest, error);
    }
  }
}

class ChannelCall extends HostedCall {
  readonly #channel: SseChannel;

  constructor(caller: Caller, channel: SseChannel) {
    super(caller);
    this.#channel = channel;
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return this.#channel.send(message);
  }
}

/** Opens a channel. @param messagePath Where its client is to post. */
export function serveSseStream(host: HttpHost, caller: Caller, reply: Reply, messagePath: string): void {
  if (!namesEventStream(caller.request.header('accept')))
    throw new HttpRefusal(406, 'This address opens an event stream: send "Accept: text/event-stream"');
  const id = host.settings.generateSessionId();
  // Posts to it must go on reaching who has it.
  if (host.channels.has(id)) throw new Error('The option "generateSessionId" gave an id that a session has already');
  const release = host.holdStream(caller.limitKey);
  let channel: SseChannel;
  try {
    channel = new SseChannel(host, caller, () => reply.openStream('wait'));
  } catch (error) {
    release();
    throw error;
  }
  const { sse } = channel;
  host.channels.set(id, channel);
  sse.onClose(() => {
    release();
    host.channels.delete(id);
    void channel.close();
  });
  // Relative to the stream's own address, so that it holds behind any proxy and never leaves the origin.
  void sse.write(encodeEvent({ event: 'endpoint', data: `${messagePath}?${ID_PARAMETER}=${encodeURIComponent(id)}` }));
}

/** Takes a message for a channel. */
export async function serveSseMessage(host: HttpHost, caller: Caller, reply: Reply): Promise<void> {
  const { request } = caller;
  checkBodyHeaders(request);
  const channel = host.channels.get(readChannelId(request.target) ?? '');
  if (channel === undefined || channel.principal !== caller.principal)
    throw new HttpRefusal(404, 'There is no such session: open the event stream again');
  const { maxDepth } = host.settings;
  const { parsedBody } = request;
  const value = parsedBody === undefined ? parseJson(await host.readBody(caller), { maxDepth }) : checkParsedBody(parsedBody, maxDepth);
  if (classifyMessage(value) === 'invalid') throw invalidRefusal(value);
  reply.empty(202);
  await channel.receive(value as unknown as JsonRpcMessage, caller);
}

function readChannelId(target: string): string | undefined {
  const at = target.indexOf('?');
  return at === -1 ? undefined : (new URLSearchParams(target.slice(at)).get(ID_PARAMETER) ?? undefined);
}
