/**
 * The legacy sessions that live in this process, the least recently used first: bounded in all and by key, ended when idle, and kept in
 * a `SessionStore` where the program gives one, so that any machine can go on with them.
 */

import type { Clock, JsonRpcMessage, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { Call, McpEndpoint, SessionRecord } from '@mortise/protocol/contracts';
import { KeyedLimit } from '@mortise/protocol/edge';
import { Beat } from './beat.ts';
import type { Caller } from './hosted-call.ts';
import { HostedSession, type HostedSessionTerms } from './hosted-session.ts';
import type { Settings } from './options.ts';
import { busyRefusal, HttpRefusal } from './refusal.ts';
import { checkSessionId, takenIdError } from './session-id.ts';
import { SessionKeeper } from './session-keeper.ts';
import { SessionRelay } from './session-relay.ts';

/**
 * What only changes a session's state, and may be received again when another machine changed it first. Whatever else is received
 * runs code of the program, and runs once.
 */
const STATE_METHODS: ReadonlySet<string> = new Set([
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'notifications/initialized',
]);
const SWEEP_MS = 30_000;

/** Which session, and for whom. */
interface Asked {
  readonly id: string;
  readonly caller: Caller;
}

export class SessionTable {
  readonly #endpoint: McpEndpoint;
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #limit: KeyedLimit;
  readonly #relay: SessionRelay | undefined;
  /** Present where the program gave a store. */
  readonly #keeper: SessionKeeper | undefined;
  readonly #beat: Beat;
  readonly #sessions: Map<string, HostedSession> = new Map();
  readonly #byKey: Map<string, Set<HostedSession>> = new Map();
  readonly #opening: Map<string, Promise<HostedSession | undefined>> = new Map();
  readonly #isSingle: boolean;

  constructor(endpoint: McpEndpoint, settings: Settings, isSingle: boolean) {
    this.#isSingle = isSingle;
    this.#endpoint = endpoint;
    this.#settings = settings;
    this.#clock = settings.clock;
    this.#relay = settings.messageBus === undefined ? undefined : new SessionRelay(settings.messageBus, settings.logger);
    this.#keeper = settings.sessionStore === undefined ? undefined : new SessionKeeper(settings.sessionStore, settings);
    this.#limit = new KeyedLimit(settings.maxSessions, settings.maxSessionsPerKey);
    this.#beat = new Beat(settings.clock, Math.min(SWEEP_MS, settings.sessionIdleMs), () => this.#sweep());
  }

  get size(): number {
    return this.#sessions.size;
  }

  /**
   * Makes a session for `initialize` to decide on. It counts from now on, and is found once it is admitted.
   *
   * @throws {HttpRefusal} 503 where all sessions are busy, 400 where there is one and may be but one.
   */
  create(caller: Caller): HostedSession {
    if (this.#isSingle && this.#limit.total > 0)
      throw new HttpRefusal(400, 'This session is already initialized: send its "Mcp-Session-Id"');
    this.#reserve(caller.limitKey);
    try {
      const id = checkSessionId(this.#settings.generateSessionId());
      return new HostedSession(id, caller, this.#endpoint, this.#termsOf(id));
    } catch (error) {
      this.#limit.release(caller.limitKey);
      throw error;
    }
  }

  /** `initialize` failed: the session never was. */
  async discard(session: HostedSession): Promise<void> {
    this.#limit.release(session.limitKey);
    await session.close();
  }

  /** `initialize` succeeded. @throws What the store or the bus throws: the session is not found then, and is to be discarded. */
  async admit(session: HostedSession): Promise<void> {
    await this.#keeper?.create(session);
    try {
      if (this.#sessions.has(session.id)) throw takenIdError();
      this.#list(session);
    } catch (error) {
      await this.#keeper?.discard(session);
      throw error;
    }
    await this.#tell('onSessionOpened', session.id);
  }

  /** Finds the session that a request names, if it is this caller's. */
  async find(id: string, caller: Caller): Promise<HostedSession | undefined> {
    const live = this.#sessions.get(id);
    if (live !== undefined && live.principal !== caller.principal) return undefined;
    if (this.#keeper === undefined) {
      if (live !== undefined) this.#use(live);
      return live;
    }
    const session = await this.#refresh(this.#keeper, live, { id, caller });
    if (session === undefined) return undefined;
    // It was ended, or made room for another, while the store was asked: that knows which.
    if (this.#sessions.get(id) !== session) return this.find(id, caller);
    this.#use(session);
    return session;
  }

  /** Hands a message to a session and keeps what it changed before the answer is told. */
  async receive(session: HostedSession, message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined> {
    session.inFlight++;
    try {
      const { changes, timesReopened } = session;
      let response = await session.legacy.receive(message, call);
      if (this.#keeper !== undefined && session.isDirty && session.revision !== undefined) {
        const isItsChange = session.changes !== changes && 'method' in message && STATE_METHODS.has(message.method);
        const repeat = async (): Promise<void> => {
          response = await session.legacy.receive(message, call);
        };
        await this.#keeper.keep(session, timesReopened, isItsChange ? repeat : undefined);
      }
      await this.#relay?.pass(session, message);
      return response;
    } finally {
      session.inFlight--;
      if (session.inFlight === 0) session.closeRetired();
      session.usedAtMs = this.#clock.monotonicMs();
    }
  }

  /** Ends a session for good because its client wants that. @throws What the session store throws: then others still find it. */
  end(session: HostedSession): Promise<void> {
    session.isEnded = true;
    return this.#end(session);
  }

  /** Ends a session here and in the stores. */
  async #end(session: HostedSession): Promise<void> {
    const isFirst = this.#unlist(session);
    await session.close();
    await this.#deleteEvents(session);
    await this.#keeper?.delete(session);
    if (isFirst) void this.#tell('onSessionClosed', session.id);
  }

  async #deleteEvents({ id, log }: HostedSession): Promise<void> {
    try {
      await log?.store.delete(id);
    } catch (error) {
      this.#settings.logger.log('error', 'The events of a session could not be deleted', { error: String(error) });
    }
  }

  /** Ends what lives here. Stored sessions stay, for other machines and later processes. */
  async close(): Promise<void> {
    this.#beat.stop();
    const keep = this.#keeper !== undefined;
    await Promise.all(Array.from(this.#sessions.values(), (session) => (keep ? this.#forget(session) : this.#end(session))));
  }

  /** What the program does when it is told is its own affair, and its failure too. */
  async #tell(callback: 'onSessionOpened' | 'onSessionClosed', sessionId: string): Promise<void> {
    try {
      await this.#settings[callback]?.(sessionId);
    } catch (error) {
      this.#settings.logger.log('error', `The option "${callback}" failed`, { error: String(error) });
    }
  }

  #reserve(key: string): void {
    if (this.#limit.acquire(key)) return;
    const victim =
      findIdle(this.#byKey.get(key) ?? []) ??
      (this.#limit.total >= this.#settings.maxSessions ? findIdle(this.#sessions.values()) : undefined);
    if (victim !== undefined) this.#forgetSoon(victim);
    if (!this.#limit.acquire(key)) throw busyRefusal('Too many sessions: end one, or come back later');
  }

  #list(session: HostedSession): void {
    // First, since a bus that fails must leave nothing listed.
    session.unwatch = this.#relay?.watch(session);
    this.#sessions.set(session.id, session);
    const ofKey = this.#byKey.get(session.limitKey) ?? new Set();
    this.#byKey.set(session.limitKey, ofKey.add(session));
    session.usedAtMs = this.#clock.monotonicMs();
    this.#beat.start();
  }

  /** @returns false where somebody else was first. */
  #unlist(session: HostedSession): boolean {
    if (this.#sessions.get(session.id) !== session) return false;
    this.#sessions.delete(session.id);
    session.unwatch?.();
    const ofKey = this.#byKey.get(session.limitKey);
    ofKey?.delete(session);
    if (ofKey?.size === 0) this.#byKey.delete(session.limitKey);
    this.#limit.release(session.limitKey);
    return true;
  }

  /** Moves a session to the end of the order in which they are evicted. */
  #use(session: HostedSession): void {
    session.usedAtMs = this.#clock.monotonicMs();
    this.#sessions.delete(session.id);
    this.#sessions.set(session.id, session);
    const ofKey = this.#byKey.get(session.limitKey);
    ofKey?.delete(session);
    ofKey?.add(session);
  }

  #forgetSoon(session: HostedSession): void {
    this.#forget(session).catch((error: unknown) =>
      this.#settings.logger.log('error', 'A session could not be closed', { error: String(error) }),
    );
  }

  /** Drops a session from memory. Without a store that is its end, and its log goes with it. */
  async #forget(session: HostedSession): Promise<void> {
    if (this.#keeper === undefined) return this.#end(session);
    this.#unlist(session);
    await session.close();
  }

  #termsOf(sessionId: string): HostedSessionTerms {
    const { eventStore, logger } = this.#settings;
    return { log: eventStore === undefined ? undefined : { store: eventStore, sessionId, logger }, logger };
  }

  /** Looks the session up in the store, which alone knows whether it still is and what others made of it. */
  async #refresh(keeper: SessionKeeper, live: HostedSession | undefined, { id, caller }: Asked): Promise<HostedSession | undefined> {
    const record = await keeper.find(id);
    if (record === undefined || record.principal !== caller.principal) {
      if (live !== undefined && record === undefined) await this.#forget(live);
      return undefined;
    }
    await keeper.touch(record);
    if (live !== undefined) {
      if (record.version === live.storedVersion || live.inFlight > 0 || this.#adopt(keeper, live, record)) return live;
      await this.#forget(live);
      return undefined;
    }
    // Requests that arrive together must not open the session twice.
    const opening = this.#opening.get(id) ?? this.#open(keeper, record, caller).finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  #adopt(keeper: SessionKeeper, live: HostedSession, record: SessionRecord): boolean {
    try {
      keeper.adopt(live, record);
      return true;
    } catch (error) {
      this.#logUnopened(error);
      return false;
    }
  }

  async #open(keeper: SessionKeeper, record: SessionRecord, caller: Caller): Promise<HostedSession | undefined> {
    await resolvedPromise;
    const existing = this.#sessions.get(record.id);
    if (existing !== undefined) return existing;
    const opened = keeper.open(record);
    if (opened === undefined) return undefined;
    this.#reserve(caller.limitKey);
    try {
      const session = new HostedSession(record.id, caller, this.#endpoint, { ...this.#termsOf(record.id), saved: opened.state });
      session.revision = opened.revision;
      session.storedVersion = record.version;
      session.isDirty = false;
      this.#list(session);
      return session;
    } catch (error) {
      this.#limit.release(caller.limitKey);
      this.#logUnopened(error);
      return undefined;
    }
  }

  #logUnopened(error: unknown): void {
    this.#settings.logger.log('warning', 'A stored session could not be opened: its client has to begin anew', { error: String(error) });
  }

  #sweep(): boolean {
    const before = this.#clock.monotonicMs() - this.#settings.sessionIdleMs;
    for (const session of this.#sessions.values()) {
      // The order is by use, so behind the first that is young enough all are.
      if (session.usedAtMs > before) break;
      if (session.inFlight === 0 && !session.isConnected) this.#forgetSoon(session);
      else this.#use(session);
    }
    void this.#keeper?.sweep();
    return this.#sessions.size > 0;
  }
}

/** The least recently used session that nobody waits on; one whose client listens only where there is no other. */
function findIdle(sessions: Iterable<HostedSession>): HostedSession | undefined {
  let listening: HostedSession | undefined;
  for (const session of sessions) {
    if (session.inFlight > 0) continue;
    if (!session.isConnected) return session;
    listening ??= session;
  }
  return listening;
}
