/**
 * The `MessageBus` over LISTEN and NOTIFY, on one channel. A notification has at most 8,000 bytes, so a longer message is sent in several, which
 * arrive together. When the connection that listens was lost and is there again, every subscriber hears of a gap.
 */

import type { Logger } from '@mortise/jsonrpc-core';
import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import { within } from '@mortise/protocol/edge';
import { MAX_WAITING, type PostgresClient, type PostgresConnection } from './connection.ts';
import { PostgresStoreError, toStoreError } from './errors.ts';

/** A message with its end, in parts that each fit in a notification. */
const PARTS = /[^]{1,7000}/g;

/** How often the connection that listens is tried, and the pause before the next one where none can be had, in milliseconds. */
const PROBE_MS = 5000;
const RETRY_MS = 250;

/** Notifications are sent without waiting for the disk: a crash ends the connections of all subscribers, who then hear of a gap. */
const PUBLISH = `
SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, note) FROM unnest($2::text[]) WITH ORDINALITY AS notes (note, place) ORDER BY place`;

interface Subscription {
  readonly onMessage: (message: BusMessage) => void;
  readonly onGap: (() => void) | undefined;
}

/** Carries messages between the processes that share a schema. Has the guarantees B1 to B6 of `MessageBus`. */
export class PostgresMessageBus implements MessageBus {
  readonly #db: PostgresConnection;
  readonly #logger: Logger;
  readonly #channel: string;
  readonly #topics = new Map<string, Set<Subscription>>();
  /** Messages that come while others are sent go together, in one statement: so they keep their order. */
  readonly #send = joinCalls(() => this.#sendOutgoing());
  readonly #joinRoundTrip = joinCalls(() => this.#roundTrip());
  #outgoing: string[] = [];
  /** What has arrived of a message. */
  #incoming = '';
  #listener: PostgresClient | undefined;
  #connecting: Promise<PostgresClient> | undefined;
  /** Whether messages may have been lost since the last round trip. */
  #wasLost = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  constructor(connection: PostgresConnection, logger: Logger) {
    this.#db = connection;
    this.#logger = logger;
    this.#channel = `mortise:${connection.schema}`;
  }

  async publish(message: BusMessage): Promise<void> {
    if (this.#isClosed) throw closedError();
    if (this.#outgoing.length >= MAX_WAITING) throw this.#db.tooMany(this.#outgoing.length);
    this.#outgoing.push(toLine(message));
    await this.#send();
  }

  async subscribe(topic: string, onMessage: (message: BusMessage) => void, onGap?: () => void): Promise<() => void> {
    if (this.#isClosed) throw closedError();
    const subscription: Subscription = { onMessage, onGap };
    this.#timer ??= setInterval(() => void this.#listen().catch(() => undefined), PROBE_MS).unref();
    // Behind a round trip: what was published before has been delivered by then.
    await this.#listen();
    const subscriptions = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, subscriptions.add(subscription));
    return () => {
      if (subscriptions.delete(subscription) && subscriptions.size === 0) this.#topics.delete(topic);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#topics.clear();
    this.#drop(closedError());
  }

  /** Resolves if this bus gets messages. @throws {PostgresStoreError} PostgreSQL cannot be reached by its connection. */
  async probe(): Promise<void> {
    if (this.#timer !== undefined) await this.#listen();
  }

  async #sendOutgoing(): Promise<void> {
    const parts = this.#outgoing.flatMap((line) => line.match(PARTS) ?? []);
    this.#outgoing = [];
    // Two equal notifications of one statement would arrive as one: so each has its place.
    const notes = parts.map((part, place) => `${place} ${part}`);
    try {
      await this.#db.query(PUBLISH, this.#channel, notes);
    } catch (error) {
      // Those that came meanwhile have waited too, and are rejected with these.
      this.#outgoing = [];
      throw error;
    }
  }

  /** Resolves after a round trip of the connection that listens, which begins after this call. Connects first if needed. */
  async #listen(): Promise<void> {
    await within(this.#db.waitMs, this.#joinRoundTrip()).catch((error: unknown) => {
      throw toStoreError(error);
    });
  }

  async #roundTrip(): Promise<void> {
    const connect = (): Promise<PostgresClient> => this.#connect().finally(() => (this.#connecting = undefined));
    const listener = this.#listener ?? (await within(this.#db.waitMs, (this.#connecting ??= connect())));
    try {
      await within(this.#db.waitMs, listener.query(`LISTEN "${this.#channel}"`));
    } catch (error) {
      if (this.#listener === listener) this.#drop(error);
      throw error;
    }
    if (!this.#wasLost) return;
    this.#wasLost = false;
    this.#logger.log('info', 'The message bus has a connection to PostgreSQL again');
    for (const subscriptions of this.#topics.values()) for (const { onGap } of subscriptions) this.#call(() => onGap?.());
  }

  async #connect(): Promise<PostgresClient> {
    const listener = await this.#db.connect();
    if (this.#isClosed) {
      listener.release();
      throw closedError();
    }
    this.#listener = listener;
    this.#incoming = '';
    listener.on('notification', (note) => this.#receive((note as { readonly payload?: string }).payload ?? ''));
    const lose = (error: unknown): void => {
      if (this.#listener === listener) this.#drop(error);
    };
    listener.on('error', lose);
    listener.on('end', () => lose(new Error('the connection that listens has ended')));
    return listener;
  }

  #drop(error: unknown): void {
    const listener = this.#listener;
    if (listener === undefined) return;
    this.#listener = undefined;
    this.#wasLost = true;
    if (!this.#isClosed) this.#logger.log('warning', 'The message bus lost its connection to PostgreSQL', { error: String(error) });
    listener.release(true);
    void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    while (!this.#isClosed && this.#listener === undefined) {
      try {
        await this.#listen();
      } catch {
        await new Promise((resolve) => void setTimeout(resolve, RETRY_MS));
      }
    }
  }

  #receive(note: string): void {
    this.#incoming += note.slice(note.indexOf(' ') + 1);
    if (!note.endsWith('\n')) return;
    const json = this.#incoming;
    this.#incoming = '';
    this.#call(() => {
      const { topic } = JSON.parse(json) as BusMessage;
      for (const { onMessage } of this.#topics.get(topic) ?? []) this.#call(() => onMessage(JSON.parse(json) as BusMessage));
    });
  }

  #call(fn: () => void): void {
    try {
      fn();
    } catch (error) {
      this.#logger.log('error', 'A subscriber of the message bus failed', { error: String(error) });
    }
  }
}

/** Writes a message as one line of ASCII, so that it can be cut anywhere. */
function toLine(message: BusMessage): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(message).replaceAll(/[\u0080-\uFFFF]/g, escape)}\n`;
}

/** Joins calls: those that come while `fn` runs share one more run, which begins when this one has ended. If it rejects, so do they. */
function joinCalls(fn: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    running = fn().finally(() => {
      if (next === undefined) running = undefined;
    });
    return running;
  };
  const fail = (error: unknown): never => {
    next = running = undefined;
    throw error;
  };
  return () => (running ? (next ??= running.then(begin, fail)) : begin());
}

function closedError(): PostgresStoreError {
  return new PostgresStoreError('ERR_POSTGRES_UNAVAILABLE', 'the message bus is closed: create new stores');
}
