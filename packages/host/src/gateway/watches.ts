/** The resources that a caller of the gateway is subscribed to, each at one server. */

import type { Backend } from './backend.ts';

export class Watches {
  readonly #watched = new Map<string, { readonly backend: Promise<Backend>; count: number }>();
  /** A session subscribes once, however often it asks; several `subscriptions/listen` of a caller end one by one. */
  readonly #isSession: boolean;
  readonly #open: (uri: string) => Promise<Backend>;

  /** @param open Subscribes at the server that has the resource. */
  constructor(isSession: boolean, open: (uri: string) => Promise<Backend>) {
    this.#isSession = isSession;
    this.#open = open;
  }

  get size(): number {
    return this.#watched.size;
  }

  has(uri: string): boolean {
    return this.#watched.has(uri);
  }

  /** What is watched of a resource that has changed: a server may report a part of what was subscribed to. */
  within(uri: string): readonly string[] {
    return [...this.#watched.keys()].filter((watched) => uri.startsWith(watched));
  }

  /** @throws {ProtocolError} No server has the resource, or its server refuses. */
  async add(uri: string): Promise<void> {
    const known = this.#watched.get(uri);
    if (known) {
      if (!this.#isSession) known.count += 1;
      await known.backend;
      return;
    }
    const watched = { backend: this.#open(uri), count: 1 };
    this.#watched.set(uri, watched);
    // A refused one is forgotten.
    watched.backend.catch(() => this.#watched.get(uri) === watched && this.#watched.delete(uri));
    await watched.backend;
  }

  async remove(uri: string): Promise<void> {
    const watched = this.#watched.get(uri);
    if (!watched) return;
    watched.count -= 1;
    if (watched.count > 0) return;
    this.#watched.delete(uri);
    await (await watched.backend).unwatch(uri);
  }

  async close(): Promise<void> {
    for (const [uri, { backend }] of this.#watched) await backend.then((at) => at.unwatch(uri)).catch(() => undefined);
    this.#watched.clear();
  }
}
