/** Stores legacy sessions in the program's `SessionStore` by compare-and-set, so that any machine can continue them. */

import { findRevision, type Revision } from '@mortise/protocol';
import type { SessionPut, SessionRecord, SessionState, SessionStore } from '@mortise/protocol/contracts';
import type { Settings } from '../options.ts';
import type { HttpSession } from './http-session.ts';
import type { SessionRelay } from './session-relay.ts';

/** What is stored of a session: its protocol version, and the state that the endpoint needs. */
interface StoredState extends SessionState {
  readonly protocolVersion: string;
  readonly session: SessionState;
}

/** What `open` reads from a session's record: its revision, and the state that the endpoint needs. */
export interface OpenedRecord {
  readonly revision: Revision;
  readonly state: SessionState;
}

const LAYOUT = 1;
/** How often a change is written again after other machines were first. Of N writers at once each waits for N - 1 others at most. */
const MAX_WRITES = 100;

export class StoredSessions {
  readonly #store: SessionStore;
  readonly #settings: Settings;
  readonly #relay: SessionRelay | undefined;

  /** @param relay Tells other machines of changes. */
  constructor(store: SessionStore, settings: Settings, relay: SessionRelay | undefined) {
    this.#store = store;
    this.#settings = settings;
    this.#relay = relay;
  }

  /** Finds the record of a session that belongs to the principal, and renews its expiry. @throws Errors of the store. */
  async find(id: string, principal: string): Promise<SessionRecord | undefined> {
    const record = await this.#store.get(id, this.#settings.sessionIdleMs);
    return record?.principal === principal ? record : undefined;
  }

  /** Reads the content of a session's record; undefined if its layout or revision is unknown. */
  open({ state }: SessionRecord): OpenedRecord | undefined {
    // The record may be incomplete or from another program.
    const stored = state as StoredState | null | undefined;
    const revision = findRevision(stored?.protocolVersion);
    return stored?.layout !== LAYOUT || revision === undefined ? undefined : { revision, state: stored.session };
  }

  /** Stores a new session. @throws Errors of the store; nothing is then stored. */
  async create(session: HttpSession): Promise<void> {
    try {
      if (!(await this.#write(session)).isWritten) throw new Error('The session store already has a session with the new id');
    } catch (error) {
      this.#log('A session could not be stored: its client gets status 500 and may try again', error);
      throw error;
    }
  }

  /**
   * Stores what a message changed in the session, after earlier changes. Never rejects, so that the response is still sent: an error of the
   * store is logged, and the changes are stored with the next message.
   *
   * @param repeat Handles the message again, on a state that another machine stored in the meantime. Undefined if the message must not be
   * handled twice.
   */
  save(session: HttpSession, repeat: (() => Promise<void>) | undefined): Promise<void> {
    return inTurn(session, () =>
      this.#saveNow(session, repeat).catch((error: unknown) => {
        session.isUnsaved = true;
        this.#log('The changes of a session could not be stored: they are stored with the next message', error);
      }),
    );
  }

  /**
   * Takes over what another machine has stored, after the writes of this one.
   *
   * @param version The version that the other machine has stored; undefined if that is not known.
   * @returns false if the session is not stored any more.
   * @throws Errors of the store and of `adopt`.
   */
  update(session: HttpSession, version: number | undefined): Promise<boolean> {
    return inTurn(session, async () => {
      if (version !== undefined && version <= session.storedVersion) return true;
      const record = await this.#store.get(session.id, this.#settings.sessionIdleMs);
      // Changes that are not stored yet stay: `save` settles the conflict.
      if (record !== undefined && record.version > session.storedVersion && !session.isUnsaved) await this.adopt(session, record);
      return record !== undefined;
    });
  }

  async #saveNow(session: HttpSession, repeat: (() => Promise<void>) | undefined): Promise<void> {
    for (let writes = 0; writes < MAX_WRITES; writes++) {
      await repeat?.();
      if (!session.isUnsaved) return;
      const { isWritten, present } = await this.#write(session);
      if (isWritten) return void this.#relay?.tryToTell(session, { changed: session.storedVersion });
      // The session has ended, here or on another machine.
      if (present === undefined) return;
      await this.adopt(session, present, repeat !== undefined);
    }
    throw new Error(`The session was not stored: another machine changed it first, ${MAX_WRITES} times in a row`);
  }

  /**
   * Continues a session from a record that another machine has stored. Resolves when it is in force.
   *
   * @param repeats Whether the message whose changes are not stored will be handled again.
   * @throws {Error} The record has an unknown layout or revision. Also errors of the endpoint and of the message bus.
   */
  async adopt(session: HttpSession, record: SessionRecord, repeats = false): Promise<void> {
    const opened = this.open(record);
    if (opened === undefined) throw new Error('The stored session has a layout or revision that this version of Mortise cannot read');
    const isUnsaved = session.isUnsaved && !repeats;
    session.isUnsaved = false;
    session.storedVersion = record.version;
    // An equal state was stored from here, by a write that seemed to fail.
    if (JSON.stringify(opened.state) === JSON.stringify(session.endpointSession.state)) return;
    if (isUnsaved) this.#settings.logger.log('error', 'The changes of a session may be lost: another machine changed the session first');
    await session.restore(opened.state);
  }

  /** Deletes a session from the store. @throws Errors of the store. */
  delete(session: HttpSession): Promise<void> {
    return this.#store.delete(session.id);
  }

  /** Writes a session to the store, unless another machine wrote it in the meantime. @throws Errors of the store. */
  async #write(session: HttpSession): Promise<SessionPut> {
    const { id, principal, revision, endpointSession } = session;
    if (revision === undefined) return { isWritten: true };
    const state: StoredState = { layout: LAYOUT, protocolVersion: revision.version, session: endpointSession.state };
    // Before the write: changes during the write set it again.
    session.isUnsaved = false;
    const outcome = await this.#store.put({ id, principal, state }, session.storedVersion, this.#settings.sessionIdleMs);
    if (outcome.isWritten) session.storedVersion++;
    else session.isUnsaved = true;
    return outcome;
  }

  #log(text: string, error: unknown): void {
    this.#settings.logger.log('error', text, { error: String(error) });
  }
}

/** Runs the operations on a session's record one after the other. */
function inTurn<T>(session: HttpSession, fn: () => Promise<T>): Promise<T> {
  const done = session.saving.then(fn);
  session.saving = done.then(
    () => undefined,
    () => undefined,
  );
  return done;
}
