/** The subject of the transport cases, and their helpers. */

import type { JsonObject, JsonRpcMessage, JsonRpcNotification, Transport } from '@mortise/jsonrpc-core';
import { check, within } from '../check.ts';
import type { KitCase, KitSetup, KitSubject } from '../kit-case.ts';

/** Which end of a pair. */
export type End = 'client' | 'server';

/** The options of `createPair`. */
export interface PairOptions {
  /** The longest message that either end accepts, in bytes. Asked for only with the trait `bound`. @default the transport's own */
  readonly maxMessageBytes?: number | undefined;
}

/** The two unstarted transports of one connection. */
export interface TransportPair extends KitSubject {
  readonly client: Transport;
  readonly server: Transport;
  /**
   * Sends one raw frame to an end, as a faulty peer might. Needed for the trait `frames`.
   *
   * @param frame The content of the frame, without its delimiter.
   * @param chunkBytes With the trait `chunks`: sends the frame in pieces of this size.
   */
  injectFrame?(to: End, frame: Uint8Array, chunkBytes?: number): Promise<void>;
}

/** Optional abilities of a transport. */
export interface TransportTraits {
  /** `createPair` supports `maxMessageBytes`. Runs the cases of T6. */
  readonly bound?: boolean;
  /** `injectFrame` is implemented. Runs the cases of T5. */
  readonly frames?: boolean;
  /** `injectFrame` supports `chunkBytes`: the transport uses a byte stream. Runs further cases of T9. */
  readonly chunks?: boolean;
  /** `send` waits while the peer does not read. Runs the cases of T12. */
  readonly backpressure?: boolean;
  /** The server's end can start before the client's. */
  readonly independentStart?: boolean;
  /** Both ends live in this process, on Node, Bun or Deno, so that leaked handles can be listed. Runs the cases of T14. */
  readonly handles?: boolean;
}

/** The implementation that the transport kit tests. */
export interface TransportSetup {
  /** Makes two unstarted transports. The kit closes both, then calls the pair's `close`. */
  createPair(options?: PairOptions): Promise<TransportPair>;
  readonly traits?: TransportTraits | undefined;
}

/** One promise of `Transport` as a test case. */
export type TransportCase = KitCase<TransportPair, PairOptions>;

/** Converts a `TransportSetup` to the `KitSetup` that runners take. Closing a pair then also closes its two ends. */
export function toKitSetup(setup: TransportSetup): KitSetup<TransportPair, PairOptions> {
  return {
    traits: { ...setup.traits },
    async create(options) {
      const pair = await setup.createPair(options);
      checkParts(pair);
      const close = async (): Promise<void> => {
        await within(Promise.all([pair.client.close(), pair.server.close()]), 'close should resolve on both ends');
        await pair.close();
      };
      const ends = { client: pair.client, server: pair.server, close };
      return pair.injectFrame ? { ...ends, injectFrame: pair.injectFrame.bind(pair) } : ends;
    },
  };
}

function checkParts(pair: Partial<TransportPair> | undefined): void {
  const hasEnds = pair?.client !== undefined && pair.server !== undefined;
  check(
    hasEnds && typeof pair.close === 'function',
    'createPair should resolve with { client, server, close }: two unstarted transports, and a function that frees the rest',
  );
}

/** Starts both ends. */
export async function startBoth(pair: TransportPair): Promise<void> {
  await within(Promise.all([pair.server.start(), pair.client.start()]), 'start should resolve on both ends');
}

/** Makes a notification with the number `n`. */
export function note(n: number, more?: JsonObject): JsonRpcNotification {
  return { jsonrpc: '2.0', method: 'kit/note', params: { n, ...more } };
}

/** Reads the number of a `note`; -1 for any other message. */
export function numberOf(message: JsonRpcMessage | undefined): number {
  const n = message && 'params' in message ? message.params?.['n'] : undefined;
  return typeof n === 'number' ? n : -1;
}

/** The numbers from 0 to `count - 1`. */
export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n);
}

/** Records the callbacks of a transport, and can wait for further ones. */
export class Listener {
  readonly messages: JsonRpcMessage[] = [];
  readonly errors: Error[] = [];
  closeCount = 0;
  /** How many messages came after `onclose`. */
  lateCount = 0;
  readonly #waiters = new Set<() => void>();

  /** Sets the transport's callbacks. `onMessage` is called after a message is recorded, and may throw. */
  constructor(transport: Transport, onMessage?: (message: JsonRpcMessage) => void) {
    transport.onmessage = (message) => {
      this.messages.push(message);
      if (this.closeCount > 0) this.lateCount++;
      this.#wake();
      onMessage?.(message);
    };
    transport.onerror = (error) => {
      this.errors.push(error);
      this.#wake();
    };
    transport.onclose = () => {
      this.closeCount++;
      this.#wake();
    };
  }

  /** The numbers of the `note`s that arrived. */
  get numbers(): readonly number[] {
    return this.messages.map(numberOf);
  }

  async hasMessages(count: number): Promise<void> {
    await this.until(
      () => this.messages.length >= count,
      () => `${count} messages should arrive, but only ${this.messages.length} did`,
    );
  }

  async hasClosed(): Promise<void> {
    await this.until(
      () => this.closeCount > 0,
      () => 'onclose should be called',
    );
  }

  async hasErrors(count: number): Promise<void> {
    await this.until(
      () => this.errors.length >= count,
      () => `${count} errors should be reported, but only ${this.errors.length} were`,
    );
  }

  /** Waits until a condition holds; checks it after each callback. */
  async until(condition: () => boolean, otherwise: () => string): Promise<void> {
    while (!condition()) await within(new Promise<void>((resolve) => this.#waiters.add(resolve)), otherwise);
  }

  #wake(): void {
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }
}
