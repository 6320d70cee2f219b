/** Remembers which era a server speaks, so that a legacy server is not probed each time. */

import type { Era } from '@mortise/protocol';

/** What was found out about a server. */
export interface KnownEra {
  readonly era: Era;
  /** The version that was agreed on. */
  readonly protocolVersion: string;
}

/**
 * Keeps the era of servers, by what names each: see `EraKeyed`.
 *
 * An era that only rests on silence is never handed to `set`. One that proved wrong is handed to `delete`.
 */
export interface EraMemory {
  get(key: string): KnownEra | undefined | Promise<KnownEra | undefined>;
  set(key: string, known: KnownEra): void | Promise<void>;
  delete(key: string): void | Promise<void>;
}

/** A transport, or a factory of them, that can name its server. */
export interface EraKeyed {
  /**
   * The full URL, or the program with a digest of how it is run. Holds no secret: it may be written to disk, where one that is good for one process
   * alone (stdio's with an `env`) is never asked for again.
   */
  readonly eraKey: string;
}

/** Finds what a transport calls its server, if it says. */
export function eraKeyOf(transport: object): string | undefined {
  const key = (transport as Partial<EraKeyed>).eraKey;
  return typeof key === 'string' ? key : undefined;
}

const MAX_ENTRIES = 1000;

/** Makes a memory that lasts as long as the process and holds at most 1,000 servers, the oldest going first. */
export function createEraMemory(): EraMemory {
  const eras = new Map<string, KnownEra>();
  return {
    get: (key) => eras.get(key),
    set: (key, known) => {
      eras.delete(key);
      eras.set(key, known);
      const [oldest] = eras.keys();
      if (oldest !== undefined && eras.size > MAX_ENTRIES) eras.delete(oldest);
    },
    delete: (key) => void eras.delete(key),
  };
}

/** The memory that clients of one process share unless they are given another. */
const processMemory: EraMemory = /* @__PURE__ */ createEraMemory();

/** What is remembered of one server. A memory that fails costs a probe, not the connection. */
export class RememberedEra {
  readonly #memory: EraMemory;
  readonly #key: string | undefined;
  readonly #onError: (error: Error) => void;

  /** @param key Names the server; undefined where nothing does, and nothing is remembered. */
  constructor(memory: EraMemory = processMemory, key: string | undefined, onError: (error: Error) => void) {
    this.#memory = memory;
    this.#key = key;
    this.#onError = onError;
  }

  async recall(): Promise<Era | undefined> {
    return (await this.#try((key) => this.#memory.get(key)))?.era;
  }

  async keep(known: KnownEra): Promise<void> {
    await this.#try((key) => this.#memory.set(key, known));
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
