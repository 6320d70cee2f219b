/**
 * The `MessageBus` over LISTEN and NOTIFY, on one channel. A notification has at most 8,000 bytes, so a longer message is stored, and the notification
 * has its id. When the connection that listens was lost and is there again, every subscriber hears of a gap.
 */

import { createHash, randomUUID } from 'node:crypto';
import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import { after, type PostgresClient, type PostgresConnection, text } from './connection.ts';
import { PostgresStoreError, toStoreError } from './errors.ts';

/** The longest message that is sent in its notification, in bytes. */
const MAX_INLINE_BYTES = 7000;

/** How long a long message is stored, in milliseconds. A machine that is slower hears of a gap. */
const KEPT_MS = 60_000;

/** How often the connection that listens is tried, and the pause before the next one where none can be had, in milliseconds. */
const PROBE_MS = 5000;
const RETRY_MS = 250;

/** Notifications are sent without waiting for the disk: a crash ends the connections of all subscribers, who then hear of a gap. */
const PUBLISH = `
WITH stored AS (INSERT INTO mortise.messages SELECT *, ${after(String(KEPT_MS))} FROM unnest($3::text[], $4::text[]))
SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, note) FROM unnest($2::text[]) WITH ORDINALITY AS notes (note, place) ORDER BY place`;

interface Subscription {
  isActive: boolean;
  readonly onMessage: (message: BusMessage) => void;
  readonly onGap: (() => void) | undefined;
}

interface Outgoing {
  readonly topic: string;
  readonly json: string;
  resolve(): void;
  reject(error: unknown): void;
}

