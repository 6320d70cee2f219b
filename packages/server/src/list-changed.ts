/** Tells that lists changed: once a kind, however many changes came together. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { BusMessage } from '@mortise/protocol/contracts';

/** The lists that clients can be told of. */
export type ListKind = 'tools' | 'resources' | 'prompts';

export const LIST_KINDS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/** The bus topic of a list's changes; `notifications/` and the topic is the notification's method. */
export function listTopic(kind: ListKind): string {
  return `${kind}/list_changed`;
}

export class ListChanges {
  readonly #publish: (event: BusMessage) => void;
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #changed = new Set<ListKind>();
  #timer: ClockTimer | undefined;

  /** @param delayMs How long changes are gathered. */
  constructor(publish: (event: BusMessage) => void, clock: Clock, delayMs: number) {
    this.#publish = publish;
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  mark(kind: ListKind): void {
    this.#changed.add(kind);
    this.#timer ??= this.#clock.schedule(() => this.flush(), this.#delayMs);
  }

  /** Tells what has changed so far without waiting longer. */
  flush(): void {
    this.stop();
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const kind of changed) this.#publish({ topic: listTopic(kind) });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
