/**
 * HTTP+SSE of the oldest revision: one address gives an event stream, whose first event names another to post to. The stream is the
 * channel, and its end is the session's.
 *
 * @deprecated since 2025-03-26: use Streamable HTTP.
 * @see 2024-11-05 basic/transports#http-with-sse
 */

import type { JsonRpcMessage, JsonRpcNotification, JsonRpcRequest } from '@mortise/jsonrpc-core';
import { classifyMessage, parseJson, serializeMessage, toInvalidRequestError } from '@mortise/jsonrpc-core/messages';
import type { LegacySession, SessionLink } from '@mortise/protocol/contracts';
import { NoStreamError } from '../errors.ts';
import { encodeEvent, encodeMessageEvent } from '../sse/encode-event.ts';
import { type Caller, HostedCall } from './hosted-call.ts';
import type { HttpHost } from './http-host.ts';
import { isJsonContentType, namesEventStream } from './media-types.ts';
import { HttpRefusal } from './refusal.ts';
import type { Reply } from './reply.ts';
import type { SseStream } from './sse-stream.ts';
import { toJsonText } from './to-json-text.ts';

const ID_PARAMETER = 'sessionId';

/** The channel of one client. */
export class SseChannel implements SessionLink {
  readonly canRequest: boolean = true;
  readonly caller: Caller;
  readonly #host: HttpHost;
  readonly #sse: SseStream;
  readonly #legacy: LegacySession;

  constructor(host: HttpHost, caller: Caller, sse: SseStream) {
    this.#host = host;
    this.caller = caller;
    this.#sse = sse;
    this.#legacy = host.endpoint.openSession(this);
  }

  get principal(): Caller['principal'] {
    return this.caller.principal;
  }

  get auth(): Caller['auth'] {
    return this.caller.auth;
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if (!this.#sse.isOpen)
      return Promise.reject(new NoStreamError(`"${message.method}" cannot reach the client: it closed its event stream`));
    try {
      return this.#sse.write(encodeMessageEvent(serializeMessage(message)));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Takes one message; its answer goes out on the stream. */
  async receive(message: JsonRpcMessage, caller: Caller): Promise<void> {
    const call = this.#host.begin(new ChannelCall(caller, this));
    try {
      const response = await this.#legacy.receive(message, call);
      if (response !== undefined) await this.#sse.writeWhenRoom(encodeMessageEvent(toJsonText(response)));
    } finally {
      this.#host.end(call);
    }
  }

  async close(): Promise<void> {
    this.#sse.end();
    await this.#legacy.close();
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
  const release = host.holdStream(caller.limitKey);
  const sse = reply.openStream('wait');
  const channel = new SseChannel(host, caller, sse);
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
  if (!isJsonContentType(request.header('content-type')))
    throw new HttpRefusal(415, 'The body must be JSON: send "Content-Type: application/json"');
  const channel = host.channels.get(readChannelId(request.target) ?? '');
  if (channel === undefined || channel.principal !== caller.principal)
    throw new HttpRefusal(404, 'There is no such session: open the event stream again');
  const value = request.parsedBody ?? parseJson(await host.readBody(request), { maxDepth: host.settings.maxDepth });
  if (classifyMessage(value) === 'invalid') {
    const { message, rpcCode, id } = toInvalidRequestError(value);
    throw new HttpRefusal(400, message, { rpcCode, id });
  }
  reply.empty(202);
  await channel.receive(value as JsonRpcMessage, caller);
}

function readChannelId(target: string): string | undefined {
  const at = target.indexOf('?');
  return at === -1 ? undefined : (new URLSearchParams(target.slice(at)).get(ID_PARAMETER) ?? undefined);
}
