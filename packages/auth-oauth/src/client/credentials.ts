/** A client's credentials and tokens. They are stored by issuer, so that those of one issuer are never used at another. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CredentialStore, LockingStore } from '@mortise/protocol/contracts';
import type { CryptoKey } from 'oauth4webapi';

/** How a client authenticates at the token endpoint. */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** A private key that signs the JWTs with which a client authenticates (`private_key_jwt`). */
export interface ClientKey {
  /** The private key. */
  readonly key: CryptoKey;
  /** The key id (`kid`) in the header of the signed JWTs. Needed if the authorization server knows several keys of the client. */
  readonly keyId?: string | undefined;
}

/** A client that is registered at an authorization server. Its credentials are used only at that server. */
export interface RegisteredClient {
  /** The `issuer` of the authorization server where the client is registered, exactly as in that server's metadata. */
  readonly issuer: string;
  /** The client's id at the issuer. */
  readonly clientId: string;
  /** The client's secret. @default none: a public client, or one with a `privateKey` */
  readonly clientSecret?: string | undefined;
  /** How the client authenticates at token endpoints. @default a method that the authorization server accepts; for a secret first Basic */
  readonly authMethod?: ClientAuthMethod | undefined;
  /** The client's private key, for the authentication method `private_key_jwt`. */
  readonly privateKey?: ClientKey | undefined;
}

/** A client that was registered dynamically. */
export interface Registration extends RegisteredClient {
  readonly redirectUrls: readonly string[];
  /** When the client's secret expires, in milliseconds since the epoch; undefined if never. */
  readonly expiresAtMs: number | undefined;
}

/** The tokens that one client got for one MCP server. */
export interface TokenSet {
  /** The validated `issuer` of the authorization server that issued the tokens. */
  readonly issuer: string;
  readonly accessToken: string;
  /** The scheme of the `Authorization` header that carries the access token. */
  readonly scheme: 'Bearer' | 'DPoP';
  readonly refreshToken?: string | undefined;
  /** When the access token expires, in milliseconds since the epoch; undefined if the authorization server sent no lifetime. */
  readonly expiresAtMs?: number | undefined;
  /** When to renew the access token: 10 s before it expires, or after half of a lifetime below 20 s. In milliseconds since the epoch. */
  readonly renewAtMs?: number | undefined;
  /** The granted scopes. If the authorization server did not send them, the requested ones. */
  readonly scopes: readonly string[];
  /** The requested scopes. A later request for more scopes (step-up) includes them again. */
  readonly requestedScopes: readonly string[];
  readonly clientId: string;
  /** The resource identifier of the MCP server, exactly as sent in token requests. */
  readonly resource: string;
}

/** A sign-in that has begun and waits until the user is redirected back. */
export interface PendingSignIn {
  readonly state: string;
  readonly verifier: string;
  /** The validated issuer of the authorization server. `iss` in the authorization response must be equal. */
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUrl: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly createdAtMs: number;
}

/** The time limit of a sign-in: one that takes longer must be started again. */
const PENDING_LIFETIME_MS = 15 * 60_000;
/** The maximum number of unfinished sign-ins per MCP server. A further one replaces the oldest. */
const MAX_PENDING = 10;

/** Reads and writes what a credential store holds for one MCP server: tokens, registrations and pending sign-ins. */
export class CredentialVault {
  readonly #store: CredentialStore & Partial<LockingStore>;
  /** The canonical URL of the MCP server. Records that belong to no issuer are stored under it. */
  readonly #server: string;

  constructor(store: CredentialStore, server: string) {
    this.#store = store;
    this.#server = server;
  }

  /** Runs one `fn` at a time across all processes that share the store. A store without `withLock` runs `fn` at once. */
  async alone<T>(fn: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#store.withLock === undefined ? await fn() : await this.#store.withLock(`oauth ${this.#server}`, fn, { signal });
  }

  /** Gets the tokens that were last stored for the MCP server. */
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

  /** Gets the dynamically registered client of an issuer. @returns undefined if there is none, or its secret has expired. */
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

  /** Gets the pending sign-in with this `state` and deletes it, so that it is used only once. */
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
