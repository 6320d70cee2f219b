/** Reads one list of several servers at once, so that a slow or broken server holds up nobody for long. */

import type { Clock } from '@mortise/jsonrpc-core';
import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import type { HostedServer } from './hosted-server.ts';
import type { ListedItems, ListName } from './server-list.ts';

/** Options of reading a list of all servers. */
export interface HostListOptions {
  /**
   * How long to wait for slow servers, in milliseconds. The list leaves out servers that take longer; the event `list changed` says when
   * theirs has arrived. 0 does not wait.
   *
   * @default the host's `listWaitMs`
   */
  readonly waitMs?: number | undefined;
  /** Cancels reading the list, which then rejects with the reason of the signal. @default none */
  readonly signal?: AbortSignal | undefined;
}

export class ListReader {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #onLate: (server: HostedServer, list: ListName) => void;
  /** The lists that took longer than a reader would wait, by server and list. Nobody waits for them again until they arrive. */
  readonly #late = new Set<string>();

  /** @param onLate Called when a list arrives that a reader did not wait for. */
  constructor(clock: Clock, waitMs: number, onLate: (server: HostedServer, list: ListName) => void) {
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#onLate = onLate;
  }

  /** Returns the list of each server, in the order of the servers; an empty list for a server that fails or is too slow. */
  read<N extends ListName>(
    servers: readonly HostedServer[],
    name: N,
    { waitMs = this.#waitMs, signal }: HostListOptions = {},
  ): Promise<readonly (readonly ListedItems[N][])[]> {
    signal?.throwIfAborted();
    return Promise.all(servers.map((server) => this.#readOne(server, name, waitMs, signal)));
  }

  /** Whether the list of a server has not arrived yet, so that readers do without it. */
  isLate(server: HostedServer, name: ListName): boolean {
    return this.#late.has(toKey(server, name));
  }

  async #readOne<N extends ListName>(
    server: HostedServer,
    name: N,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly ListedItems[N][]> {
    const key = toKey(server, name);
    const isLate = this.#late.has(key);
    const reading = server.list(name, undefined, true);
    const limit = withTimeout(isLate ? 0 : waitMs, signal, this.#clock);
    try {
      return await abortable(reading, limit.signal);
    } catch {
      signal?.throwIfAborted();
      if (limit.signal.aborted && !isLate) this.#announceLater(reading, key, server, name);
      return [];
    } finally {
      limit.dispose();
      reading.catch(() => undefined);
    }
  }

  #announceLater(reading: Promise<unknown>, key: string, server: HostedServer, list: ListName): void {
    this.#late.add(key);
    reading.then(
      () => this.#late.delete(key) && this.#onLate(server, list),
      () => this.#late.delete(key),
    );
  }
}

function toKey(server: HostedServer, name: ListName): string {
  return `${server.name} ${name}`;
}
