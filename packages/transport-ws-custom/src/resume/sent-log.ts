/** What one side has sent on a channel and the other has not acknowledged, so that it can be sent again. */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import { serializeMessage } from '@mortise/jsonrpc-core/messages';
import type { EventStore } from '@mortise/protocol/contracts';

/** Messages are counted from 1. */
export interface SentLog {
  /** How many were ever sent. */
  readonly count: number;
  /** The length of what is kept, where it is kept in this process. */
  readonly keptLength: number;
  append(text: string, message: JsonRpcMessage): void;
  /** The first `count` messages need not be kept. @returns false for a number that was acknowledged before, or never sent. */
  acknowledge(count: number): boolean;
  /** The texts after the first `count`; undefined where they are not kept any more. */
  after(count: number): Promise<readonly string[] | undefined>;
  /** Forgets everything. */
  clear(): void;
}

/** Keeps what was sent in this process. */
export class MemorySentLog implements SentLog {
  #texts: string[] = [];
  #acknowledged = 0;
  keptLength = 0;

  get count(): number {
    return this.#acknowledged + this.#texts.length;
  }

  append(text: string): void {
    this.#texts.push(text);
    this.keptLength += text.length;
  }

  acknowledge(count: number): boolean {
    if (count < this.#acknowledged || count > this.count) return false;
    for (const text of this.#texts.splice(0, count - this.#acknowledged)) this.keptLength -= text.length;
    this.#acknowledged = count;
    return true;
  }

  after(count: number): Promise<readonly string[] | undefined> {
    if (count < this.#acknowledged || count > this.count) return Promise.resolve(undefined);
    return Promise.resolve(this.#texts.slice(count - this.#acknowledged));
  }

  clear(): void {
    this.#acknowledged = this.count;
    this.#texts = [];
    this.keptLength = 0;
  }
}

const STREAM = 'out';
/** How many ids are kept for a peer that acknowledges nothing; many more than a store keeps messages of one stream. */
const MAX_IDS = 8_192;

/** Keeps what was sent in an `EventStore`, and here the ids of what was not acknowledged, at most as many as a store keeps. */
export class StoredSentLog implements SentLog {
  readonly #store: EventStore;
  readonly #channel: string;
  /** The ids of the newest events; the first is of message `#first`, where 0 is the priming event. */
  readonly #ids: string[] = [];
  #first = 0;
  #acknowledged = 0;
  /** Settles when the store has done what it was given; its work is in order. */
  #stored: Promise<void>;
  #hasFailed = false;
  #isCleared = false;
  count = 0;
  /** The store has bounds of its own. */
  readonly keptLength = 0;

  constructor(store: EventStore, channel: string) {
    this.#store = store;
    this.#channel = channel;
    this.#stored = Promise.resolve();
    this.#then(() => this.#keep(undefined));
  }

  append(_text: string, message: JsonRpcMessage): void {
    this.count++;
    this.#then(() => this.#keep(message));
  }

  acknowledge(count: number): boolean {
    if (count < this.#acknowledged || count > this.count) return false;
    if (count === this.#acknowledged) return true;
    this.#acknowledged = count;
    // The store may still be at work on some of them.
    this.#then(() => this.#forgetBefore(count));
    return true;
  }

  async after(count: number): Promise<readonly string[] | undefined> {
    if (count < this.#acknowledged || count > this.count) return undefined;
    await this.#stored;
    const id = this.#ids[count - this.#first];
    if (this.#hasFailed || id === undefined) return undefined;
    const replayed = await this.#store.replay(this.#channel, id).catch(() => undefined);
    return replayed?.events.flatMap(({ message }) => (message === undefined ? [] : [serializeMessage(message)]));
  }

  clear(): void {
    if (this.#isCleared) return;
    this.#isCleared = true;
    this.#then(() => this.#store.delete(this.#channel));
  }

  #then(step: () => void | Promise<void>): void {
    this.#stored = this.#stored.then(step).catch(() => {
      this.#hasFailed = true;
    });
  }

  async #keep(message: JsonRpcMessage | undefined): Promise<void> {
    this.#ids.push(await this.#store.append(this.#channel, STREAM, message));
    // Half at once, since each time all that stay are moved.
    if (this.#ids.length > MAX_IDS) this.#forgetBefore(this.#first + MAX_IDS / 2);
  }

  #forgetBefore(count: number): void {
    if (count <= this.#first) return;
    this.#ids.splice(0, count - this.#first);
    this.#first = count;
  }
}
