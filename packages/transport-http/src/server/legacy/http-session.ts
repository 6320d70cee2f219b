/** A legacy session as the handler keeps it: what the endpoint remembers of it, and the streams towards its client. */

import type { JsonRpcNotification, JsonRpcRequest, Logger } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { Revision } from '@mortise/protocol';
import type { AuthInfo, LegacySession, McpEndpoint, Principal, SessionLink, SessionState } from '@mortise/protocol/contracts';
import type { HttpExchange } from '../http/http-exchange.ts';
import { rejectUnreachable } from './legacy-call.ts';
import type { SessionStream, StreamLog } from './session-stream.ts';

export class HttpSession implements SessionLink {
  /** Serves one POST, because the program turned sessions off: requests of several clients cannot meet, whatever their ids. */
  readonly isStateless: boolean;
  /** Empty for a stateless session. */
  readonly id: string;
  readonly limitKey: string;
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  /** Keeps what is sent, so that streams can be resumed. */
  readonly log: StreamLog | undefined;
  legacy: LegacySession;
  /** What `initialize` agreed on, undefined until then; of a stateless session what its POST is written in. */
  revision: Revision | undefined;
  /** Messages of the client that are being served. */
  inFlight = 0;
  usedAtMs = 0;
  /** The version that the store last took from here. */
  storedVersion = 0;
  /** The store does not have the state yet. */
  isUnsaved = false;
  /** The last of the writes to the store, which follow one another. */
  saving: Promise<void> = resolvedPromise;
  isClosed = false;
  /** Its client has ended it: requests without a response get an error that says so. */
  isEnded = false;
  /** Ends the subscription to what other machines receive. */
  unsubscribe: (() => void) | undefined;
  readonly #server: McpEndpoint;
  readonly #logger: Logger;
  /** Replaced by `reopen`, and still serving calls. */
  #retired: LegacySession[] = [];
  /** Streams of POSTs that may be resumed, by id; made when there is one. */
  #posts: Map<string, SessionStream> | undefined;
  /** Streams that GETs opened, the newest last. */
  #gets: SessionStream[] = [];

  /**
   * @param id undefined for a stateless session.
   * @param saved The state of the session that it goes on from.
   * @throws What the endpoint throws.
   */
  constructor(http: HttpExchange, id: string | undefined, saved?: SessionState) {
    const { server, settings } = http.shared;
    this.id = id ?? '';
    this.isStateless = id === undefined;
    this.limitKey = id === undefined ? '' : http.limitKey;
    this.principal = http.principal;
    this.auth = http.auth;
    if (id !== undefined && settings.eventStore) this.log = { store: settings.eventStore, sessionId: id, logger: settings.logger };
    this.#server = server;
    this.#logger = settings.logger;
    this.legacy = server.openSession(this, saved);
  }

  /** Shown to handlers, so that what they keep by session can be found again. */
  get sessionId(): string | undefined {
    return this.isStateless ? undefined : this.id;
  }

  /** The answer to a question comes by another POST. */
  get canRequest(): boolean {
    return !this.isStateless;
  }

  /** Whether a client holds a stream open. */
  get isConnected(): boolean {
    return this.#gets.some((stream) => stream.isConnected);
  }

  onStateChange(): void {
    this.isUnsaved = true;
  }

  /** Begins again from a state that another machine saved. Calls in flight end where they began. @throws What the endpoint throws. */
  reopen(saved: SessionState): void {
    const replaced = this.legacy;
    this.legacy = this.#server.openSession(this, saved);
    this.#retired.push(replaced);
    if (this.inFlight === 0) this.closeRetired();
  }

  /** Lets go of what `reopen` replaced. Called when no call is in flight. */
  closeRetired(): void {
    for (const session of this.#retired.splice(0)) void closeSession(session, this.#logger);
  }

  /** Sends what belongs to no request, on exactly one stream: the newest that is open, or that the client can come back to. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if (this.isStateless) return rejectUnreachable(message, 'this server runs with the option "sessions: false"');
    const stream = this.#gets.findLast((candidate) => candidate.isConnected) ?? this.#gets.findLast((candidate) => candidate.isReachable);
    return stream?.send(message) ?? rejectUnreachable(message, 'it has no GET stream open');
  }

  addPost(stream: SessionStream): void {
    (this.#posts ??= new Map()).set(stream.id, stream);
  }

  deletePost(stream: SessionStream): void {
    this.#posts?.delete(stream.id);
  }

  addGet(stream: SessionStream): void {
    // Of the streams that nobody reads, only the newest can still be meant by a client that comes back for unasked messages.
    this.#gets = this.#gets.filter((other) => other.isConnected && other !== stream);
    this.#gets.push(stream);
  }

  /** A GET stream's connection has ended. */
  dropGet(stream: SessionStream): void {
    if (this.log === undefined) this.#gets = this.#gets.filter((other) => other !== stream);
  }

  findStream(streamId: string): SessionStream | undefined {
    return this.#posts?.get(streamId) ?? this.#gets.find((stream) => stream.id === streamId);
  }

  /** Ends everything. Safe to call twice. Never rejects. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.closeRetired();
    await closeSession(this.legacy, this.#logger);
    for (const stream of this.#gets) void stream.finish();
    // Those of an ended session end with the answers to their requests, which come now and cannot be fetched later.
    for (const stream of this.#posts?.values() ?? []) {
      if (this.isEnded) stream.stopLogging();
      else void stream.finish();
    }
    this.#gets = [];
    this.#posts = undefined;
  }
}

/** Closes a session. An endpoint that fails at it, which it should not, keeps nothing else from ending: that is logged. Never rejects. */
export async function closeSession(session: LegacySession, logger: Logger): Promise<void> {
  try {
    await session.close();
  } catch (error) {
    logger.log('error', 'The endpoint failed to close a session', { error: String(error) });
  }
}
