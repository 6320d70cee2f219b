/** One subscription to changes, read with `for await`. It outlives the connection that it was opened on. */

import { ConnectionClosedError, ConnectionLostError, type JsonRpcNotification } from '@mortise/jsonrpc-core';
import { AsyncQueue } from '@mortise/jsonrpc-core/connection';
import type { SubscriptionFilter } from '@mortise/protocol/model';
import type { ListenHandle, ListenSink, Session } from './session.ts';

/** How many characters of JSON may wait for a slow reader. */
const MAX_WAITING = 8_000_000;

/** Opens subscriptions again. */
export interface SubscriptionOwner {
  /** Called with each change as it arrives, before the reader gets it. */
  onChange(notification: JsonRpcNotification): void;
  /** It was opened again: changes may have been missed. */
  onGap(): void;
  onOver(subscription: Subscription): void;
  /** The stream broke. @returns Whether it will be opened again. */
  onDropped(subscription: Subscription): boolean;
}

/** What a subscription gives its reader. */
export interface SubscriptionEvent extends JsonRpcNotification {
  /**
   * True on an acknowledgement after the first, and on the next event after some were dropped because the reader was too slow: changes before
   * it were missed, so fetch anew whatever depends on them.
   */
  readonly isAfterGap?: true;
}

/**
 * Changes as they come, the first one being `notifications/subscriptions/acknowledged` with what the server honours.
 *
 * Leaving the loop ends the subscription, and so does `close`. Where its stream breaks or the server is started again, it is opened again by
 * itself and the acknowledgement comes once more with `isAfterGap`: changes in between were missed.
 *
 * @see 2026-07-28 basic/patterns/subscriptions
 */
export class Subscription implements AsyncIterable<SubscriptionEvent>, AsyncDisposable, ListenSink {
  /** What was asked for. */
  readonly filter: SubscriptionFilter;
  /** Resolves to the part of the filter that the server honours; rejects where the subscription ends before. */
  readonly accepted: Promise<SubscriptionFilter>;
  readonly #queue: AsyncQueue<SubscriptionEvent>;
  readonly #owner: SubscriptionOwner;
  readonly #signal: AbortSignal | undefined;
  #handle: ListenHandle | undefined;
  #isAccepted = false;
  #isOverrun = false;
  /** Characters that wait for the reader, without those of the first event in the queue. */
  #waiting = 0;
  #resolveAccepted: (accepted: SubscriptionFilter) => void = () => undefined;
  #rejectAccepted: (error: unknown) => void = () => undefined;

  constructor(filter: SubscriptionFilter, owner: SubscriptionOwner, signal?: AbortSignal) {
    this.filter = filter;
    this.#owner = owner;
    this.#signal = signal;
    this.#queue = new AsyncQueue(() => this.#onQueueEnd());
    this.accepted = new Promise((resolve, reject) => {
      this.#resolveAccepted = resolve;
      this.#rejectAccepted = reject;
    });
    this.accepted.catch(() => undefined);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted) this.#onAbort();
  }

  /** True once nothing more will come. */
  get isOver(): boolean {
    return this.#queue.isEnded;
  }

  /** Opens it on a session; again on the next one after a restart. */
  openOn(session: Session): void {
    if (this.isOver) return;
    this.#handle?.close();
    this.#handle = session.listen(this.filter, this);
  }

  onAccepted(accepted: SubscriptionFilter, notification: JsonRpcNotification): void {
    this.#resolveAccepted(accepted);
    if (this.#isAccepted) this.#owner.onGap();
    this.#push(this.#isAccepted ? { ...notification, isAfterGap: true } : notification);
    this.#isAccepted = true;
  }

  onEvent(notification: JsonRpcNotification): void {
    this.#owner.onChange(notification);
    this.#push(notification);
  }

  onEnd(error?: Error): void {
    this.#handle = undefined;
    const isDrop = error instanceof ConnectionClosedError || error instanceof ConnectionLostError;
    if (error === undefined) this.close();
    else if (!isDrop || !this.#owner.onDropped(this)) this.fail(error);
  }

  /** Ends it with an error, which the reader gets. */
  fail(error: unknown): void {
    this.#rejectAccepted(error);
    this.#queue.fail(error);
  }

  /** Ends it. What still waits can be read. */
  close(): void {
    this.#rejectAccepted(new ConnectionClosedError('the subscription was ended before the server acknowledged it'));
    this.#queue.close();
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<SubscriptionEvent, undefined> {
    return this.#queue;
  }

  /** Ends it. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  /** Changes beyond what fits are dropped; the next one that fits says so. */
  #push(event: SubscriptionEvent): void {
    if (this.#queue.length === 0) this.#waiting = 0;
    else this.#waiting += JSON.stringify(event.params ?? {}).length;
    this.#isOverrun = !(this.#waiting <= MAX_WAITING && this.#queue.push(this.#isOverrun ? { ...event, isAfterGap: true } : event));
  }

  readonly #onAbort = (): void => this.fail(this.#signal?.reason);

  #onQueueEnd(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#handle?.close();
    this.#handle = undefined;
    this.#owner.onOver(this);
  }
}
