/**
 * The `MessageBus` over sharded Pub/Sub of Redis, on a connection of its own. Redis sends a subscriber everything while its connection lives. When
 * the connection was lost and is there again, every subscriber hears of a gap: nothing has to be stored.
 */

import type { Logger } from '@mortise/jsonrpc-core';
import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import { logConnection, type RedisClient, type RedisConnection } from './connection.ts';
import { RedisStoreError } from './errors.ts';

/** Carries messages between the processes that share a Redis. Has the guarantees B1 to B6 of `MessageBus`. */
export class RedisMessageBus implements MessageBus {
  readonly #connection: RedisConnection;
  readonly #logger: Logger;
  readonly #gaps = new Set<() => void>();
  /** The last command of each channel. Overlapping ones could end at Redis a subscription that the library counts as there. */
  readonly #turns = new Map<string, Promise<void>>();
  #client: RedisClient | undefined;
  /** The client, when it is connected. */
  #subscriber: Promise<RedisClient> | undefined;
  #isClosed = false;

  constructor(connection: RedisConnection, logger: Logger) {
    this.#connection = connection;
    this.#logger = logger;
  }

  async publish(message: BusMessage): Promise<void> {
    if (this.#isClosed) throw closedError();
    await this.#connection.publish(this.#channel(message.topic), JSON.stringify(message));
  }

  async subscribe(topic: string, onMessage: (message: BusMessage) => void, onGap?: () => void): Promise<() => void> {
    if (this.#isClosed) throw closedError();
    const channel = this.#channel(topic);
    let isActive = true;
    const listener = (text: unknown): void => {
      if (isActive) this.#call(() => onMessage(JSON.parse(String(text)) as BusMessage));
    };
    const gap = (): void => {
      if (isActive && onGap) this.#call(onGap);
    };
    const unsubscribe = async (): Promise<void> => {
      isActive = false;
      this.#gaps.delete(gap);
      // May fail: a new connection subscribes only to the channels that are left.
      await this.#inTurn(channel, async () => void (await subscriber?.sUnsubscribe(channel, listener))).catch(() => undefined);
    };
    let subscriber: RedisClient | undefined;
    const subscribed = this.#inTurn(channel, async () => {
      subscriber = await (this.#subscriber ??= this.#connect());
      // From before the answer: if the connection breaks right after it, messages may be missing.
      if (isActive) this.#gaps.add(gap);
      await subscriber.sSubscribe(channel, listener);
    });
    try {
      await this.#connection.within(subscribed);
    } catch (error) {
      isActive = false;
      // What comes too late ends then.
      void subscribed.catch(() => undefined).then(unsubscribe);
      throw error;
    }
    return () => void (isActive && unsubscribe());
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#gaps.clear();
    if (this.#client?.isOpen) this.#client.destroy();
  }

  /** Resolves if this bus gets messages. @throws {RedisStoreError} Redis cannot be reached by its connection. */
  async probe(): Promise<void> {
    if (!this.#subscriber) return;
    const channel = this.#connection.name('probe', String(Math.random()));
    const listener = (): void => undefined;
    const roundTrip = async (subscriber: RedisClient): Promise<void> => {
      await subscriber.sSubscribe(channel, listener);
      await subscriber.sUnsubscribe(channel, listener);
    };
    await this.#connection.within(this.#subscriber.then(roundTrip));
  }

  async #connect(): Promise<RedisClient> {
    const subscriber = (this.#client = this.#connection.client.duplicate());
    logConnection(subscriber, 'The connection of the message bus to Redis', this.#logger);
    try {
      await subscriber.connect();
    } catch (error) {
      this.#subscriber = undefined;
      if (subscriber.isOpen) subscriber.destroy();
      throw error;
    }
    this.#reportGaps(subscriber);
    return subscriber;
  }

  /** Calls `onGap` of every subscriber when a connection that was lost is there again. A cluster has a connection to each machine. */
  #reportGaps(subscriber: RedisClient): void {
    const lost = new Set<unknown>();
    const report = (): void => {
      for (const gap of this.#gaps) gap();
    };
    for (const of of ['', 'node-']) {
      subscriber.on(`${of}reconnecting`, (node) => lost.add(node));
      subscriber.on(`${of}ready`, (node) => void (lost.delete(node) && report()));
    }
    subscriber.on('sharded-channel-moved', report);
  }

  #inTurn(channel: string, command: () => Promise<void>): Promise<void> {
    const done: Promise<void> = (this.#turns.get(channel) ?? Promise.resolve()).then(command);
    const turn = done.catch(() => undefined).then(() => void (this.#turns.get(channel) === turn && this.#turns.delete(channel)));
    this.#turns.set(channel, turn);
    return done;
  }

  #channel(topic: string): string {
    return this.#connection.name('topic', topic);
  }

  #call(fn: () => void): void {
    try {
      fn();
    } catch (error) {
      this.#logger.log('error', 'A subscriber of the message bus failed', { error: String(error) });
    }
  }
}

function closedError(): RedisStoreError {
  return new RedisStoreError('ERR_REDIS_UNAVAILABLE', 'the message bus is closed: create new stores');
}
