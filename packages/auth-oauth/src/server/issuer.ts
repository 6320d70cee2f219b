/** Requests to the authorization server in the option `issuer`, and a cache of responses. @see RFC 8414 */

import type { Clock } from '@mortise/jsonrpc-core';
import { isLoopbackHost } from '@mortise/protocol/edge';
import * as oauth from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { createIssuerFetch, type FetchLike } from '../safe-fetch.ts';

/** An authorization server's metadata. @see RFC 8414 section 2 */
export type IssuerMetadata = Partial<oauth.AuthorizationServer>;

/** Options for requests to an authorization server. */
export interface IssuerOptions {
  /** Sends the requests to the authorization server. @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Decides when tokens and cached responses expire. @default systemClock */
  readonly clock?: Clock | undefined;
}

/** Sends requests to one authorization server, whose metadata is fetched once. */
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
   * Gets the authorization server's metadata by RFC 8414, else by OpenID Connect. Its `issuer` must be equal to the requested one.
   *
   * @throws {AuthError} `ERR_TOKEN_SOURCE`: no metadata with that issuer was found.
   */
  async metadata(): Promise<oauth.AuthorizationServer> {
    return (this.#metadata ??= await this.#discover());
  }

  /** Creates the options of `oauth4webapi` for a request to `url`. Allows http only to this machine. */
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
        causes.push(new Error(`The metadata names another issuer: "${metadata.issuer}"`));
      } catch (error) {
        causes.push(error);
      }
    }
    throw new AuthError('ERR_TOKEN_SOURCE', `The issuer ${this.#issuer} publishes no metadata with exactly this "issuer"`, {
      cause: new AggregateError(causes),
    });
  }
}

/** Creates the error for a failed request to an issuer. The caller gets a 500. */
export function toSourceError(message: string, cause: unknown): AuthError {
  return cause instanceof AuthError && cause.code === 'ERR_TOKEN_SOURCE' ? cause : new AuthError('ERR_TOKEN_SOURCE', message, { cause });
}

/** Chooses how this server authenticates at the issuer: Basic, unless only a secret in the body is accepted. @see RFC 8414 section 2 */
export function authenticate(clientSecret: string, methods: readonly string[] | undefined): oauth.ClientAuth {
  const isPost = methods?.includes('client_secret_post') === true && !methods.includes('client_secret_basic');
  return isPost ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
}

/** Checks that an audience is given: without it, tokens for other servers would be accepted. @throws {TypeError} It is missing. */
export function checkAudience(audience: string | readonly string[] | undefined): void {
  if (audience !== undefined && audience.length > 0) return;
  throw new TypeError('The option "audience" is missing or empty: give the URL of this server, for which tokens are issued');
}

const MAX_ANSWERS = 1_000;

/** A cache of values that expire, with at most 1,000 entries. Beyond that, the oldest entry is dropped. */
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

  /** Stores a value for `maxAgeMs`. If the key still has a value, that one and its expiry stay. */
  set(key: string, value: V, maxAgeMs: number): void {
    if (this.get(key) !== undefined) return;
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= MAX_ANSWERS && oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(key, { value, expiresAtMs: this.#clock.now() + maxAgeMs });
  }
}
