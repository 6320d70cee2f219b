/** What the cases for transports are handed, and what they share. */

import type { JsonObject, JsonRpcMessage, JsonRpcNotification, Transport } from '@mortise/jsonrpc-core';
import { check, within } from '../check.ts';
import type { KitCase, KitSetup, KitSubject } from '../kit-case.ts';

/** Which end of a pair. */
export type End = 'client' | 'server';

/** How a pair is to be made. */
export interface PairOptions {
  /** The longest message that either end takes. Asked for only with the trait `bound`. @default the transport's own */
  readonly maxMessageBytes?: number | undefined;
}

/** Two unstarted ends of one channel. */
export interface TransportPair extends KitSubject {
  readonly client: Transport;
  readonly server: Transport;
  /**
   * Puts one frame on the wire towards an end, as a broken peer might. Needed for the trait `frames`.
   *
   * @param frame Its content, without what marks its end.
   * @param chunkBytes With the trait `chunks`: send it in pieces of so many bytes.
   */
  injectFrame?(to: End, frame: Uint8Array, chunkBytes?: number): Promise<void>;
}

/** What a transport can do, beyond moving messages. */
export interface TransportTraits {
  /** `createPair` honours `maxMessageBytes`. Shows T6. */
  readonly bound?: boolean;
  /** A frame can be injected. Shows T5. */
  readonly frames?: boolean;
  /** A frame can be injected in pieces: the transport runs over a stream of bytes. Shows the second half of T9. */
  readonly chunks?: boolean;
  /** `send` waits while the peer does not read. Shows T12. */
  readonly backpressure?: boolean;
  /** The server's end can be started while the client's is not. */
  readonly independentStart?: boolean;
  /** Both ends live in this process, on Node, Bun or Deno, so that what they leave behind can be seen. Shows T14. */
  readonly handles?: boolean;
}

/** What the transport kit is run against. */
export interface TransportSetup {
  /** Makes two unstarted ends. The kit closes both, and then the pair. */
  createPair(options?: PairOptions): Promise<TransportPair>;
  readonly traits?: TransportTraits | undefined;
}

/** One promise of `Transport` put to the test. */
export type TransportCase = KitCase<TransportPair, PairOptions>;

/** A `TransportSetup` as the runners take it: its pairs close their ends, too. */
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
    'createPair should give { client, server, close }: two unstarted ends, and what frees the rest',
  );
}

/** Starts both ends. */
export async function startBoth(pair: TransportPair): Promise<void> {
  await within(Promise.all([pair.server.start(), pair.client.start()]), 'start should resolve on both ends');
}

/** A message to recognise: the n-th of its kind. */
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

/** Everything that an end has said, and a way to wait for more. */
export class Listener {
  readonly messages: JsonRpcMessage[] = [];
  readonly errors: Error[] = [];
  closeCount = 0;
  /** How many messages came after `onclose`. */
  lateCount = 0;
  readonly #waiters = new Set<() => void>();

  /** Sets the callbacks of an end; `onMessage` is called after a message is noted, and may throw. */
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

  /** Waits until something holds that only an event can bring about. */
  async until(condition: () => boolean, otherwise: () => string): Promise<void> {
    while (!condition()) await within(new Promise<void>((resolve) => this.#waiters.add(resolve)), otherwise);
  }

  #wake(): void {
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }
}
