/**
 * The legacy sessions of this process, the least recently used first. Limits their number in all and by caller, ends idle ones, and stores
 * them in the `SessionStore`, if there is one, so that any machine can continue them.
 */

import type { ClockTimer, JsonRpcMessage, JsonRpcResponse, LogLevel } from '@mortise/jsonrpc-core';
import { toBase64Url } from '@mortise/jsonrpc-core/encoding';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { classifyMessage } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import type { Call, SessionRecord } from '@mortise/protocol/contracts';
import { KeyedLimit } from '@mortise/protocol/edge';
import { HttpOptionError } from '../../errors.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import type { Settings } from '../options.ts';
import { busy, HttpRefusal } from '../http/refusal.ts';
import { HttpSession } from './http-session.ts';
import { LegacyCall } from './legacy-call.ts';
import { type SessionNews, SessionRelay } from './session-relay.ts';
import { StoredSessions } from './stored-sessions.ts';

const SWEEP_MS = 30_000;
const ID_BYTES = 24;
/** The pause before a session is read again that could not be read, in milliseconds. */
const REREAD_MS = 1_000;

export class SessionTable {
  #node: string | undefined;
  readonly #settings: Settings;
  readonly #limit: KeyedLimit;
  readonly #relay: SessionRelay | undefined;
  /** Writes and reads the sessions in the program's session store; undefined without one. */
  readonly #stored: StoredSessions | undefined;
  /** The ids of the sessions that are being deleted from the store. They count as ended already. */
  readonly #ending = new Set<string>();
  readonly #sessions = new Map<string, HttpSession>();
  #sweepTimer: ClockTimer | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#relay = settings.messageBus && new SessionRelay(settings.messageBus, settings, () => this.node);
    this.#stored = settings.sessionStore && new StoredSessions(settings.sessionStore, settings, this.#relay);
    this.#limit = new KeyedLimit(settings.maxSessions, settings.maxSessionsPerKey);
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The name of this machine, for the others. Made at first use: Workers have no random values where a handler is made. */
  get node(): string {
    if (this.#node === undefined) {
      this.#node = crypto.randomUUID();
      this.#settings.logger.log('info', 'If this machine is gone, errors at other machines name it so', { node: this.#node });
    }
    return this.#node;
  }

  // ---- the life of a session

