/** `RedisConnection`: runs the scripts of the stores, and names their keys. */

import { createHash } from 'node:crypto';
import type { Logger } from '@mortise/jsonrpc-core';
import { toStoredText, within } from '@mortise/protocol/edge';
import { RedisStoreError, toStoreError } from './errors.ts';

/** What the stores need of a client of `@redis/client` or `redis`: one of `createClient`, or a cluster of `createCluster`. */
export interface RedisClient {
  readonly isOpen: boolean;
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  sPublish(channel: string, message: string): Promise<unknown>;
  sSubscribe(channel: string, listener: (message: unknown, channel: unknown) => void): Promise<unknown>;
  sUnsubscribe(channel: string, listener: (message: unknown, channel: unknown) => void): Promise<unknown>;
  duplicate(): RedisClient;
  connect(): Promise<unknown>;
  close(): Promise<unknown>;
  destroy(): void;
  on(event: string, listener: (...values: unknown[]) => void): unknown;
}

/** A Lua script. Redis knows it by its hash after the first run. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** Lua for `now`: the time of Redis in milliseconds since the epoch, and `micros`. */
const TIME = `local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
`;

/** Makes a script, which runs as one step of Redis. It has the time of Redis as `now` (in milliseconds) and `micros`. */
export function script(lua: string): Script {
  const text = TIME + lua;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** Writes, because a Redis that is full or a replica answers reads. */
const PROBE = script(`redis.call('SET', KEYS[1], '', 'PX', 1000)`);

/** The pause before a call is sent again to a Redis that still reads its data, in milliseconds. */
const LOADING_MS = 50;

/** The most calls that wait for answers of Redis at once. */
const MAX_WAITING = 10_000;

/** The connection that all stores of one process share. */
export class RedisConnection {
  readonly client: RedisClient;
  readonly #prefix: string;
  readonly #waitMs: number;
  #waiting = 0;

  constructor(client: RedisClient, prefix: string, waitMs: number) {
    this.client = client;
    this.#prefix = prefix.replaceAll(/[%:]/g, encodeURIComponent);
    this.#waitMs = waitMs;
  }

  /** Makes a name that only the processes with this prefix use: no other prefix and a part give the same. */
  name(...parts: readonly string[]): string {
    return [this.#prefix, ...parts.map(toStoredText)].join(':');
  }

  /** Runs a script. @throws {RedisStoreError} Redis cannot be reached, or refuses. */
  run(what: Script, key: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const options = { keys: [key], arguments: args.map((arg) => toStoredText(String(arg))) };
    return this.#ask(async () => {
      for (;;) {
        try {
          return await this.client.evalSha(what.sha, options);
        } catch (error) {
          const { message } = toStoreError(error);
          if (message.startsWith('Redis refused: NOSCRIPT')) return this.client.eval(what.text, options);
          // Redis has just started.
          if (!message.startsWith('Redis refused: LOADING')) throw error;
          await new Promise((resolve) => void setTimeout(resolve, LOADING_MS));
        }
      }
    });
  }

  /** Sends a message to the subscribers of a channel. @throws {RedisStoreError} Redis cannot be reached, or refuses. */
  async publish(channel: string, message: string): Promise<void> {
    await this.#ask(() => this.client.sPublish(channel, message));
  }

  /** The limit of the client library would also keep it from connecting again while it is reached. */
  async #ask(call: () => Promise<unknown>): Promise<unknown> {
    if (this.#waiting >= MAX_WAITING)
      throw new RedisStoreError('ERR_REDIS_UNAVAILABLE', `${this.#waiting} calls wait for Redis already: is it running, and fast enough?`);
    this.#waiting++;
    return this.within(call().finally(() => this.#waiting--));
  }

  /** Waits no longer than a call may. The client library ends some calls only when the connection ends. */
  async within<T>(promise: Promise<T>): Promise<T> {
    try {
      return await within(this.#waitMs, promise);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Resolves if Redis answers, and can be written to. @throws {RedisStoreError} It does not. */
  probe(): Promise<unknown> {
    return this.run(PROBE, this.name('probe'));
  }
}

/** Logs when a connection breaks, and when it is back; not each attempt in between. */
export function logConnection(client: RedisClient, what: string, logger: Logger): void {
  let isBroken = false;
  client.on('error', (error) => {
    if (!isBroken) logger.log('warning', `${what} is broken`, { error: toStoreError(error).message });
    isBroken = true;
  });
  client.on('ready', () => {
    if (isBroken) logger.log('info', `${what} is back`);
    isBroken = false;
  });
}

/** The part of a key by which a cluster chooses its machine: keys with the same part can be used in one step. */
export function tag(text: string): string {
  return `{${text.replaceAll(/[%{}]/g, encodeURIComponent)}}`;
}

/** Reads an array that a script returned. */
export function list(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}

/** Reads names and values in turn that a script returned. */
export function pairs(reply: unknown): ReadonlyMap<string, string> {
  const flat = list(reply);
  return new Map(flat.flatMap((name, n) => (n % 2 === 0 ? [[String(name), String(flat[n + 1])] as const] : [])));
}
