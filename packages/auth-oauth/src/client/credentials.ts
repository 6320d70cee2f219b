/** A client's credentials and tokens, and how they are kept: by issuer, so that nothing of one issuer is ever found under another. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CredentialStore, LockingStore } from '@mortise/protocol/contracts';
import type { CryptoKey } from 'oauth4webapi';

/** How a client authenticates at the token endpoint. */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** A private key to sign assertions with. */
export interface ClientKey {
  readonly key: CryptoKey;
  /** Sent in the header of assertions, for an authorization server that knows several keys. */
  readonly keyId?: string | undefined;
}

/** A client that an authorization server knows. Used at that server and nowhere else. */
export interface RegisteredClient {
  /** The authorization server that registered it, exactly as its metadata spells it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** How the client authenticates at token endpoints. @default what the authorization server accepts, `client_secret_basic` first */
  readonly authMethod?: ClientAuthMethod | undefined;
  /** For `private_key_jwt`. */
  readonly privateKey?: ClientKey | undefined;
}

/** A dynamic registration. */
export interface Registration extends RegisteredClient {
  readonly redirectUrls: readonly string[];
  /** When the secret ends; undefined for never. */
  readonly expiresAtMs: number | undefined;
}

/** Tokens of one client for one server. */
export interface TokenSet {
  /** Who issued them, validated. */
  readonly issuer: string;
  readonly accessToken: string;
  /** As it is sent. */
  readonly scheme: 'Bearer' | 'DPoP';
  readonly refreshToken?: string | undefined;
  /** Undefined if the authorization server did not say. */
  readonly expiresAtMs?: number | undefined;
  /** When to get the next one: shortly before its end, or halfway through a short life. */
  readonly renewAtMs?: number | undefined;
  /** What was granted, as far as is known. */
  readonly scopes: readonly string[];
  /** What was asked for: a step-up asks for these again. */
  readonly requestedScopes: readonly string[];
  readonly clientId: string;
  /** Exactly as it was sent. */
  readonly resource: string;
}

/** A sign-in whose answer is awaited. */
export interface PendingSignIn {
  readonly state: string;
  readonly verifier: string;
  /** The validated issuer: what `iss` must be. */
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUrl: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly createdAtMs: number;
}

/** A person who takes longer has to begin again. */
const PENDING_LIFETIME_MS = 15 * 60_000;
/** Of one server: the oldest sign-in that was not finished makes room for the next. */
const MAX_PENDING = 10;

/** What a store keeps about one server. */
export class CredentialVault {
  readonly #store: CredentialStore & Partial<LockingStore>;
  /** The server's canonical URL: the key of what is known before any issuer is. */
  readonly #server: string;

  constructor(store: CredentialStore, server: string) {
    this.#store = store;
    this.#server = server;
  }

  /** Runs alone among all processes that share the store, if the store can do that. */
  async alone<T>(fn: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#store.withLock === undefined ? await fn() : await this.#store.withLock(`oauth ${this.#server}`, fn, { signal });
  }

  /** The tokens that the server had last. */
  async tokens(): Promise<TokenSet | undefined> {
    const known = await this.#get<Pick<TokenSet, 'issuer' | 'resource'>>(this.#server, 'server');
    const tokens = known && (await this.#get<TokenSet>(known.issuer, `tokens ${known.resource}`));
    // Another program, or another version, may have written it.
    return typeof tokens?.accessToken === 'string' && tokens.issuer === known?.issuer ? tokens : undefined;
  }

  async saveTokens(tokens: TokenSet): Promise<void> {
    const { issuer, resource } = tokens;
    await this.#put(issuer, `tokens ${resource}`, tokens);
    await this.#put(this.#server, 'server', { issuer, resource });
  }

  async forgetTokens({ issuer, resource }: TokenSet): Promise<void> {
    await this.#store.delete(issuer, `tokens ${resource}`);
  }

  /** @returns undefined also for a registration whose secret has ended. */
  async registration(issuer: string, nowMs: number): Promise<Registration | undefined> {
    const found = await this.#get<Registration>(issuer, 'client');
    return found?.issuer === issuer && (found.expiresAtMs ?? Infinity) > nowMs ? found : undefined;
  }

  async saveRegistration(registration: Registration): Promise<void> {
    await this.#put(registration.issuer, 'client', registration);
  }

  async forgetRegistration(issuer: string): Promise<void> {
    await this.#store.delete(issuer, 'client');
  }

  async savePending(pending: PendingSignIn): Promise<void> {
    const others = (await this.#pendings()).filter(({ createdAtMs }) => pending.createdAtMs - createdAtMs <= PENDING_LIFETIME_MS);
    await this.#put(this.#server, 'sign-ins', { list: [...others, pending].slice(-MAX_PENDING) });
  }

  /** Gives a sign-in out once. */
  async takePending(state: string, nowMs: number): Promise<PendingSignIn | undefined> {
    const pendings = await this.#pendings();
    const pending = pendings.find((candidate) => candidate.state === state);
    if (!pending) return undefined;
    await this.#put(this.#server, 'sign-ins', { list: pendings.filter((other) => other !== pending) });
    return nowMs - pending.createdAtMs > PENDING_LIFETIME_MS ? undefined : pending;
  }

  async #pendings(): Promise<readonly PendingSignIn[]> {
    return (await this.#get<{ readonly list: readonly PendingSignIn[] }>(this.#server, 'sign-ins'))?.list ?? [];
  }

  async #get<T>(issuer: string, key: string): Promise<T | undefined> {
    return (await this.#store.get(issuer, key)) as T | undefined;
  }

  /** As JSON, without what is undefined. */
  async #put(issuer: string, key: string, value: object): Promise<void> {
    await this.#store.put(issuer, key, JSON.parse(JSON.stringify(value)) as JsonObject);
  }
}
