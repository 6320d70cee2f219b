/** Remembers which era a server speaks, so that the client does not probe it at each connection. */

import type { Era } from '@mortise/protocol';

/** The era that a server was found to speak. */
export interface KnownEra {
  readonly era: Era;
  /** The protocol version that was agreed with the server. */
  readonly protocolVersion: string;
}

/**
 * Stores the era of each server by its `eraKey` (see `EraKeyed`). A `Map` fits, or an object that reads and writes a file. May be async.
 *
 * The client does not store an era that it only inferred from a timeout. It deletes an era that proved wrong.
 */
export interface EraMemory {
  get(key: string): KnownEra | undefined | Promise<KnownEra | undefined>;
  set(key: string, known: KnownEra): unknown;
  delete(key: string): unknown;
}

const MAX_ENTRIES = 1000;

/** Remembers at most 1,000 servers in memory. The oldest entry is removed first. */
export class ProcessEraMemory extends Map<string, KnownEra> {
  override set(key: string, known: KnownEra): this {
    this.delete(key);
    const [oldest] = this.keys();
    if (oldest !== undefined && this.size >= MAX_ENTRIES) this.delete(oldest);
    return super.set(key, known);
  }
}

/** The default `EraMemory`, shared by all clients of the process. */
export const processEraMemory: EraMemory = /* @__PURE__ */ new ProcessEraMemory();
