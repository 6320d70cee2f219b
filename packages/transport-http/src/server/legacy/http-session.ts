/** A legacy session of the HTTP handler: the session that the endpoint has opened, and the event streams to the client. */

import type { JsonRpcNotification, JsonRpcRequest, Logger } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { Revision } from '@mortise/protocol';
import type { AuthInfo, LegacySession, Principal, SessionLink, SessionState } from '@mortise/protocol/contracts';
import type { HttpExchange } from '../http/http-exchange.ts';
import { rejectUnreachable } from './legacy-call.ts';
import type { SessionStream, StreamLog } from './session-stream.ts';

export class HttpSession implements SessionLink {
  /** Whether the session serves only one POST, because the program turned sessions off. Each POST then gets a session of its own. */
  readonly isStateless: boolean;
  /** The session id; empty if the session serves only one POST. */
  readonly id: string;
  readonly limitKey: string;
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  /** Stores events that are sent, so that clients can resume streams; undefined without an event store. */
  readonly eventLog: StreamLog | undefined;
  readonly endpointSession: LegacySession;
  /** The revision that `initialize` agreed on; undefined until then. */
  revision: Revision | undefined;
  /** How many messages of the client are being handled. */
  inFlight = 0;
  usedAtMs = 0;
  /** The version of the session's record in the store that this process wrote or read last. */
  storedVersion = 0;
  /** Whether the session's state has changes that are not stored yet. */
  isUnsaved = false;
  /** Settles when the last write of the session to the store is done. Writes run one after the other. */
  saving: Promise<void> = resolvedPromise;
  isClosed = false;
  /** Whether the client has ended the session. Requests that have no response yet then get an error. */
  isEnded = false;
  /** Settles when the session hears of what happens at other machines. Rejects if the message bus fails; the session is then closed. */
  opened: Promise<void> = resolvedPromise;
  /** Ends the subscription to this session's messages that arrive at other machines. */
  unsubscribe: (() => void) | undefined;
  /** How many times the session has taken over a state that another machine stored. */
  restores = 0;
  /** Called when another machine says that it serves a stream: with the id of that stream, by which this machine asks. */
  readonly asking: Map<() => void, string> = new Map();
  /** Whether the session is read from the store again in a moment, because it could not be read. */
  willReread = false;
  readonly #logger: Logger;
  readonly #retryMs: number;
  /** The event streams of POSTs that a client can resume, by id. Created with the first one. */
  #posts: Map<string, SessionStream> | undefined;
  /** The event streams of GETs, the newest last. */
  #gets: SessionStream[] = [];
  /** The streams of POSTs that are not answered here, by id: the client has resumed them, and is still connected. */
  readonly #guests = new Map<string, SessionStream>();

  /**
   * @param id undefined for a session that serves only one POST.
   * @param saved The stored state to continue from.
   * @throws Errors of the endpoint.
   */
  constructor(http: HttpExchange, id: string | undefined, saved?: SessionState) {
    const { server, settings } = http.shared;
    this.id = id ?? '';
    this.isStateless = id === undefined;
    this.limitKey = id === undefined ? '' : http.limitKey;
    this.principal = http.principal;
    this.auth = http.auth;
    const { eventStore: store, clock, logger } = settings;
    if (id !== undefined && store) this.eventLog = { store, sessionId: id, clock, logger };
    this.#logger = settings.logger;
    this.#retryMs = settings.retryMs;
    this.endpointSession = server.openSession(this, saved);
  }

  /** The session id, for handlers that store data by session; undefined if the session serves only one POST. */
  get sessionId(): string | undefined {
    return this.isStateless ? undefined : this.id;
  }

  /** Whether the server can send requests to the client. Their answers arrive in other POSTs, so it needs a session. */
  get canRequest(): boolean {
    return !this.isStateless;
  }

  /** Whether the client has a GET stream open. */
  get isConnected(): boolean {
    return this.#gets.some((stream) => stream.isConnected);
  }

