/** `LossyBus`: a message bus that a test cuts off, as a network would. */

import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';

/** One machine's connection to a bus that several machines share. While it is cut off, it publishes nothing and loses what others publish. */
export class LossyBus implements MessageBus {
  readonly #backend: MessageBus;
  readonly #delayMs: number;
  readonly #onGaps = new Set<() => void>();
  #isCut = false;

  /**
   * @param backend The bus that the machines share, such as a `MemoryMessageBus`.
   * @param options.delayMs How long `subscribe`, `publish` and each delivery take, in milliseconds. @default 0
   */
  constructor(backend: MessageBus, options: { readonly delayMs?: number } = {}) {
    this.#backend = backend;
    this.#delayMs = options.delayMs ?? 0;
  }

  /** Cuts the machine off. */
  cut(): void {
    this.#isCut = true;
  }

  /** Connects the machine again, and reports the gap to its subscribers. */
  mend(): void {
    this.#isCut = false;
    for (const onGap of [...this.#onGaps]) onGap();
  }

  async publish(message: BusMessage): Promise<void> {
    await this.#pass();
    await this.#backend.publish(message);
  }

  async subscribe(topic: string, onMessage: (message: BusMessage) => void, onGap: () => void = () => undefined): Promise<() => void> {
    await this.#pass();
    let isOpen = true;
    const report = (): void => onGap();
    this.#onGaps.add(report);
    const deliver = (message: BusMessage): void => {
      if (!isOpen || this.#isCut) return;
      try {
        onMessage(message);
      } catch {
        // A subscriber that throws disturbs no other.
      }
    };
    const unsubscribe = await this.#backend.subscribe(topic, (message) => {
      if (this.#isCut) return;
      if (this.#delayMs === 0) deliver(message);
      else setTimeout(deliver, this.#delayMs, message);
    });
    return () => {
      isOpen = false;
      this.#onGaps.delete(report);
      unsubscribe();
    };
  }

  async close(): Promise<void> {
    this.#onGaps.clear();
  }

  async #pass(): Promise<void> {
    if (this.#delayMs > 0) await new Promise<void>((resolve) => void setTimeout(resolve, this.#delayMs));
    if (this.#isCut) throw new Error('The test has cut this machine off from the message bus');
  }
}
