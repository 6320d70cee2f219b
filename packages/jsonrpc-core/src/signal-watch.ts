/** Watches abort signals for many items with one listener a signal, since platforms warn of more than ten. */

interface Group<T> {
  readonly items: Set<T>;
  readonly listener: () => void;
}

/** The items that wait under abort signals, of which many may share one. */
export class SignalWatch<T> {
  readonly #onAbort: (item: T, reason: unknown) => void;
  readonly #groups = new Map<AbortSignal, Group<T>>();

  /** @param onAbort Called for each item whose signal aborts; the item is not watched any more. */
  constructor(onAbort: (item: T, reason: unknown) => void) {
    this.#onAbort = onAbort;
  }

  add(signal: AbortSignal, item: T): void {
    const group = this.#groups.get(signal) ?? this.#listen(signal);
    group.items.add(item);
  }

  remove(signal: AbortSignal, item: T): void {
    const group = this.#groups.get(signal);
    if (!group?.items.delete(item) || group.items.size > 0) return;
    signal.removeEventListener('abort', group.listener);
    this.#groups.delete(signal);
  }

  #listen(signal: AbortSignal): Group<T> {
    const items = new Set<T>();
    const listener = (): void => {
      this.#groups.delete(signal);
      for (const item of [...items]) this.#onAbort(item, signal.reason);
    };
    signal.addEventListener('abort', listener, { once: true });
    const group = { items, listener };
    this.#groups.set(signal, group);
    return group;
  }
}
