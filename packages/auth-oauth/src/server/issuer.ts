/** Asks an authorization server that the program named, and keeps its answers for a while. @see RFC 8414 */

import type { Clock } from '@mortise/jsonrpc-core';
import { isLoopbackHost } from '@mortise/protocol/edge';
import * as oauth from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { createIssuerFetch, type FetchLike } from '../safe-fetch.ts';

/** An authorization server's metadata. @see RFC 8414 section 2 */
export type IssuerMetadata = Partial<oauth.AuthorizationServer>;

/** The options of what asks an authorization server. */
export interface IssuerOptions {
  /** Makes the requests to the issuer. @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Says whether tokens and kept answers have ended. @default systemClock */
  readonly clock?: Clock | undefined;
}

/** An authorization server, asked over a bounded fetch. Its metadata is read once. */
export class Issuer {
  readonly #issuer: string;
  readonly #fetch: FetchLike | undefined;
  #metadata: oauth.AuthorizationServer | undefined;

  /** @throws {TypeError} The issuer is not a URL. */
  constructor(issuer: string, fetch: FetchLike | undefined, metadata?: IssuerMetadata) {
    if (!URL.canParse(issuer)) throw new TypeError(`The option "issuer" must be a URL, got "${issuer}"`);
    this.#issuer = issuer;
    this.#fetch = fetch;
    if (metadata !== undefined) this.#metadata = { ...metadata, issuer };
  }

  /**
   * OAuth's metadata, else OpenID Connect's. The `issuer` in the document must be the very one that was asked for.
   *
   * @throws {AuthError} `ERR_TOKEN_SOURCE`: neither document exists and names the issuer.
   */
  async metadata(): Promise<oauth.AuthorizationServer> {
    return (this.#metadata ??= await this.#discover());
  }

  /** Options for a request of `oauth4webapi`: plain http only to this machine. */
  requestOptions(url = '') {
    const isLocal = URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
    return {
      [oauth.customFetch]: createIssuerFetch(url, this.#fetch),
      [oauth.allowInsecureRequests]: isLocal,
    };
  }

  async #discover(): Promise<oauth.AuthorizationServer> {
    const url = new URL(this.#issuer);
    const causes: unknown[] = [];
    for (const algorithm of ['oauth2', 'oidc'] as const) {
      try {
        const response = await oauth.discoveryRequest(url, { algorithm, ...this.requestOptions(this.#issuer) });
        const metadata = await oauth.processDiscoveryResponse(url, response);
        if (metadata.issuer === this.#issuer) return metadata;
        causes.push(new Error(`The document names the issuer "${metadata.issuer}"`));
      } catch (error) {
        causes.push(error);
      }
    }
    throw new AuthError('ERR_TOKEN_SOURCE', `The issuer ${this.#issuer} publishes no metadata that names it`, {
      cause: new AggregateError(causes),
    });
  }
}

/** What a request to an issuer failed with, as the caller's 500. */
export function toSourceError(message: string, cause: unknown): AuthError {
  return cause instanceof AuthError && cause.code === 'ERR_TOKEN_SOURCE' ? cause : new AuthError('ERR_TOKEN_SOURCE', message, { cause });
}

/** How this server authenticates: Basic, where the issuer does not say that it takes the secret in the body alone. @see RFC 8414 section 2 */
export function authenticate(clientSecret: string, methods: readonly string[] | undefined): oauth.ClientAuth {
  const isPost = methods?.includes('client_secret_post') === true && !methods.includes('client_secret_basic');
  return isPost ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
}

/** @throws {TypeError} There is no audience: tokens that were issued for others would be as good. */
export function checkAudience(audience: string | readonly string[] | undefined): void {
  if (audience !== undefined && audience.length > 0) return;
  throw new TypeError('The option "audience" is missing or empty: give the URL that tokens are issued for, which is this server\'s');
}

const MAX_ANSWERS = 1_000;

/** Answers that are used again for a while; past 1,000 the one that came first goes. */
export class AnswerCache<V> {
  readonly #entries: Map<string, { readonly value: V; readonly expiresAtMs: number }> = new Map();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined && entry.expiresAtMs > this.#clock.now()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Keeps a value, unless the key still has one: its time is not made longer. */
  set(key: string, value: V, maxAgeMs: number): void {
    if (this.get(key) !== undefined) return;
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= MAX_ANSWERS && oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(key, { value, expiresAtMs: this.#clock.now() + maxAgeMs });
  }
}