  /**
   * Makes a session for an `initialize` request. It counts against the limits now, but `find` returns it only after `admit`.
   *
   * @throws {HttpRefusal} 503: the limit is reached and no session is idle. 400: a transport for a single session has one already.
   */
  create(http: HttpExchange): HttpSession {
    if (this.#settings.isSingle === true && this.#limit.total > 0)
      throw new HttpRefusal(400, 'This session is already initialized: send its "Mcp-Session-Id"');
    return this.#counted(http, () => new HttpSession(http, checkSessionId((this.#settings.generateId ?? generateSessionId)())));
  }

  /** Removes a session whose `initialize` failed. */
  async discard(session: HttpSession): Promise<void> {
    this.#limit.release(session.limitKey);
    await session.close();
  }

  /** Makes a session available to requests after `initialize`. @throws Errors of the store or bus. The session must then be discarded. */
  async admit(session: HttpSession): Promise<void> {
    this.#list(session);
    // Counts as busy while being stored, so that it is not evicted.
    session.inFlight++;
    try {
      // Before storing, so that nothing is stored if the bus fails.
      if (session.opened !== resolvedPromise) await session.opened;
      await this.#stored?.create(session);
    } catch (error) {
      this.#remove(session);
      throw error;
    } finally {
      session.inFlight--;
    }
    await this.#notify('onOpened', session.id);
  }

  /** Finds a session by its id, if it belongs to the caller's principal. @throws {HttpRefusal} 404: there is no such session. */
  async find(id: string, http: HttpExchange): Promise<HttpSession> {
    const live = this.#sessions.get(id);
    if (live !== undefined && live.principal !== http.principal) throw unknownSession();
    const session = this.#stored === undefined ? live : await this.#refresh(this.#stored, live, id, http);
    if (session === undefined) throw unknownSession();
    if (session.opened !== resolvedPromise) await this.#untilOpened(session);
    this.#use(session);
    return session;
  }

  /** @throws {HttpRefusal} 503: the message bus or the session store failed, so the client may try again. */
  async #untilOpened(session: HttpSession): Promise<void> {
    // Counts as busy while being opened, so that it is not evicted.
    session.inFlight++;
    try {
      await session.opened;
    } catch (error) {
      if (this.#unlist(session)) this.#log('The message bus or the session store failed, so a stored session could not be opened', error);
      void session.close();
      throw busy('The session cannot be opened now: come back later');
    } finally {
      session.inFlight--;
    }
    if (session.isClosed) throw unknownSession();
  }

  /** Passes a message to a session, and stores the changes of the session before returning the response. */
  async receive(session: HttpSession, message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined> {
    session.inFlight++;
    try {
      let restores = session.restores;
      let response = await session.endpointSession.receive(message, call);
      if (this.#stored !== undefined && session.revision !== undefined && !session.isStateless) {
        const changesState = changesSession(session.revision, message);
        // A state that another machine has stored lacks what the message changed before it was taken over.
        const repeat = async (): Promise<void> => {
          if (session.restores === restores) return;
          restores = session.restores;
          response = await session.endpointSession.receive(message, call);
        };
        if (changesState || session.isUnsaved) await this.#stored.save(session, changesState ? repeat : undefined);
      }
      // Another machine may wait for an answer or a cancellation.
      const isForOthers = !('method' in message) || message.method === 'notifications/cancelled';
      if (isForOthers && !session.isStateless) await this.#relay?.tell(session, { message });
      return response;
    } finally {
      session.inFlight--;
      session.usedAtMs = this.#settings.clock.monotonicMs();
    }
  }

  /**
   * Ends a session because its client asked for it, here and on other machines.
   *
   * @throws Errors of the session store, which then still has the session.
   */
  async end(session: HttpSession): Promise<void> {
    session.isEnded = true;
    await this.#end(session);
    void this.#relay?.tryToTell(session, { ended: true });
  }

  /** Tells other machines that this one serves a resumed stream from now on, so that they send nothing more on it. Never rejects. */
  async takeStream(session: HttpSession, streamId: string): Promise<void> {
    await this.#relay?.tryToTell(session, { taken: streamId });
  }

  /** Finds out whether another machine serves a stream, as `SessionRelay` does. */
  async isHeldElsewhere(session: HttpSession, streamId: string, isTaken: boolean): Promise<boolean> {
    return this.#relay !== undefined && this.#relay.isHeldElsewhere(session, streamId, isTaken);
  }

  /** Whether other machines may serve the same sessions: without a message bus there are none. */
  get hasOthers(): boolean {
    return this.#relay !== undefined;
  }

  /** Ends the sessions of this process. Stored sessions stay, for other machines and later processes. */
  async close(): Promise<void> {
    this.#sweepTimer?.cancel();
    await Promise.all(Array.from(this.#sessions.values(), (session) => this.#forget(session)));
  }

  /** Ends a session in this process, in the session store and in the event store. */
  async #end(session: HttpSession): Promise<void> {
    const isFirst = this.#unlist(session);
    this.#ending.add(session.id);
    try {
      await session.close();
      await session.eventLog?.store.delete(session.id).catch((error: unknown) => {
        this.#log('The events of a session could not be deleted', error);
      });
      await this.#stored?.delete(session);
    } finally {
      this.#ending.delete(session.id);
    }
    if (isFirst) void this.#notify('onClosed', session.id);
  }

  /** Removes a session from memory. Without a session store this ends the session and deletes its events. */
  async #forget(session: HttpSession): Promise<void> {
    if (this.#stored === undefined) return this.#end(session);
    this.#unlist(session);
    await session.close();
  }

  #forgetSoon(session: HttpSession): void {
    this.#forget(session).catch((error: unknown) => this.#log('A session could not be closed', error));
  }

  // ---- stored sessions

  /** Loads a session from the session store, because another machine may have changed or ended it. */
  async #refresh(stored: StoredSessions, live: HttpSession | undefined, id: string, http: HttpExchange): Promise<HttpSession | undefined> {
    const record = await stored.find(id, http.principal);
    if (this.#ending.has(id)) return undefined;
    // Looks again: in the meantime another request may have opened it, or it was ended or evicted.
    const now = this.#sessions.get(id);
    if (now !== live) return this.#refresh(stored, now, id, http);
    try {
      if (record !== undefined && live === undefined) return this.#open(stored, record, http);
      if (record !== undefined && live !== undefined) {
        if (record.version > live.storedVersion && live.inFlight === 0) await stored.adopt(live, record);
        return live;
      }
    } catch (error) {
      if (error instanceof HttpRefusal) throw error;
      this.#log('A stored session could not be opened: its client must send "initialize" again', error, 'warning');
    }
    if (live !== undefined) await this.#forget(live);
    return undefined;
  }

  #open(stored: StoredSessions, record: SessionRecord, http: HttpExchange): HttpSession | undefined {
    const opened = stored.open(record);
    if (opened === undefined) return undefined;
    return this.#counted(http, () => {
      const session = new HttpSession(http, record.id, opened.state);
      session.revision = opened.revision;
      session.storedVersion = record.version;
      session.isUnsaved = false;
      this.#list(session);
      return session;
    });
  }

  /** Handles what another machine tells of a session. @throws Errors of the endpoint and of the session store. */
  async #onNews(session: HttpSession, news: SessionNews): Promise<void> {
    if ('taken' in news || 'asked' in news) {
      const id = 'taken' in news ? news.taken : news.asked;
      const isHere = session.findHeld(id) !== undefined;
      if ('taken' in news) session.yieldStream(id);
      if (isHere) await this.#relay?.tryToTell(session, { held: id });
      return;
    }
    if ('held' in news) {
      for (const [onHeld, id] of session.asking) if (id === news.held) onHeld();
      return;
    }
    if ('changed' in news) {
      try {
        if ((await this.#stored?.update(session, news.changed)) !== false) return;
      } catch (error) {
        this.#rereadSoon(session);
        throw error;
      }
    } else if (!('ended' in news)) return deliver(session, news.message);
    session.isEnded = true;
    await this.#forget(session);
  }

  /** Reads a session again that could not be read. Until then its client hears nothing of what it has subscribed to at other machines. */
  #rereadSoon(session: HttpSession): void {
    if (session.willReread) return;
    session.willReread = true;
    this.#settings.clock.schedule(() => {
      session.willReread = false;
      if (!session.isClosed) this.#onNews(session, { changed: undefined }).catch(() => undefined);
    }, REREAD_MS);
  }

  // ---- limits and eviction

  /** Makes a session and counts it. @throws {HttpRefusal} 503: the limit is reached. Errors of `make`; the session is then not counted. */
  #counted(http: HttpExchange, make: () => HttpSession): HttpSession {
    const key = http.limitKey;
    if (!this.#limit.acquire(key)) {
      const victim = this.#findIdle(key) ?? (this.#limit.total >= this.#settings.maxSessions ? this.#findIdle(undefined) : undefined);
      if (victim !== undefined) this.#forgetSoon(victim);
      if (!this.#limit.acquire(key)) throw busy('Too many sessions: end one, or come back later');
    }
    try {
      return make();
    } catch (error) {
      this.#limit.release(key);
      throw error;
    }
  }

  /** Finds the idle session to end when the limit is reached: the least recently used one. Prefers sessions without an open stream. */
  #findIdle(key: string | undefined): HttpSession | undefined {
    let listening: HttpSession | undefined;
    for (const session of this.#sessions.values()) {
      if (session.inFlight > 0 || (key !== undefined && session.limitKey !== key)) continue;
      if (!session.isConnected) return session;
      listening ??= session;
    }
    return listening;
  }

  #list(session: HttpSession): void {
    if (this.#relay !== undefined) {
      const opened = this.#hear(session, this.#relay);
      session.opened = opened;
      // Whoever finds the session awaits it.
      opened.then(
        () => (session.opened = resolvedPromise),
        () => undefined,
      );
    }
    this.#use(session);
    this.#sweepTimer ??= this.#scheduleSweep();
  }

  /** Subscribes a session to what happens at other machines, and to the changes that its client listens to. @throws Errors of the bus. */
  async #hear(session: HttpSession, relay: SessionRelay): Promise<void> {
    const unsubscribe = await relay.subscribe(session, (news) => this.#onNews(session, news));
    if (session.isClosed) return unsubscribe();
    session.unsubscribe = unsubscribe;
    await session.endpointSession.ready;
    // Another machine may have changed the session after it was read, and before its news arrived here.
    if (session.storedVersion > 0) await this.#onNews(session, { changed: undefined });
  }

  /** Removes a session from the table. @returns false if it was removed already. */
  #unlist(session: HttpSession): boolean {
    if (this.#sessions.get(session.id) !== session) return false;
    this.#remove(session);
    this.#limit.release(session.limitKey);
    return true;
  }

  #remove(session: HttpSession): void {
    this.#sessions.delete(session.id);
    session.unsubscribe?.();
  }

  /** Marks a session as the most recently used, so that it is ended last when the limit is reached. */
  #use(session: HttpSession): void {
    session.usedAtMs = this.#settings.clock.monotonicMs();
    this.#sessions.delete(session.id);
    this.#sessions.set(session.id, session);
  }

  #scheduleSweep(): ClockTimer {
    return this.#settings.clock.schedule(() => this.#sweep(), Math.min(SWEEP_MS, this.#settings.sessionIdleMs));
  }

  #sweep(): void {
    const before = this.#settings.clock.monotonicMs() - this.#settings.sessionIdleMs;
    for (const session of this.#sessions.values()) {
      // Sessions are in the order of their last use, so all others are newer.
      if (session.usedAtMs > before) break;
      if (session.inFlight === 0 && !session.isConnected) this.#forgetSoon(session);
      else this.#use(session);
    }
    this.#sweepTimer = this.#sessions.size > 0 ? this.#scheduleSweep() : undefined;
  }

  async #notify(callback: 'onOpened' | 'onClosed', sessionId: string): Promise<void> {
    try {
      await this.#settings[callback]?.(sessionId);
    } catch (error) {
      this.#log(`A callback of the transport (${callback === 'onOpened' ? 'onsessioninitialized' : 'onsessionclosed'}) failed`, error);
    }
  }

  #log(text: string, error: unknown, level: LogLevel = 'error'): void {
    this.#settings.logger.log(level, text, { error: String(error) });
  }
}

