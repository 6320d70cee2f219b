/**
 * The `MessageBus` over sharded Pub/Sub of Redis, on a connection of its own. Redis sends a subscriber everything while its connection lives.
 * A connection that broke is replaced by a new one, and every subscriber hears of a gap: nothing has to be stored.
 */

import type { Logger } from '@mortise/jsonrpc-core';
import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import type { RedisClient, RedisConnection } from './connection.ts';
import { RedisStoreError } from './errors.ts';

interface Listener {
  readonly onMessage: (message: BusMessage) => void;
  readonly onGap: (() => void) | undefined;
}

interface Channel {
  readonly listeners: Set<Listener>;
  /** Resolves when messages arrive. */
  readonly subscribed: Promise<unknown>;
}

/**
 * What the library says when it connects again, or lost a part of a cluster. Its client is then given up: with more subscriptions than the buffer
 * of a socket holds, it would wait forever for the answers to those that it has not sent.
 */
const LOSSES = ['reconnecting', 'node-reconnecting', 'sharded-channel-moved'];
const PAUSE_MS = 200;

/** Carries messages between the processes that share a Redis. Has the guarantees B1 to B6 of `MessageBus`. */
export class RedisMessageBus implements MessageBus {
  readonly #connection: RedisConnection;
  readonly #logger: Logger;
  readonly #channels = new Map<string, Channel>();
  #client: RedisClient | undefined;
  /** The client, when it is connected and subscribed to all channels; undefined before the first subscription. */
  #opened: Promise<RedisClient> | undefined;
  #isReady = false;
  #isClosed = false;

  constructor(connection: RedisConnection, logger: Logger) {
    this.#connection = connection;
    this.#logger = logger;
  }

  async publish(message: BusMessage): Promise<void> {
    if (this.#isClosed) throw closedError();
    await this.#connection.publish(this.#name(message.topic), JSON.stringify(message));
  }

  async subscribe(topic: string, onMessage: (message: BusMessage) => void, onGap?: () => void): Promise<() => void> {
    if (this.#isClosed) throw closedError();
    const name = this.#name(topic);
    const listener: Listener = { onMessage, onGap };
    const opened = (this.#opened ??= this.#open());
    const channel = this.#channels.get(name) ?? this.#add(name, opened);
    channel.listeners.add(listener);
    const unsubscribe = (): void => {
      if (!channel.listeners.delete(listener) || channel.listeners.size > 0) return;
      this.#channels.delete(name);
      // May fail: a new connection subscribes only to the channels that are left.
      this.#client?.sUnsubscribe(name, this.#hear).catch(() => undefined);
    };
    try {
      await this.#connection.within(opened.then(() => channel.subscribed));
    } catch (error) {
      unsubscribe();
      throw error;
    }
    return unsubscribe;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#channels.clear();
    if (this.#client) destroy(this.#client);
  }

  /** Resolves if this bus gets messages. @throws {RedisStoreError} Redis cannot be reached by its connection. */
  async probe(): Promise<void> {
    if (!this.#opened) return;
    const name = this.#connection.name('probe', String(Math.random()));
    const listener = (): void => undefined;
    const roundTrip = async (client: RedisClient): Promise<void> => {
      await client.sSubscribe(name, listener);
      await client.sUnsubscribe(name, listener);
    };
    await this.#connection.within(this.#opened.then(roundTrip));
  }

  #add(name: string, opened: Promise<RedisClient>): Channel {
    const subscribed = opened.then((client) => client.sSubscribe(name, this.#hear));
    // Whoever subscribes awaits it.
    subscribed.catch(() => undefined);
    const channel = { listeners: new Set<Listener>(), subscribed };
    this.#channels.set(name, channel);
    return channel;
  }

  /** One function for all channels: the library compares it where a channel is left and taken again before Redis has answered. */
  readonly #hear = (text: unknown, name: unknown): void => {
    for (const { onMessage } of this.#channels.get(String(name))?.listeners ?? [])
      this.#call(() => onMessage(JSON.parse(String(text)) as BusMessage));
  };

  async #open(): Promise<RedisClient> {
    try {
      const client = await this.#connect();
      this.#isReady = true;
      return client;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  async #connect(): Promise<RedisClient> {
    const client = this.#connection.client.duplicate();
    this.#client = client;
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      destroy(client);
      throw error;
    }
    for (const loss of LOSSES) client.on(loss, () => this.#onLost(client));
    return client;
  }

  #onLost(client: RedisClient): void {
    if (this.#isClosed || this.#client !== client) return;
    destroy(client);
    if (!this.#isReady) return;
    this.#isReady = false;
    this.#logger.log('warning', 'The connection of the message bus to Redis is broken');
    this.#opened = this.#openAgain();
    this.#opened.catch(() => undefined);
  }

  /** Connects until that works, and subscribes to all channels anew. @throws The bus was closed. */
  async #openAgain(): Promise<RedisClient> {
    while (!this.#isClosed) {
      try {
        const client = await this.#connect();
        await Promise.all([...this.#channels.keys()].map((name) => client.sSubscribe(name, this.#hear)));
        this.#isReady = true;
        this.#logger.log('info', 'The connection of the message bus to Redis is back');
        for (const { listeners } of this.#channels.values()) for (const { onGap } of listeners) if (onGap) this.#call(onGap);
        return client;
      } catch {
        if (this.#client) destroy(this.#client);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
    throw closedError();
  }

  #name(topic: string): string {
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

function destroy(client: RedisClient): void {
  if (client.isOpen) client.destroy();
}

function closedError(): RedisStoreError {
  return new RedisStoreError('ERR_REDIS_UNAVAILABLE', 'the message bus is closed: create new stores');
}
