/** Remembers which era a server speaks, so that a legacy server is not probed each time. */

import type { Era } from '@mortise/protocol';

/** What was found out about a server. */
export interface KnownEra {
  readonly era: Era;
  /** The version that was agreed on. */
  readonly protocolVersion: string;
}

/**
 * Keeps the era of servers, by what names each: see `EraKeyed`. A `Map` is one; so is what reads and writes a file. May be async.
 *
 * An era that only rests on silence is never handed to `set`. One that proved wrong is handed to `delete`.
 */
export interface EraMemory {
  get(key: string): KnownEra | undefined | Promise<KnownEra | undefined>;
  set(key: string, known: KnownEra): unknown;
  delete(key: string): unknown;
}

const MAX_ENTRIES = 1000;

/** Lasts as long as the process and holds at most 1,000 servers, the oldest going first. */
export class ProcessEraMemory extends Map<string, KnownEra> {
  override set(key: string, known: KnownEra): this {
    this.delete(key);
    const [oldest] = this.keys();
    if (oldest !== undefined && this.size >= MAX_ENTRIES) this.delete(oldest);
    return super.set(key, known);
  }
}

/** The memory that clients of one process share unless they are given another. */
export const processEraMemory: EraMemory = /* @__PURE__ */ new ProcessEraMemory();
