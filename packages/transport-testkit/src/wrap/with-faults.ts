/** A transport that fails now and then, in a way that can be repeated. */

import type { Clock, Transport } from '@mortise/jsonrpc-core';
import { systemClock, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { type TransportHooks, wrapTransport } from '@mortise/jsonrpc-core/wrap';
import { createRandom, type Random } from './random.ts';

/** Which faults there are, each with how often it happens, from 0 (never, the default) to 1 (always). */
export interface FaultOptions {
  /** The same seed gives the same faults. Print it, so that a failure can be repeated. */
  readonly seed: number;
  /** A message is lost, in either direction. @default 0 */
  readonly drop?: number | undefined;
  /** A message comes twice, in either direction. @default 0 */
  readonly duplicate?: number | undefined;
  /** A message comes late, and with it all that follow: the order stays. @default 0 */
  readonly delay?: number | undefined;
  /** How late a message comes at most, in milliseconds. @default 20 */
  readonly maxDelayMs?: number | undefined;
  /** `send` rejects, and the message is lost. @default 0 */
  readonly reject?: number | undefined;
  /** Runs the timers of what comes late. @default systemClock */
  readonly clock?: Clock | undefined;
}

/**
 * Wraps a transport, or a factory of them, so that messages are lost, doubled, late or refused.
 *
 * Each channel has a chance of its own, drawn from the seed, so what one does says nothing about the next.
 */
export function withFaults<T extends Transport | TransportFactory>(inner: T, options: FaultOptions): T {
  const random = createRandom(options.seed);
  return wrapTransport(inner, () => createHooks(createRandom(Math.floor(random() * 2 ** 32)), options));
}

function createHooks(random: Random, options: FaultOptions): TransportHooks {
  const { drop = 0, duplicate = 0, delay = 0, reject = 0, maxDelayMs = 20, clock = systemClock } = options;
  const [outbound, inbound] = [new Line(clock), new Line(clock)];
  /** How often a message passes, and how late. Always three draws, so that one fault does not shift the others. */
  const draw = (): { readonly times: number; readonly delayMs: number } => {
    const [isLost, isDoubled, late] = [random() < drop, random() < duplicate, random()];
    return { times: isLost ? 0 : isDoubled ? 2 : 1, delayMs: late < delay ? Math.ceil((late / delay) * maxDelayMs) : 0 };
  };
  return {
    async send(message, sendOptions, next) {
      const { times, delayMs } = draw();
      if (random() < reject) throw new Error('withFaults: this send was refused');
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

/** Things that happen one after the other, some of them late. */
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