/**
 * Whether a message may be handled again after another machine changed the session's state: only if it changes nothing but that state. The
 * program's middleware, and its handler of `notifications/initialized`, then run again.
 */
function changesSession({ requests, notifications }: Revision, message: JsonRpcMessage): boolean {
  if (!('method' in message)) return false;
  return (requests.get(message.method) ?? notifications.get(message.method))?.changesSession === true;
}

/** Passes a message that another machine has received to the session. */
async function deliver(session: HttpSession, message: JsonRpcMessage): Promise<void> {
  if (classifyMessage(message) === 'invalid') throw new TypeError('An event of the message bus does not contain a JSON-RPC message');
  await session.endpointSession.receive(message, new LegacyCall(session));
}

/** Makes the 404 response for a session that has ended, never existed or belongs to another principal. It does not reveal which. */
export function unknownSession(): HttpRefusal {
  return new HttpRefusal(404, 'There is no such session: send "initialize" without "Mcp-Session-Id" to begin a new one');
}

/** Makes a session id of 192 random bits. */
export function generateSessionId(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
}

/** Checks a session id that the program made. @throws {HttpOptionError} `ERR_HTTP_OPTION`: it is not valid in a header. */
function checkSessionId(id: string): string {
  if (/^[\x21-\x7e]+$/.test(id)) return id;
  throw new HttpOptionError(
    'The option "sessionIdGenerator" must return one or more visible ASCII characters, as MCP requires of a session id',
  );
}
