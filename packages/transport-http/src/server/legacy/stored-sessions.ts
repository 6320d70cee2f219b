/** Keeps legacy sessions in the program's `SessionStore` by compare-and-set, so that any machine can go on with them. */

import { findRevision, type Revision } from '@mortise/protocol';
import type { SessionRecord, SessionState, SessionStore } from '@mortise/protocol/contracts';
import type { Settings } from '../options.ts';
import type { HttpSession } from './http-session.ts';

/** What is stored: the endpoint's state, and the revision, which the handler itself needs. */
interface StoredState extends SessionState {
  readonly protocolVersion: string;
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

  constructor(store: SessionStore, settings: Settings) {
    this.#store = store;
    this.#settings = settings;
  }

  /** Finds a record, and keeps it from expiring. @throws What the store throws. */
  async find(id: string, principal: string): Promise<SessionRecord | undefined> {
    const record = await this.#store.get(id);
    if (record?.principal !== principal) return undefined;
    const { clock, sessionIdleMs } = this.#settings;
    const now = clock.now();
    if (record.expiresAtMs - now < sessionIdleMs * TOUCH_BELOW) await this.#store.touch(id, now + sessionIdleMs);
    return record;
  }

  /** Reads a record; undefined where this version of the program cannot. */
  open({ state }: SessionRecord): OpenedRecord | undefined {
    // A store may give back anything: what another program wrote, or half a record.
    const stored = state as StoredState | null | undefined;
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
   * Stores what a message has changed, after those before it. A store that fails is logged, and tried again with the next message: the
   * answer must not be lost for it. Never rejects.
   *
   * @param repeat Receives the message again, if the session was opened anew since: what it changes goes on top of what another machine
   * stored. Absent where that would do more than change the state.
   */
  save(session: HttpSession, repeat: (() => Promise<void>) | undefined): Promise<void> {
    session.saving = session.saving.then(async () => {
      try {
        await this.#saveNow(session, repeat);
      } catch (error) {
        session.isUnsaved = true;
        this.#log('What changed in a session could not be stored: it is tried again with the next message', error);
      }
    });
    return session.saving;
  }

  async #saveNow(session: HttpSession, repeat: (() => Promise<void>) | undefined): Promise<void> {
    for (let writes = 0; writes < MAX_WRITES; writes++) {
      await repeat?.();
      if (!session.isUnsaved || (await this.#write(session))) return;
      const record = await this.#store.get(session.id);
      // Ended, here or elsewhere: there is nothing to keep.
      if (record === undefined) return;
      this.adopt(session, record, repeat !== undefined);
    }
    throw new Error(`Others wrote first ${MAX_WRITES} times`);
  }

  /**
   * Goes on from a record that is newer than what is known here.
   *
   * @param repeats What is not saved yet will be done again.
   * @throws {Error} Another version of the program stored it, in a way that is not known here; or what the endpoint throws.
   */
  adopt(session: HttpSession, record: SessionRecord, repeats = false): void {
    const opened = this.open(record);
    if (opened === undefined) throw new Error('Its record has a layout or a revision that this version does not know');
    // The same state was written from here, by a write that seemed to fail.
    if (JSON.stringify(opened.state) !== JSON.stringify(session.legacy.state)) {
      if (session.isUnsaved && !repeats)
        this.#settings.logger.log('error', 'What changed in a session is lost: another machine stored it first');
      session.reopen(opened.state);
    }
    session.isUnsaved = false;
    session.storedVersion = record.version;
  }

  /** @throws What the store throws. */
  delete(session: HttpSession): Promise<void> {
    return this.#store.delete(session.id);
  }

  /** Lets the store forget what has expired. Never rejects. */
  async sweep(): Promise<void> {
    try {
      await this.#store.deleteExpired(this.#settings.clock.now());
    } catch (error) {
      this.#log('Sessions that have expired could not be deleted', error);
    }
  }

  /** @returns false where the store holds another version. @throws What the store throws. */
  async #write(session: HttpSession): Promise<boolean> {
    const { id, principal, revision, legacy } = session;
    if (revision === undefined) return true;
    const state: StoredState = { layout: LAYOUT, protocolVersion: revision.version, session: legacy.state };
    const expiresAtMs = this.#settings.clock.now() + this.#settings.sessionIdleMs;
    // What changes while the store writes is still to be stored.
    session.isUnsaved = false;
    const isStored = await this.#store.put({ id, principal, state, expiresAtMs }, session.storedVersion);
    if (isStored) session.storedVersion++;
    else session.isUnsaved = true;
    return isStored;
  }

  #log(text: string, error: unknown): void {
    this.#settings.logger.log('error', text, { error: String(error) });
  }
}
