/** An issuer's signing keys: fetched once, kept for a while, fetched again when a token names a key that is new. */

import type { Clock } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { isLoopbackHost } from '@mortise/protocol/edge';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { TokenSourceError } from './errors.ts';
import { fetchJson } from './fetch-json.ts';

/** The options of `KeySet`. */
export interface KeySetOptions {
  /** How long keys are trusted without asking again, in milliseconds: how long a key that was withdrawn may still be accepted. */
  readonly maxAgeMs: number;
  /** How long not to ask again for a key that was not there, in milliseconds, so that made-up key ids cannot make the server a hammer. */
  readonly cooldownMs: number;
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
  /** Tells how old keys are. @default the system's */
  readonly clock?: Clock | undefined;
}

type LocalKeySet = ReturnType<typeof createLocalJWKSet>;

const MAX_BYTES = 1024 * 1024;

/** Keys at a URL. Requests for them are made one at a time, whoever waits. */
export class KeySet {
  readonly #findUrl: () => Promise<string>;
  readonly #options: KeySetOptions;
  readonly #clock: Clock;
  #keys: LocalKeySet | undefined;
  #fetchedAtMs = 0;
  #pending: Promise<LocalKeySet> | undefined;

  constructor(findUrl: () => Promise<string>, options: KeySetOptions) {
    this.#findUrl = findUrl;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Finds the key that a token's header names. */
  readonly getKey: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#current();
    try {
      return await keys(header, token);
    } catch (error) {
      const isNew = error instanceof errors.JWKSNoMatchingKey && this.#ageMs >= this.#options.cooldownMs;
      if (!isNew) throw error;
    }
    return (await this.#refresh())(header, token);
  };

  get #ageMs(): number {
    return this.#clock.monotonicMs() - this.#fetchedAtMs;
  }

  #current(): Promise<LocalKeySet> | LocalKeySet {
    return this.#keys !== undefined && this.#ageMs < this.#options.maxAgeMs ? this.#keys : this.#refresh();
  }

  #refresh(): Promise<LocalKeySet> {
    this.#pending ??= this.#fetch().finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  async #fetch(): Promise<LocalKeySet> {
    const url = await this.#findUrl();
    const { fetch, timeoutMs } = this.#options;
    try {
      const { value } = await fetchJson(url, { fetch, timeoutMs, maxBytes: MAX_BYTES, policy: toTrust(url) });
      const keys = createLocalJWKSet(value as JSONWebKeySet);
      this.#keys = keys;
      this.#fetchedAtMs = this.#clock.monotonicMs();
      return keys;
    } catch (error) {
      throw new TokenSourceError('The keys of the issuer could not be fetched', { cause: error });
    }
  }
}

/** The program named the issuer, so its host may be private; only what crosses a network must be https. */
export function toTrust(url: string): { readonly allowPrivate: true; readonly allowLoopback: boolean } {
  return { allowPrivate: true, allowLoopback: URL.canParse(url) && isLoopbackHost(new URL(url).hostname) };
}
