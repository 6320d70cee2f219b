/**
 * The legacy sessions that live in this process, the least recently used first: bounded in all and by key, ended when idle, and kept in
 * a `SessionStore` where the program gives one, so that any machine can go on with them.
 */

import type { ClockTimer, JsonRpcMessage, JsonRpcResponse, LogLevel } from '@mortise/jsonrpc-core';
import { toBase64Url } from '@mortise/jsonrpc-core/encoding';
import type { Revision } from '@mortise/protocol';
import type { Call, SessionRecord } from '@mortise/protocol/contracts';
import { KeyedLimit } from '@mortise/protocol/edge';
import { HttpOptionError } from '../../errors.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import type { Settings } from '../options.ts';
import { busy, HttpRefusal } from '../http/refusal.ts';
import { HttpSession } from './http-session.ts';
import { SessionRelay } from './session-relay.ts';
import { StoredSessions } from './stored-sessions.ts';

const SWEEP_MS = 30_000;
const ID_BYTES = 24;

export class SessionTable {
  readonly #settings: Settings;
  readonly #limit: KeyedLimit;
  readonly #relay: SessionRelay | undefined;
  /** Present where the program gave a store. */
  readonly #stored: StoredSessions | undefined;
  readonly #sessions = new Map<string, HttpSession>();
  #sweepTimer: ClockTimer | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#relay = settings.messageBus && new SessionRelay(settings.messageBus, settings.logger);
    this.#stored = settings.sessionStore && new StoredSessions(settings.sessionStore, settings);
    this.#limit = new KeyedLimit(settings.maxSessions, settings.maxSessionsPerKey);
  }

  get size(): number {
    return this.#sessions.size;
  }

  // ---- the life of a session

  /**
   * Makes a session for `initialize` to decide on. It counts from now on, and is found once it is admitted.
   *
   * @throws {HttpRefusal} 503 if all sessions are busy; 400 if a transport for one session has one already.
   */
  create(http: HttpExchange): HttpSession {
    if (this.#settings.isSingle === true && this.#limit.total > 0)
      throw new HttpRefusal(400, 'This session is already initialized: send its "Mcp-Session-Id"');
    return this.#counted(http, () => new HttpSession(http, checkSessionId((this.#settings.generateId ?? generateSessionId)())));
  }

  /** `initialize` failed: the session never was. */
  async discard(session: HttpSession): Promise<void> {
    this.#limit.release(session.limitKey);
    await session.close();
  }

  /** `initialize` succeeded. @throws What the store or the bus throws: the session is not found then, and is to be discarded. */
  async admit(session: HttpSession): Promise<void> {
    // First, since a bus that fails must leave nothing stored. Its client does not know the id yet.
    this.#list(session);
    // Not idle while it is being stored: it would be evicted.
    session.inFlight++;
    try {
      await this.#stored?.create(session);
    } catch (error) {
      this.#remove(session);
      throw error;
    } finally {
      session.inFlight--;
    }
    await this.#notify('onOpened', session.id);
  }

  /** Finds the session that a request names, if it belongs to the same principal. @throws {HttpRefusal} 404 where there is none. */
  async find(id: string, http: HttpExchange): Promise<HttpSession> {
    const live = this.#sessions.get(id);
    if (live !== undefined && live.principal !== http.principal) throw unknownSession();
    const session = this.#stored === undefined ? live : await this.#refresh(this.#stored, live, id, http);
    if (session === undefined) throw unknownSession();
    this.#use(session);
    return session;
  }

  /** Hands a message to a session, and stores what it changed before the response goes out. */
  async receive(session: HttpSession, message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined> {
    session.inFlight++;
    try {
      let served = session.legacy;
      let response = await served.receive(message, call);
      if (this.#stored !== undefined && session.revision !== undefined && !session.isStateless) {
        const changesState = changesSession(session.revision, message);
        // Saving may find that another machine changed the state: then it has replaced `session.legacy`, which has not seen the message.
        const repeat = async (): Promise<void> => {
          if (session.legacy === served) return;
          served = session.legacy;
          response = await served.receive(message, call);
        };
        if (changesState || session.isUnsaved) await this.#stored.save(session, changesState ? repeat : undefined);
      }
      if (!session.isStateless) await this.#relay?.pass(session, message);
      return response;
    } finally {
      session.inFlight--;
      if (session.inFlight === 0) session.closeRetired();
      session.usedAtMs = this.#settings.clock.monotonicMs();
    }
  }

  /** Ends a session for good because its client wants that. @throws What the session store throws: then others still find it. */
  end(session: HttpSession): Promise<void> {
    session.isEnded = true;
    return this.#end(session);
  }

  /** Ends what lives here. Stored sessions stay, for other machines and later processes. */
  async close(): Promise<void> {
    this.#sweepTimer?.cancel();
    await Promise.all(Array.from(this.#sessions.values(), (session) => this.#forget(session)));
  }

  /** Ends a session here and in the stores. */
  async #end(session: HttpSession): Promise<void> {
    const isFirst = this.#unlist(session);
    await session.close();
    try {
      await session.log?.store.delete(session.id);
    } catch (error) {
      this.#log('The events of a session could not be deleted', error);
    }
    await this.#stored?.delete(session);
    if (isFirst) void this.#notify('onClosed', session.id);
  }

  /** Drops a session from memory. Without a store that is its end, and its log goes with it. */
  async #forget(session: HttpSession): Promise<void> {
    if (this.#stored === undefined) return this.#end(session);
    this.#unlist(session);
    await session.close();
  }

  #forgetSoon(session: HttpSession): void {
    this.#forget(session).catch((error: unknown) => this.#log('A session could not be closed', error));
  }

  // ---- sessions that a store keeps

  /** Looks a session up in the store, which alone knows whether it still exists and what other machines made of it. */
  async #refresh(stored: StoredSessions, live: HttpSession | undefined, id: string, http: HttpExchange): Promise<HttpSession | undefined> {
    const record = await stored.find(id, http.principal);
    // Meanwhile it was opened by another request, ended, or made room for another session: look again.
    const now = this.#sessions.get(id);
    if (now !== live) return this.#refresh(stored, now, id, http);
    try {
      if (record !== undefined && live === undefined) return this.#open(stored, record, http);
      if (record !== undefined && live !== undefined) {
        if (record.version !== live.storedVersion && live.inFlight === 0) stored.adopt(live, record);
        return live;
      }
    } catch (error) {
      if (error instanceof HttpRefusal) throw error;
      this.#log('A stored session could not be opened: its client has to begin anew', error, 'warning');
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

  // ---- how many there are, and which goes first

  /** Counts a session in. @throws {HttpRefusal} 503, or what `make` throws: nothing is counted then. */
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

  /** The least recently used session that nobody waits on; one whose client listens only where there is no other. */
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
    // First, since a bus that fails must leave nothing listed.
    session.unsubscribe = this.#relay?.subscribe(session);
    this.#use(session);
    this.#sweepTimer ??= this.#scheduleSweep();
  }

  /** @returns false where it was unlisted already. */
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

  /** Moves a session to the end of the order in which they are evicted. */
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
      // Sessions are in order of their last use, so all that follow are younger.
      if (session.usedAtMs > before) break;
      if (session.inFlight === 0 && !session.isConnected) this.#forgetSoon(session);
      else this.#use(session);
    }
    void this.#stored?.sweep();
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
 * Whether a message may be received again if another machine changed the session's state first. One that does more than change it, such as
 * run code of the program, is received once.
 */
function changesSession({ requests, notifications }: Revision, message: JsonRpcMessage): boolean {
  if (!('method' in message)) return false;
  return (requests.get(message.method) ?? notifications.get(message.method))?.changesSession === true;
}

/** A session that has ended, never was, or belongs to another principal: the answer does not say which. */
export function unknownSession(): HttpRefusal {
  return new HttpRefusal(404, 'There is no such session: send "initialize" without "Mcp-Session-Id" to begin a new one');
}

/** Makes an id of 192 random bits. */
export function generateSessionId(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
}

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: no header can carry the id that the program made. */
function checkSessionId(id: string): string {
  if (/^[\x21-\x7e]+$/.test(id)) return id;
  throw new HttpOptionError('The option "sessionIdGenerator" must give visible ASCII characters alone: no header can carry others');
}
