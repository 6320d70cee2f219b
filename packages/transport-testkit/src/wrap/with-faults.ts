/** `withFaults`: makes a transport lose, repeat, delay or refuse messages at random, but repeatably. */

import type { Clock, Transport } from '@mortise/jsonrpc-core';
import { systemClock, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { type TransportHooks, wrapTransport } from '@mortise/jsonrpc-core/wrap';
import { createRandom, type Random } from './random.ts';

/** The options of `withFaults`: the probability of each fault, from 0 (never) to 1 (always). */
export interface FaultOptions {
  /** The seed of the random faults: the same seed gives the same faults. Print it, so that a failed test can be repeated. */
  readonly seed: number;
  /** The probability, from 0 to 1, that a message is lost, in either direction. @default 0 */
  readonly drop?: number | undefined;
  /** The probability, from 0 to 1, that a message is delivered twice, in either direction. @default 0 */
  readonly duplicate?: number | undefined;
  /** The probability, from 0 to 1, that a message is delayed, and all later ones with it, so that their order stays. @default 0 */
  readonly delay?: number | undefined;
  /** The longest delay of a message, in milliseconds. @default 20 */
  readonly maxDelayMs?: number | undefined;
  /** The probability, from 0 to 1, that `send` rejects and the message is lost. @default 0 */
  readonly reject?: number | undefined;
  /** The clock that times the delays of messages. @default systemClock */
  readonly clock?: Clock | undefined;
}

/**
 * Wraps a transport, or a transport factory, so that messages are lost, delivered twice, delayed or refused at random.
 *
 * Each transport that the factory makes gets its own random numbers, derived from the seed.
 */
export function withFaults<T extends Transport | TransportFactory>(inner: T, options: FaultOptions): T {
  const random = createRandom(options.seed);
  return wrapTransport(inner, () => createHooks(createRandom(Math.floor(random() * 2 ** 32)), options));
}

function createHooks(random: Random, options: FaultOptions): TransportHooks {
  const { drop = 0, duplicate = 0, delay = 0, reject = 0, maxDelayMs = 20, clock = systemClock } = options;
  const [outbound, inbound] = [new Line(clock), new Line(clock)];
  /** Decides at random how often and how late a message is delivered. Always draws three numbers, so that later faults stay the same. */
  const draw = (): { readonly times: number; readonly delayMs: number } => {
    const [isLost, isDoubled, late] = [random() < drop, random() < duplicate, random()];
    return { times: isLost ? 0 : isDoubled ? 2 : 1, delayMs: late < delay ? Math.ceil((late / delay) * maxDelayMs) : 0 };
  };
  return {
    async send(message, sendOptions, next) {
      const { times, delayMs } = draw();
      if (random() < reject) throw new Error('withFaults: this send was refused as a simulated fault');
      await outbound.pass(delayMs, async () => {
        for (let count = 0; count < times; count++) await next(message, sendOptions);
      });
    },
    receive(message, info, next) {
      const { times, delayMs } = draw();
      void inbound.pass(delayMs, async () => {
        for (let count = 0; count < times; count++) next(message, info);
      });
    },
    close(next) {
      void inbound.pass(0, async () => next());
    },
  };
}

/** Runs functions one after the other, some of them after a delay. */
class Line {
  readonly #clock: Clock;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  pass(delayMs: number, fn: () => Promise<void>): Promise<void> {
    const passed = this.#last.then(async () => {
      if (delayMs > 0) await new Promise<void>((resolve) => void this.#clock.schedule(resolve, delayMs, { keepAlive: true }));
      await fn();
    });
    this.#last = passed.catch(() => undefined);
    return passed;
  }
}
