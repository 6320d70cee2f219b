/** A subscription to changes, read with `for await`. It stays open when the client opens its connection again. */

import { ConnectionClosedError, ConnectionLostError, type JsonRpcNotification } from '@mortise/jsonrpc-core';
import { AsyncQueue } from '@mortise/jsonrpc-core/connection';
import type { SubscriptionFilter } from '@mortise/protocol/model';
import type { ListenHandle, ListenSink, Session } from './session.ts';

/** How many characters of JSON are queued for a reader that is too slow. */
const MAX_WAITING = 8_000_000;

/** Gets the events of subscriptions and opens broken ones again. */
export interface SubscriptionOwner {
  /** Called with each change notification as it arrives, before the reader of the subscription gets it. */
  onChange(notification: JsonRpcNotification): void;
  /** Called when a subscription was opened again, so that changes may have been missed. */
  onGap(): void;
  onOver(subscription: Subscription): void;
  /** Called when the subscription's connection broke. @returns Whether the subscription will be opened again. */
  onDropped(subscription: Subscription): boolean;
}

/** A notification that the subscription yields. */
export interface SubscriptionEvent extends JsonRpcNotification {
  /**
   * True if changes were missed before this event: on each acknowledgement after the first, and on the first event after some were dropped
   * because the reader was too slow. Fetch again what depends on the missed changes.
   */
  readonly isAfterGap?: true;
}

/**
 * Yields change notifications. The first event is `notifications/subscriptions/acknowledged`, with the part of the filter that the server
 * honours.
 *
 * Leaving the loop or calling `close` ends the subscription. If the stream breaks or the server restarts, the client opens the subscription
 * again. The next acknowledgement then has `isAfterGap`, because changes were missed in between.
 *
 * @see 2026-07-28 basic/patterns/subscriptions
 */
export class Subscription implements AsyncIterable<SubscriptionEvent>, AsyncDisposable, ListenSink {
  /** The filter that the program asked for. */
  readonly filter: SubscriptionFilter;
  /** Resolves to the part of the filter that the server honours. Rejects if the subscription ends before that. */
  readonly accepted: Promise<SubscriptionFilter>;
  readonly #queue: AsyncQueue<SubscriptionEvent>;
  readonly #owner: SubscriptionOwner;
  readonly #signal: AbortSignal | undefined;
  #handle: ListenHandle | undefined;
  #isAccepted = false;
  #isOverrun = false;
  /** How many characters the queued events have, without the first event in the queue. */
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

  /** Whether the subscription has ended. */
  get isOver(): boolean {
    return this.#queue.isEnded;
  }

  /** Opens the subscription in a session. Called again for each later session. */
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

  /** Ends the subscription with an error, which its reader gets. */
  fail(error: unknown): void {
    this.#rejectAccepted(error);
    this.#queue.fail(error);
  }

  /** Ends the subscription. Queued events can still be read. */
  close(): void {
    this.#rejectAccepted(new ConnectionClosedError('the subscription was ended before the server acknowledged it'));
    this.#queue.close();
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<SubscriptionEvent, undefined> {
    return this.#queue;
  }

  /** Ends the subscription. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  /** Adds an event to the queue. While the queue is full, events are dropped; the next event that fits gets `isAfterGap`. */
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
