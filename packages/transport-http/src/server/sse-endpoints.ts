/**
 * HTTP+SSE of the oldest revision: one address gives an event stream, whose first event names another to post to. The stream is the
 * channel, and its end is the session's.
 *
 * @deprecated since 2025-03-26: use Streamable HTTP.
 * @see 2024-11-05 basic/transports#http-with-sse
 */

import type { JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { classifyMessage, measureMessage, parseJson, serializeMessage } from '@mortise/jsonrpc-core/messages';
import type { LegacySession, SessionLink } from '@mortise/protocol/contracts';
import { encodeEvent, encodeMessageEvent } from '../sse/encode-event.ts';
import { checkBodyHeaders, checkParsedBody } from './check-body.ts';
import { closeSession } from './close-session.ts';
import { type Caller, HostedCall } from './hosted-call.ts';
import type { HttpHost } from './http-host.ts';
import { toFailure } from './legacy-post.ts';
import { namesEventStream } from './media-types.ts';
import { rejectUnreachable } from './reject-unreachable.ts';
import { busyRefusal, HttpRefusal, invalidRefusal } from './refusal.ts';
import type { Reply } from './reply.ts';
import { takenIdError } from './session-id.ts';
import type { SseStream } from './sse-stream.ts';
import { toJsonText } from './to-json-text.ts';
import { WaitingRequests } from './waiting-requests.ts';

const ID_PARAMETER = 'sessionId';
/** How many calls of one channel may run at once. They hold no connection of their own, as those of Streamable HTTP do. */
const MAX_CALLS = 1000;
/** How much they, and the answers that wait for a new one, may take together; one alone may take more. */
const MAX_CALLS_BYTES = 64 * 1024 * 1024;
/** What may wait beside all streams, in characters; where more may wait on each, as many times that. No new call is taken long before. */
const MIN_BACKLOG_LENGTH = 256 * 1024 * 1024;
const BACKLOG_FACTOR = 256;
const RETRY_AFTER_SECONDS = 1;

/** The channel of one client. */
export class SseChannel implements SessionLink {
  readonly canRequest: boolean = true;
  readonly caller: Caller;
  readonly #host: HttpHost;
  readonly sse: SseStream;
  readonly #legacy: LegacySession;
  #closed: Promise<void> | undefined;
  #calls = 0;
  #callsBytes = 0;
  #backlog = 0;
  readonly #waiting: WaitingRequests;

  /** @param openStream Called once there is a session. */
  constructor(host: HttpHost, caller: Caller, openStream: () => SseStream) {
    this.#host = host;
    this.caller = caller;
    this.#legacy = host.endpoint.openSession(this);
    this.sse = openStream();
    this.#waiting = new WaitingRequests(this.sse, host.settings.clock);
  }

  /** What waits beside its stream for room on it, in characters. */
  get backlog(): number {
    return this.#backlog;
  }

  get principal(): Caller['principal'] {
    return this.caller.principal;
  }

  get auth(): Caller['auth'] {
    return this.caller.auth;
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if (!this.sse.isOpen) return rejectUnreachable(message, 'it closed its event stream');
    try {
      return this.sse.write(encodeMessageEvent(serializeMessage(message)));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /**
   * Takes one message; its answer goes out on the stream.
   *
   * @throws {HttpRefusal} 503: too much runs, or waits for the client, already. 404: the stream has ended meanwhile.
   */
  async serve({ message, bytes }: Posted, caller: Caller, reply: Reply): Promise<void> {
    this.#checkStream();
    this.#calls++;
    this.#callsBytes += bytes;
    try {
      // What is no request is taken at once, whatever lies unread: it may be what the reader waits for, or stop what would be written.
      if (classifyMessage(message) === 'request') {
        this.#checkCalls(0);
        if (this.sse.room !== undefined) {
          const isCancelled = await this.#waiting.wait((message as JsonRpcRequest).id);
          if (reply.hasLeft) return;
          if (isCancelled) return reply.empty(202);
          this.#host.checkOpen();
          this.#checkStream();
        }
        this.#checkCalls(this.#backlog);
      } else if ('method' in message && message.method === 'notifications/cancelled') {
        // The endpoint knows nothing yet of a request that waits.
        this.#waiting.cancel(message.params?.['requestId']);
      }
      reply.empty(202);
      await this.#receive(message, caller);
    } finally {
      this.#calls--;
      this.#callsBytes -= bytes;
    }
  }

  /** @throws {HttpRefusal} 404: it has ended while the body came, or while there was no room. */
  #checkStream(): void {
    if (!this.sse.isOpen) throw noChannel();
  }

  /** @param backlog What waits beside the stream. @throws {HttpRefusal} 503: more than may be, with the call that asks. */
  #checkCalls(backlog: number): void {
    const isTooMuch = this.#calls > 1 && this.#callsBytes + backlog > MAX_CALLS_BYTES;
    if (this.#calls <= MAX_CALLS && !isTooMuch) return;
    throw busyRefusal('Too many calls at once on this stream: read its answers, then send again', RETRY_AFTER_SECONDS);
  }

  async #receive(message: JsonRpcMessage, caller: Caller): Promise<void> {
    const call = this.#host.begin(new ChannelCall(caller, this));
    try {
      const response = await this.#answer(message, call);
      if (response !== undefined) await this.#sendAnswer(encodeMessageEvent(toJsonText(response)));
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

  /** Answers that are ready together wait their turn, within a bound of all channels. Who takes nothing is cut by the stream itself. */
  async #sendAnswer(event: string): Promise<void> {
    this.#countWaiting(event.length);
    if (this.sse.room !== undefined) cutFullest(this.#host);
    await this.sse.writeWhenRoom(event);
    this.#countWaiting(-event.length);
  }

  #countWaiting(length: number): void {
    this.#backlog += length;
    this.#host.channelBacklog += length;
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

/** Gives up the channels that most waits for, while more waits for all than may: no other's client pays for one that does not read. */
function cutFullest(host: HttpHost): void {
  const { channels, settings } = host;
  const maxLength = Math.max(MIN_BACKLOG_LENGTH, settings.maxQueuedBytes * BACKLOG_FACTOR);
  if (host.channelBacklog <= maxLength) return;
  // Those that were cut just now are counted until they notice.
  const open = Array.from(channels.values()).filter(({ sse }) => sse.isOpen);
  open.sort((one, other) => other.backlog - one.backlog);
  let left = open.reduce((sum, { backlog }) => sum + backlog, 0);
  for (const { sse, backlog } of open) {
    if (left <= maxLength) return;
    left -= backlog;
    sse.cut();
  }
}

/** A message that was posted. */
interface Posted {
  readonly message: JsonRpcMessage;
  /** What it takes while it is served. */
  readonly bytes: number;
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
  if (host.channels.has(id)) throw takenIdError();
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
  const channel = findChannel(host, caller);
  const { maxDepth } = host.settings;
  const { parsedBody } = request;
  const read = parsedBody === undefined ? await host.readBody(caller) : undefined;
  const value = read === undefined ? checkParsedBody(parsedBody, maxDepth) : parseJson(read, { maxDepth });
  if (classifyMessage(value) === 'invalid') throw invalidRefusal(value);
  const text = read ?? JSON.stringify(value);
  const bytes = measureMessage(text) ?? text.length;
  await channel.serve({ message: value as unknown as JsonRpcMessage, bytes }, caller, reply);
}

/** @throws {HttpRefusal} 404 where there is none, or another's. */
function findChannel(host: HttpHost, caller: Caller): SseChannel {
  const channel = host.channels.get(readChannelId(caller.request.target) ?? '');
  if (channel === undefined || channel.principal !== caller.principal) throw noChannel();
  return channel;
}

function noChannel(): HttpRefusal {
  return new HttpRefusal(404, 'There is no such session: open the event stream again');
}

function readChannelId(target: string): string | undefined {
  const at = target.indexOf('?');
  return at === -1 ? undefined : (new URLSearchParams(target.slice(at)).get(ID_PARAMETER) ?? undefined);
}
