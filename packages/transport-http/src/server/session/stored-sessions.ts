/** Keeps legacy sessions in the program's `SessionStore` by compare-and-set, so that any machine can go on with them. */

import { findRevision, type Revision } from '@mortise/protocol';
import type { SessionRecord, SessionState, SessionStore } from '@mortise/protocol/contracts';
import type { Settings } from '../options.ts';
import type { HttpSession } from './http-session.ts';

/** What is stored: the endpoint's state, and the facts that the host itself needs. */
interface StoredState extends SessionState {
  readonly protocolVersion: string;
  /** Who wrote it last: a write whose answer was lost is known by it. Absent in records of earlier versions. */
  readonly writer?: string;
  readonly session: SessionState;
}

/** What a stored session is opened from. */
export interface OpenedRecord {
  readonly revision: Revision;
  readonly state: SessionState;
}

const LAYOUT = 1;
const MAX_WRITES = 4;
/** The expiry is moved on once so much of the time is left. */
const TOUCH_BELOW = 0.75;

export class StoredSessions {
  readonly #store: SessionStore;
  readonly #settings: Settings;
  readonly #writer: string = crypto.randomUUID();

  constructor(store: SessionStore, settings: Settings) {
    this.#store = store;
    this.#settings = settings;
  }

  /** Finds a record. @throws What the store throws. */
  find(id: string): Promise<SessionRecord | undefined> {
    return this.#store.get(id);
  }

  /** Keeps a record that is in use from expiring. @throws What the store throws. */
  async touch(record: SessionRecord): Promise<void> {
    const { clock, sessionIdleMs } = this.#settings;
    const now = clock.now();
    if (record.expiresAtMs - now < sessionIdleMs * TOUCH_BELOW) await this.#store.touch(record.id, now + sessionIdleMs);
  }

  /** What a record holds; undefined where this version cannot read it. */
  open(record: SessionRecord): OpenedRecord | undefined {
    // A store may give back anything: what somebody else wrote, or what was cut off.
    const stored = record.state as StoredState | null | undefined;
    const revision = findRevision(stored?.protocolVersion);
    return stored?.layout !== LAYOUT || revision === undefined ? undefined : { revision, state: stored.session };
  }

  /** Stores a session for the first time. @throws What the store throws: nothing is stored then. */
  async create(session: HttpSession): Promise<void> {
    try {
      if (!(await this.#write(session))) throw new Error('The store holds a session with this id already');
    } catch (error) {
      this.#log('A session could not be stored: its client gets status 500, and may try again', error);
      throw error;
    }
  }

  /**
   * Stores what has changed. A store that fails is logged, and tried again with the next message: an answer that there is must not be
   * lost for it. Never rejects.
   *
   * @param opened How often the session had been opened anew when the message at hand was received.
   * @param repeat Has the session receive that message once more, after it was opened anew from what another machine stored; absent
   * where that would do more than to change the state.
   */
  keep(session: HttpSession, opened: number, repeat: (() => Promise<void>) | undefined): Promise<void> {
    // One after the other: of two writes at once, one would only find the other.
    session.keeping = session.keeping.then(async () => {
      try {
        if (session.timesReopened !== opened) await repeat?.();
        await this.#keepNow(session, repeat);
      } catch (error) {
        session.isDirty = true;
        this.#log('What changed in a session could not be stored: it is tried again with the next message', error);
      }
    });
    return session.keeping;
  }

  /**
   * Goes on from a record that is newer than what is known here.
   *
   * @throws {Error} Another version of the program stored it, in a way that is not known here; or what the endpoint throws.
   */
  adopt(session: HttpSession, record: SessionRecord): void {
    // A write of our own that seemed to fail: what is known here is that, or newer.
    if ((record.state as StoredState).writer !== this.#writer) {
      const opened = this.open(record);
      if (opened === undefined) throw new Error('Its record has a layout or a revision that this version does not know');
      if (session.isDirty) this.#log('What changed in a session is lost: another machine stored it first', undefined);
      session.reopen(opened.state);
    }
    session.storedVersion = record.version;
  }

  /** Forgets a session. @throws What the store throws. */
  async delete(session: HttpSession): Promise<void> {
    await this.#store.delete(session.id);
  }

  /** Forgets a session that never was. Never rejects: where that fails, its record expires. */
  async discard(session: HttpSession): Promise<void> {
    try {
      await this.delete(session);
    } catch (error) {
      this.#log('A session that could not be opened could not be deleted either', error);
    }
  }

  /** Lets the store forget what has expired. Never rejects. */
  async sweep(): Promise<void> {
    try {
      await this.#store.deleteExpired(this.#settings.clock.now());
    } catch (error) {
      this.#log('Sessions that have expired could not be deleted', error);
    }
  }

  async #keepNow(session: HttpSession, repeat: (() => Promise<void>) | undefined): Promise<void> {
    for (let writes = 0; session.isDirty && writes < MAX_WRITES; writes++) {
      if (await this.#write(session)) continue;
      const record = await this.#store.get(session.id);
      // Ended, here or elsewhere: there is nothing to keep.
      if (record === undefined) return;
      const opened = session.timesReopened;
      if (repeat !== undefined) session.isDirty = false;
      this.adopt(session, record);
      // What this message changes goes on top of what the other machine stored.
      if (session.timesReopened !== opened) await repeat?.();
      else session.isDirty = true;
    }
    if (session.isDirty) throw new Error(`Others wrote first ${MAX_WRITES} times`);
  }

  /** @returns false where the store holds another version. @throws What the store throws. */
  async #write(session: HttpSession): Promise<boolean> {
    const { revision } = session;
    if (revision === undefined) return true;
    const state: StoredState = { layout: LAYOUT, protocolVersion: revision.version, writer: this.#writer, session: session.legacy.state };
    const expiresAtMs = this.#settings.clock.now() + this.#settings.sessionIdleMs;
    // Before it is known: what changes meanwhile is to be stored, too.
    session.isDirty = false;
    let isStored = false;
    try {
      isStored = await this.#store.put({ id: session.id, principal: session.principal, state, expiresAtMs }, session.storedVersion);
    } finally {
      if (isStored) session.storedVersion++;
      else session.isDirty = true;
    }
    return isStored;
  }

  #log(text: string, error: unknown): void {
    this.#settings.logger.log('error', text, error === undefined ? undefined : { error: String(error) });
  }
}
