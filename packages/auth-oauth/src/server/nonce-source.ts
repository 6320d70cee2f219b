/** Nonces that need no memory: the time of their making, authenticated. Any machine with the secret knows them. @see RFC 9449 section 8 */

import type { Clock } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { isSameText, randomText } from './digest.ts';
import { Signer } from './signer.ts';

/** The options of `NonceSource`. */
export interface NonceSourceOptions {
  /** What nonces are made from: machines that share it take those of one another. @default random, per process */
  readonly secret?: string | undefined;
  /** How long a nonce is taken, in milliseconds. @default 5 minutes */
  readonly lifetimeMs?: number | undefined;
  /** Tells how old nonces are. @default the system's */
  readonly clock?: Clock | undefined;
}

export class NonceSource {
  readonly #signer: Signer;
  readonly #lifetimeMs: number;
  readonly #clock: Clock;

  constructor({ secret = randomText(), lifetimeMs = 5 * 60_000, clock = systemClock }: NonceSourceOptions) {
    this.#signer = new Signer(secret, 'dpop nonce');
    this.#lifetimeMs = lifetimeMs;
    this.#clock = clock;
  }

  create(): Promise<string> {
    return this.#at(this.#clock.now());
  }

  async isGood(nonce: string): Promise<boolean> {
    const madeAtMs = Number.parseInt(nonce.split('.')[0] ?? '', 36);
    const ageMs = this.#clock.now() - madeAtMs;
    // Another machine's clock may be a little ahead.
    const isTimely = ageMs > -60_000 && ageMs <= this.#lifetimeMs;
    return isTimely && isSameText(nonce, await this.#at(madeAtMs));
  }

  async #at(madeAtMs: number): Promise<string> {
    const text = madeAtMs.toString(36);
    return `${text}.${await this.#signer.sign(text)}`;
  }
}