/** Carries messages between the processes that share a schema. Has the guarantees B1 to B6 of `MessageBus`. */
export class PostgresMessageBus implements MessageBus {
  readonly #db: PostgresConnection;
  readonly #onError: (error: unknown) => void;
  readonly #channel: string;
  /** By hash of the topic, as notifications name it. */
  readonly #topics = new Map<string, Set<Subscription>>();
  #outgoing: Outgoing[] = [];
  #isSending = false;
  #listener: PostgresClient | undefined;
  /** The round trip of the listener that is under way, and the one that begins after it. */
  #listening: Promise<void> | undefined;
  #nextListening: Promise<void> | undefined;
  #delivered: Promise<void> | undefined;
  /** Whether messages may have been lost since the last round trip. */
  #wasLost = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  constructor(connection: PostgresConnection, onError: (error: unknown) => void) {
    this.#db = connection;
    this.#onError = onError;
    this.#channel = `mortise:${connection.schema}`;
  }

  /** Messages that come while others are sent go together, in one statement: so they keep their order. */
  publish(message: BusMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (this.#outgoing.length >= this.#db.maxWaiting) return Promise.reject(this.#db.tooMany(this.#outgoing.length));
    return new Promise((resolve, reject) => {
      this.#outgoing.push({ topic: message.topic, json: JSON.stringify(message), resolve, reject });
      if (!this.#isSending) void this.#send();
    });
  }

  async subscribe(topic: string, onMessage: (message: BusMessage) => void, onGap?: () => void): Promise<() => void> {
    if (this.#isClosed) throw closedError();
    const key = hash(topic);
    const subscription: Subscription = { isActive: true, onMessage, onGap };
    // Behind a round trip: what was published before has been delivered by then.
    await this.#listen();
    const subscriptions = this.#topics.get(key) ?? new Set();
    this.#topics.set(key, subscriptions.add(subscription));
    return () => {
      subscription.isActive = false;
      if (subscriptions.delete(subscription) && subscriptions.size === 0) this.#topics.delete(key);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#topics.clear();
    this.#drop();
  }

  /** Resolves if this bus gets messages. @throws {PostgresStoreError} PostgreSQL cannot be reached by its connection. */
  async probe(): Promise<void> {
    if (this.#timer !== undefined) await this.#listen();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    while (this.#outgoing.length > 0) {
      const batch = this.#outgoing;
      this.#outgoing = [];
      const [ids, bodies]: [string[], string[]] = [[], []];
      const notes = batch.map(({ topic, json }, place) => {
        // Two equal notifications of one statement would arrive as one: so each has its place.
        if (Buffer.byteLength(json) <= MAX_INLINE_BYTES) return `${hash(topic)} ${place} ${json}`;
        const id = randomUUID();
        ids.push(id);
        bodies.push(json);
        return `${hash(topic)} ${place} ${id}`;
      });
      try {
        await this.#db.query(PUBLISH, this.#channel, notes, ids, bodies);
        for (const each of batch) each.resolve();
        for (let n = 0; n < ids.length; n++) this.#db.clearSometimes('messages');
      } catch (error) {
        // Those that came meanwhile have waited too.
        for (const each of [...batch, ...this.#outgoing.splice(0)]) each.reject(error);
      }
    }
    this.#isSending = false;
  }

  /** Resolves after a round trip of the connection that listens, which begins after this call. Connects first if needed. */
  #listen(): Promise<void> {
    if (this.#listening === undefined) {
      const forget = (): void => void (this.#listening = undefined);
      this.#listening = this.#roundTrip().finally(forget);
      return this.#listening;
    }
    const begin = (): Promise<void> => {
      this.#nextListening = undefined;
      return this.#listen();
    };
    return (this.#nextListening ??= this.#listening.then(begin, begin));
  }

  async #roundTrip(): Promise<void> {
    const listener = (this.#listener ??= await this.#connect());
    const { waitMs } = this.#db;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`waited ${waitMs} ms`)), Math.min(waitMs, 2 ** 31 - 1));
    });
    try {
      await Promise.race([listener.query(`LISTEN "${this.#channel}"`), limit]);
    } catch (error) {
      if (this.#listener === listener) this.#drop();
      throw toStoreError(error);
    } finally {
      clearTimeout(timer);
    }
    if (!this.#wasLost) return;
    this.#wasLost = false;
    await this.#delivered;
    for (const subscriptions of this.#topics.values()) this.#reportGap(subscriptions);
  }

  async #connect(): Promise<PostgresClient> {
    const listener = await this.#db.connect();
    if (this.#isClosed) {
      listener.release();
      throw closedError();
    }
    this.#timer ??= setInterval(() => void this.#listen().catch(this.#onError), PROBE_MS).unref();
    listener.on('notification', (note) => this.#receive((note as { readonly payload?: string }).payload ?? ''));
    const lose = (error: unknown): void => {
      if (this.#listener !== listener) return;
      this.#onError(error);
      this.#drop();
    };
    listener.on('error', lose);
    listener.on('end', () => lose(new Error('the connection that listens has ended')));
    return listener;
  }

  #drop(): void {
    const listener = this.#listener;
    if (listener === undefined) return;
    this.#listener = undefined;
    this.#wasLost = true;
    listener.release(true);
    void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    while (!this.#isClosed && this.#listener === undefined) {
      try {
        await this.#listen();
      } catch (error) {
        this.#onError(error);
        await new Promise((resolve) => void setTimeout(resolve, RETRY_MS));
      }
    }
  }

  #receive(note: string): void {
    const [key = '', place = ''] = note.split(' ', 2);
    const subscriptions = [...(this.#topics.get(key) ?? [])];
    if (subscriptions.length === 0) return;
    const content = note.slice(key.length + place.length + 2);
    const isInline = content.startsWith('{');
    if (isInline && this.#delivered === undefined) return this.#deliver(content, subscriptions);
    // What comes after a long message waits until that is read.
    const json = isInline ? Promise.resolve(content) : this.#read(content);
    const delivered = Promise.all([json, this.#delivered]).then(([found]) => {
      if (found === undefined) this.#reportGap(subscriptions);
      else this.#deliver(found, subscriptions);
      if (this.#delivered === delivered) this.#delivered = undefined;
    });
    this.#delivered = delivered;
  }

  /** Reads a long message. Undefined if it is gone, or cannot be read. */
  async #read(id: string): Promise<string | undefined> {
    try {
      const row = await this.#db.get('SELECT body FROM mortise.messages WHERE id = $1', id);
      return row && text(row, 'body');
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }

  #deliver(json: string, subscriptions: readonly Subscription[]): void {
    for (const { isActive, onMessage } of subscriptions) if (isActive) this.#call(() => onMessage(JSON.parse(json) as BusMessage));
  }

  #reportGap(subscriptions: Iterable<Subscription>): void {
    for (const { isActive, onGap } of [...subscriptions]) if (isActive && onGap) this.#call(onGap);
  }

  #call(fn: () => void): void {
    try {
      fn();
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** A name for a topic of any length. */
function hash(topic: string): string {
  return createHash('sha256').update(topic).digest('base64url').slice(0, 24);
}

function closedError(): PostgresStoreError {
  return new PostgresStoreError('ERR_POSTGRES_UNAVAILABLE', 'the message bus is closed: create new stores');
}
