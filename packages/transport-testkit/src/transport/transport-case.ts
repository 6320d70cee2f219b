/** The two transports that each transport case tests, and helpers of the cases. */

import type { JsonObject, JsonRpcMessage, JsonRpcNotification, Transport } from '@mortise/jsonrpc-core';
import { check, within } from '../check.ts';
import type { KitCase, KitSetup, KitSubject } from '../kit-case.ts';

/** One of the two ends of a connection. */
export type End = 'client' | 'server';

/** The options with which a case asks `createPair` for the two transports of a connection. */
export interface PairOptions {
  /** The longest message that either end accepts, in bytes. Set only for the trait `bound`. @default the transport's own limit */
  readonly maxMessageBytes?: number | undefined;
}

/** The two transports of one connection, not started yet. */
export interface TransportPair extends KitSubject {
  readonly client: Transport;
  readonly server: Transport;
  /**
   * Sends one raw frame to an end of the connection, as a faulty peer might. Needed for the trait `frames`.
   *
   * @param frame The bytes of the message, without the delimiter or header that the transport adds.
   * @param chunkBytes For transports that declare the trait `chunks`: sends the frame in pieces of this size.
   */
  injectFrame?(to: End, frame: Uint8Array, chunkBytes?: number): Promise<void>;
}

/** Optional abilities that a transport may declare to the transport kit. */
export interface TransportTraits {
  /** Whether `createPair` supports the option `maxMessageBytes`. Then the kit runs the cases of T6. */
  readonly bound?: boolean;
  /** Whether `injectFrame` is implemented. Then the kit runs the cases of T5. */
  readonly frames?: boolean;
  /** Whether `injectFrame` supports `chunkBytes`, as for a byte stream. Then the kit runs further cases of T9. */
  readonly chunks?: boolean;
  /** Whether `send` waits while the peer does not read. Then the kit runs the cases of T12. */
  readonly backpressure?: boolean;
  /** Whether the server's end of a connection can start before the client's end. */
  readonly independentStart?: boolean;
  /** Whether both ends live in this process, on Node, Bun or Deno, so that leaked handles can be listed. Then the cases of T14 run. */
  readonly handles?: boolean;
}

/** What an implementer gives the transport kit: a function that makes two connected transports, and their optional abilities. */
export interface TransportSetup {
  /** Makes two connected transports that are not started. The kit closes both after the case, then calls `close` of the pair. */
  createPair(options?: PairOptions): Promise<TransportPair>;
  readonly traits?: TransportTraits | undefined;
}

/** A test case for one guarantee of a `Transport`. */
export type TransportCase = KitCase<TransportPair, PairOptions>;

/** Converts a `TransportSetup` to the `KitSetup` that `describeKit` and `runCases` take. Closing a pair also closes its two ends. */
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

/** Starts both transports of a connection. */
export async function startBoth(pair: TransportPair): Promise<void> {
  await within(Promise.all([pair.server.start(), pair.client.start()]), 'start should resolve on both ends');
}

/** Makes a test notification that carries the number `n`. */
export function note(n: number, more?: JsonObject): JsonRpcNotification {
  return { jsonrpc: '2.0', method: 'kit/note', params: { n, ...more } };
}

/** Reads the number of a notification that `note` made; -1 for any other message. */
export function numberOf(message: JsonRpcMessage | undefined): number {
  const n = message && 'params' in message ? message.params?.['n'] : undefined;
  return typeof n === 'number' ? n : -1;
}

/** Makes a list of the numbers from 0 to `count - 1`. */
export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n);
}

/** Records what a transport passes to its callbacks, and can wait for further calls. */
export class Listener {
  readonly messages: JsonRpcMessage[] = [];
  readonly errors: Error[] = [];
  closeCount = 0;
  /** How many messages the transport delivered after `onclose`. */
  lateCount = 0;
  readonly #waiters = new Set<() => void>();

  /** Sets the transport's callbacks. `onMessage` is called after a message is recorded, and may throw. */
  constructor(transport: Transport, onMessage?: (message: JsonRpcMessage) => void) {
    transport.onmessage = (message: JsonRpcMessage) => {
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

  /** The numbers of the notifications made by `note` that arrived, in order of arrival. */
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

  /** Waits until `condition` returns true. Checks the condition after each callback of the transport. */
  async until(condition: () => boolean, otherwise: () => string): Promise<void> {
    while (!condition()) await within(new Promise<void>((resolve) => this.#waiters.add(resolve)), otherwise);
  }

  #wake(): void {
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }
}
