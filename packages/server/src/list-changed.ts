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

/** Where changes are told. */
export interface ListAudience {
  /** Whether anybody may be listening. Changes that nobody hears of are not gathered: who comes later lists anew anyway. */
  has(topic: string): boolean;
  publish(event: BusMessage): void;
}

export class ListChanges {
  readonly #audience: ListAudience;
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #changed = new Set<ListKind>();
  #timer: ClockTimer | undefined;

  /** @param delayMs How long changes are gathered. */
  constructor(audience: ListAudience, clock: Clock, delayMs: number) {
    this.#audience = audience;
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  mark(kind: ListKind): void {
    if (!this.#audience.has(listTopic(kind))) return;
    this.#changed.add(kind);
    this.#timer ??= this.#clock.schedule(() => this.flush(), this.#delayMs);
  }

  /** Tells what has changed so far without waiting longer. */
  flush(): void {
    this.stop();
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const kind of changed) this.#audience.publish({ topic: listTopic(kind) });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
