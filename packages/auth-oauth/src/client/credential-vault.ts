/** What is kept about one server, by issuer: nothing of one issuer is ever found under another. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CredentialStore, LockingStore } from '@mortise/protocol/contracts';
import { isStrings, type RegisteredClient, toJson, type TokenSet, toTokenSet } from './credentials.ts';

/** A dynamic registration, as it is kept. */
export interface Registration extends RegisteredClient {
  readonly redirectUrls: readonly string[];
  /** When the secret ends; undefined for never. */
  readonly expiresAtMs: number | undefined;
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

/** Which issuer a server had last. */
export interface KnownServer {
  readonly issuer: string;
  readonly resource: string;
}

/** A person who takes longer has to begin again. */
const PENDING_LIFETIME_MS = 15 * 60_000;
/** Of one server: what nobody comes back to makes room for the next. */
const MAX_PENDING = 10;

export class CredentialVault {
  readonly #store: CredentialStore & Partial<LockingStore>;
  /** The server's canonical URL: the key of what is known before any issuer is. */
  readonly #server: string;

  constructor(store: CredentialStore, server: string) {
    this.#store = store;
    this.#server = server;
  }

  /** Runs alone among all processes that share the store, where the store can do that. */
  async alone<T>(fn: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (typeof this.#store.withLock !== 'function') return await fn();
    return await this.#store.withLock(`oauth ${this.#server}`, fn, signal ? { signal } : {});
  }

  async knownServer(): Promise<KnownServer | undefined> {
    const { issuer, resource } = (await this.#store.get(this.#server, 'server')) ?? {};
    return typeof issuer === 'string' && typeof resource === 'string' ? { issuer, resource } : undefined;
  }

  async tokens({ issuer, resource }: KnownServer): Promise<TokenSet | undefined> {
    return toTokenSet(await this.#store.get(issuer, `tokens ${resource}`));
  }

  async saveTokens(issuer: string, tokens: TokenSet): Promise<void> {
    await this.#store.put(issuer, `tokens ${tokens.resource}`, toJson(tokens));
    await this.#store.put(this.#server, 'server', { issuer, resource: tokens.resource });
  }

  async forgetTokens({ issuer, resource }: KnownServer): Promise<void> {
    await this.#store.delete(issuer, `tokens ${resource}`);
  }

  /** @param nowMs A registration whose secret has ended is none. */
  async registration(issuer: string, nowMs: number): Promise<Registration | undefined> {
    const found = toRegistration(issuer, await this.#store.get(issuer, 'client'));
    return found?.expiresAtMs !== undefined && found.expiresAtMs <= nowMs ? undefined : found;
  }

  async saveRegistration(registration: Registration): Promise<void> {
    await this.#store.put(registration.issuer, 'client', toJson(registration));
  }

  async forgetRegistration(issuer: string): Promise<void> {
    await this.#store.delete(issuer, 'client');
  }

  async savePending(pending: PendingSignIn): Promise<void> {
    const others = (await this.#pendings()).filter(({ createdAtMs }) => pending.createdAtMs - createdAtMs <= PENDING_LIFETIME_MS);
    await this.#putPendings([...others, pending].slice(-MAX_PENDING));
  }

  /** Gives a sign-in out once. */
  async takePending(state: string, nowMs: number): Promise<PendingSignIn | undefined> {
    const pendings = await this.#pendings();
    const pending = pendings.find((candidate) => candidate.state === state);
    if (!pending) return undefined;
    await this.#putPendings(pendings.filter((other) => other !== pending));
    return nowMs - pending.createdAtMs > PENDING_LIFETIME_MS ? undefined : pending;
  }

  async #pendings(): Promise<readonly PendingSignIn[]> {
    const { list } = (await this.#store.get(this.#server, 'sign-ins')) ?? {};
    return Array.isArray(list) ? list.flatMap((value) => toPending(value as JsonObject) ?? []) : [];
  }

  async #putPendings(list: readonly PendingSignIn[]): Promise<void> {
    if (list.length === 0) await this.#store.delete(this.#server, 'sign-ins');
    else await this.#store.put(this.#server, 'sign-ins', toJson({ list }));
  }
}

function toRegistration(issuer: string, value: JsonObject | undefined): Registration | undefined {
  if (!value) return undefined;
  const { clientId, clientSecret, authMethod, redirectUrls, expiresAtMs } = value;
  if (value['issuer'] !== issuer || typeof clientId !== 'string' || !isStrings(redirectUrls)) return undefined;
  return {
    issuer,
    clientId,
    clientSecret: typeof clientSecret === 'string' ? clientSecret : undefined,
    authMethod:
      authMethod === 'none' || authMethod === 'client_secret_basic' || authMethod === 'client_secret_post' ? authMethod : undefined,
    redirectUrls,
    expiresAtMs: typeof expiresAtMs === 'number' ? expiresAtMs : undefined,
  };
}

function toPending(value: JsonObject | null): PendingSignIn | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { state, verifier, issuer, clientId, redirectUrl, resource, scopes, createdAtMs } = value;
  const texts = [state, verifier, issuer, clientId, redirectUrl, resource];
  if (!isStrings(texts) || !isStrings(scopes) || typeof createdAtMs !== 'number') return undefined;
  return value as unknown as PendingSignIn;
}
