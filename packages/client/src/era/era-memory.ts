/** Remembers which era a server speaks, so that a legacy server is not probed each time. */

import type { Era } from '@mortise/protocol';

/** What was found out about a server. */
export interface EraVerdict {
  readonly era: Era;
  /** The version that was agreed on. */
  readonly protocolVersion: string;
}

/**
 * Where verdicts are kept, by what names the server: see `EraKeyed`, and the client's option `eraKey`.
 *
 * A verdict that only rests on silence is never handed to `set`. One that proved wrong is handed to `delete`.
 */
export interface EraMemory {
  get(key: string): EraVerdict | undefined | Promise<EraVerdict | undefined>;
  set(key: string, verdict: EraVerdict): void | Promise<void>;
  delete(key: string): void | Promise<void>;
}

/** A transport, or a factory of them, that can name its server; found by `eraKeyOf`. */
export interface EraKeyed {
  /**
   * The full URL, or the program with a digest of how it is run. Holds no secret: it may be written to disk, where one that is good for one process
   * alone (stdio's with an `env`) is never asked for again.
   */
  readonly eraKey: string;
}

/** Finds what a transport's server is called, if it says. */
export function eraKeyOf(transport: object): string | undefined {
  const key = (transport as Partial<EraKeyed>).eraKey;
  return typeof key === 'string' ? key : undefined;
}

const MAX_ENTRIES = 1000;

/** Makes a memory that lasts as long as the process and holds at most 1,000 servers, the oldest going first. */
export function createEraMemory(): EraMemory {
  const verdicts = new Map<string, EraVerdict>();
  return {
    get: (key) => verdicts.get(key),
    set: (key, verdict) => {
      verdicts.delete(key);
      verdicts.set(key, verdict);
      for (const oldest of verdicts.keys()) {
        if (verdicts.size <= MAX_ENTRIES) return;
        verdicts.delete(oldest);
      }
    },
    delete: (key) => void verdicts.delete(key),
  };
}

/** The memory that clients of one process share unless they are given another. */
export const processEraMemory: EraMemory = createEraMemory();
