/** What is remembered of one server's era. A memory that fails costs a probe, not the connection. */

import type { Era } from '@mortise/protocol';
import type { Session } from '../session.ts';
import type { EraMemory } from './era-memory.ts';

export class Verdicts {
  readonly #memory: EraMemory;
  readonly #key: string | undefined;
  readonly #onError: (error: Error) => void;

  /** @param key What the server is called; undefined where nobody knows, and nothing is remembered. */
  constructor(memory: EraMemory, key: string | undefined, onError: (error: Error) => void) {
    this.#memory = memory;
    this.#key = key;
    this.#onError = onError;
  }

  get hasKey(): boolean {
    return this.#key !== undefined;
  }

  async recall(): Promise<Era | undefined> {
    return (await this.#try((key) => this.#memory.get(key)))?.era;
  }

  /** Keeps the era of a session, which is given back. */
  async keep(session: Session): Promise<Session> {
    const { era, version } = session.revision;
    await this.#try((key) => this.#memory.set(key, { era, protocolVersion: version }));
    return session;
  }

  /** It proved wrong. */
  async forget(): Promise<void> {
    await this.#try((key) => this.#memory.delete(key));
  }

  async #try<T>(use: (key: string) => T | Promise<T>): Promise<T | undefined> {
    if (this.#key === undefined) return undefined;
    try {
      return await use(this.#key);
    } catch (error) {
      this.#onError(error instanceof Error ? error : new Error('the era memory failed', { cause: error }));
      return undefined;
    }
  }
}
