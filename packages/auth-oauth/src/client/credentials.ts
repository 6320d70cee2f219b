/** A client's credentials and tokens. They are stored by issuer, so that those of one issuer are never used at another. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CredentialStore, LockingStore } from '@mortise/protocol/contracts';
import type { CryptoKey } from 'oauth4webapi';

/** How a client authenticates at the token endpoint. */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** A private key for signing assertions. */
export interface ClientKey {
  readonly key: CryptoKey;
  /** The key id (`kid`) in the header of assertions. Needed if the authorization server knows several keys. */
  readonly keyId?: string | undefined;
}

/** A client that is registered at an authorization server. Used only at that server. */
export interface RegisteredClient {
  /** The authorization server of the client, exactly as its metadata writes it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** How the client authenticates at token endpoints. @default a method that the authorization server accepts, with a secret Basic first */
  readonly authMethod?: ClientAuthMethod | undefined;
  /** The key for `private_key_jwt`. */
  readonly privateKey?: ClientKey | undefined;
}

/** A dynamic registration. */
export interface Registration extends RegisteredClient {
  readonly redirectUrls: readonly string[];
  /** When the secret expires; undefined if never. */
  readonly expiresAtMs: number | undefined;
}

/** The tokens of one client for one server. */
export interface TokenSet {
  /** The validated issuer of the tokens. */
  readonly issuer: string;
  readonly accessToken: string;
  /** The scheme of the `Authorization` header. */
  readonly scheme: 'Bearer' | 'DPoP';
  readonly refreshToken?: string | undefined;
  /** Undefined if the authorization server sent no lifetime. */
  readonly expiresAtMs?: number | undefined;
  /** When to renew the token: shortly before it expires, or at half of a short lifetime. */
  readonly renewAtMs?: number | undefined;
  /** The granted scopes, as far as known. */
  readonly scopes: readonly string[];
  /** The requested scopes. A step-up requests them again. */
  readonly requestedScopes: readonly string[];
  readonly clientId: string;
  /** The resource identifier, exactly as sent. */
  readonly resource: string;
}

/** A sign-in that waits for the redirect back. */
export interface PendingSignIn {
  readonly state: string;
  readonly verifier: string;
  /** The validated issuer. `iss` in the response must be equal. */
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUrl: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly createdAtMs: number;
}

/** A sign-in that takes longer must be started again. */
const PENDING_LIFETIME_MS = 15 * 60_000;
/** The maximum number of unfinished sign-ins per server. The oldest is dropped for a new one. */
const MAX_PENDING = 10;

/** The records of one server in a credential store. */
export class CredentialVault {
  readonly #store: CredentialStore & Partial<LockingStore>;
  /** The server's canonical URL: the key for records that belong to no issuer. */
  readonly #server: string;

  constructor(store: CredentialStore, server: string) {
    this.#store = store;
    this.#server = server;
  }

  /** Runs `fn` under the store's lock, across all processes that share the store. Without a lock if the store has none. */
  async alone<T>(fn: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#store.withLock === undefined ? await fn() : await this.#store.withLock(`oauth ${this.#server}`, fn, { signal });
  }

  /** Gets the latest tokens for the server. */
  async tokens(): Promise<TokenSet | undefined> {
    const known = await this.#get<Pick<TokenSet, 'issuer' | 'resource'>>(this.#server, 'server');
    const tokens = known && (await this.#get<TokenSet>(known.issuer, `tokens ${known.resource}`));
    // Another program or version may have written the record.
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

  /** @returns undefined if there is no registration, or its secret has expired. */
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

  /** Gets a pending sign-in and deletes it, so that it is used only once. */
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

  /** Stores a value as JSON, which drops undefined members. */
  async #put(issuer: string, key: string, value: object): Promise<void> {
    await this.#store.put(issuer, key, JSON.parse(JSON.stringify(value)) as JsonObject);
  }
}