  /** Ends the connection of the newest GET stream, so that the client polls. Undefined if it cannot resume it. */
  get closeStream(): (() => void) | undefined {
    if (this.eventLog === undefined || this.revision?.http.polling !== true) return undefined;
    return () => this.#gets.findLast((stream) => stream.isConnected)?.pause(this.#retryMs);
  }

  onStateChange(): void {
    this.isUnsaved = true;
  }

  /** Takes over a state that another machine has stored. Resolves when it is in force. @throws Errors of the endpoint and the bus. */
  restore(saved: SessionState): Promise<void> {
    this.endpointSession.restore(saved);
    this.restores++;
    return this.endpointSession.ready;
  }

  /** Sends a message that belongs to no request, on one GET stream: the newest that is open or can be resumed. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if (this.isStateless) return rejectUnreachable(message, 'this server runs with the option "sessions: false"');
    const stream = this.#gets.findLast((candidate) => candidate.isConnected) ?? this.#gets.findLast((candidate) => candidate.isReachable);
    return stream?.send(message) ?? rejectUnreachable(message, 'the client has no GET stream open');
  }

  addPost(stream: SessionStream): void {
    (this.#posts ??= new Map()).set(stream.id, stream);
  }

  deletePost(stream: SessionStream): void {
    this.#posts?.delete(stream.id);
  }

  addGet(stream: SessionStream): void {
    // Of the disconnected streams, a client resumes only the newest.
    this.#gets = this.#gets.filter((other) => other.isConnected && other !== stream);
    this.#gets.push(stream);
  }

  /** Called when the connection of a GET stream has ended. Forgets the stream if it cannot be resumed. */
  dropGet(stream: SessionStream): void {
    if (this.eventLog === undefined) this.#gets = this.#gets.filter((other) => other !== stream);
  }

  /** Sends the stream of a POST that is not answered here. Ends the connection on which the client has resumed it before. */
  addGuest(stream: SessionStream): void {
    this.#guests.get(stream.id)?.cut();
    this.#guests.set(stream.id, stream);
  }

  isGuest(stream: SessionStream): boolean {
    return this.#guests.get(stream.id) === stream;
  }

  dropGuest(stream: SessionStream): void {
    if (this.isGuest(stream)) this.#guests.delete(stream.id);
  }

  /** Ends the connection of a stream that the client has resumed at another machine. A GET stream is served only there from now on. */
  yieldStream(streamId: string): void {
    this.findStream(streamId)?.pause(undefined);
    this.#guests.get(streamId)?.cut();
    this.#guests.delete(streamId);
    this.#gets = this.#gets.filter(({ id }) => id !== streamId);
  }

  /** Finds a stream that this machine serves, if it does not ask itself who does. The stream is kept alive, because another machine sends it. */
  findHeld(streamId: string): SessionStream | undefined {
    const stream = Array.from(this.asking.values()).includes(streamId) ? undefined : this.findStream(streamId);
    stream?.touch();
    return stream;
  }

  /** Finds a stream that this machine serves: of a GET, or of a POST that it is answering. */
  findStream(streamId: string): SessionStream | undefined {
    return this.#posts?.get(streamId) ?? this.#gets.find((stream) => stream.id === streamId);
  }

  /** Ends the session and its streams. Safe to call twice. Never rejects. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await closeSession(this.endpointSession, this.#logger);
    for (const stream of this.#gets) void stream.finish();
    // The streams of an ended session end with the responses to their requests, which are sent now and cannot be resumed.
    for (const stream of this.#posts?.values() ?? []) {
      if (this.isEnded) stream.stopLogging();
      else void stream.finish();
    }
    this.#gets = [];
    this.#posts = undefined;
  }
}

/** Closes a session that the endpoint has opened. Logs errors of the endpoint and never rejects. */
export async function closeSession(session: LegacySession, logger: Logger): Promise<void> {
  try {
    await session.close();
  } catch (error) {
    logger.log('error', 'The endpoint failed to close a session', { error: String(error) });
  }
}
