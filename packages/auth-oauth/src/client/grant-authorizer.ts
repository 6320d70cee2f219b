/**
 * The `Authorizer` that all flows share: discovery, refresh, requests for more scopes (step-up), one renewal at a time, limited attempts.
 *
 * A token is sent only to the origin of the server that it was issued for.
 */

import type { Clock } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { Challenge } from '@mortise/protocol/contracts';
import type { UrlPolicy } from '@mortise/protocol/edge';
import { AuthError, InsufficientScopeError } from '../errors.ts';
import { createSafeFetch, nameUrl, type SafeFetch } from '../safe-fetch.ts';
import { parseChallenges } from '../www-authenticate.ts';
import { type AuthorizerOptions, type OAuthAuthorizer, toServerUrl, toUrlPolicy } from './authorizer-options.ts';
import { CredentialVault, type PendingSignIn, type TokenSet } from './credentials.ts';
import { canonicalUri } from './discover.ts';
import { createDpopKey, type DpopKey } from './dpop.ts';
import { type Protection, ProtectionFinder } from './find-authorization.ts';
import { type Grant, type GrantCall, MAX_SCOPES, refreshTokens, revokeTokens, splitScopes } from './grant.ts';
import { MemoryCredentialStore } from './memory-credential-store.ts';
import { SharedRun } from './shared-run.ts';

type Headers = Readonly<Record<string, string>>;

/** How many times the same additional scopes are requested (a step-up), until `signIn` is called. */
const MAX_STEP_UPS = 2;
/** How many different sets of additional scopes are requested, so that a server cannot send its user to the browser endlessly. */
const MAX_SCOPE_SETS = 50;
const OFFLINE_ACCESS = 'offline_access';

/** The parameters of a server's `WWW-Authenticate` challenge: error, scopes and metadata URL. */
type Demand = ReturnType<typeof toDemand>;

export class GrantAuthorizer implements OAuthAuthorizer {
  protected readonly vault: CredentialVault;
  readonly #renewals: SharedRun = new SharedRun();
  readonly #server: URL;
  readonly #grant: Grant;
  readonly #options: AuthorizerOptions;
  readonly #clock: Clock;
  readonly #policy: UrlPolicy;
  readonly #fetchPeer: SafeFetch;
  readonly #finder: ProtectionFinder;
  /** Stores the tokens. In memory if they are bound to a DPoP key that only this process has. */
  readonly #tokenVault: CredentialVault;
  #dpop: Promise<DpopKey> | undefined;
  #loading: Promise<void> | undefined;
  #tokens: TokenSet | undefined;
  /** Where the tokens come from: the store, a refresh, or a new grant. Decides what to do if the server refuses them. */
  #origin: 'kept' | 'refreshed' | 'granted' = 'kept';
  #protection: Protection | undefined;
  /** The access token that the server refused right after the token was issued. */
  #rejectedToken: string | undefined;
  readonly #stepUps = new Map<string, number>();
  /** The `Authorization` value whose first attempt failed only for a missing DPoP nonce, which does not count as a refusal of the token. */
  #noncedFirst: string | undefined;

  constructor(server: string | URL, grant: Grant, options: AuthorizerOptions) {
    const { store = new MemoryCredentialStore(), dpop = false, fetch, timeoutMs, clock = systemClock } = options;
    this.#server = toServerUrl(server);
    this.#grant = grant;
    this.#options = options;
    this.#clock = clock;
    this.#policy = toUrlPolicy(this.#server, options.urls);
    this.#fetchPeer = createSafeFetch({ urls: this.#policy, fetch, timeoutMs, clock });
    const name = canonicalUri(this.#server);
    this.vault = new CredentialVault(store, name);
    this.#tokenVault = dpop === true ? new CredentialVault(new MemoryCredentialStore(), name) : this.vault;
    this.#finder = new ProtectionFinder(this.#server, this.#fetchPeer, options, grant.issuers);
  }

  async headers(
    request: { readonly method: string; readonly url: string },
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Headers> {
    if (!this.#isOurs(request.url)) return {};
    await (this.#loading ??= this.#load());
    if (this.#isEnding(this.#tokens)) await this.#renewEarly(options.signal);
    const tokens = this.#tokens;
    if (!tokens) return {};
    const authorization = `${tokens.scheme} ${tokens.accessToken}`;
    const key = tokens.scheme === 'DPoP' ? await this.#dpopKey() : undefined;
    return key ? { authorization, dpop: await key.prove(request, tokens.accessToken) } : { authorization };
  }

  async onChallenge(challenge: Challenge, { signal }: { readonly signal?: AbortSignal } = {}): Promise<'retry' | 'fail'> {
    const { status, url, attempt } = challenge;
    if (!this.#isOurs(url) || (status !== 401 && status !== 403)) return 'fail';
    const demand = toDemand(challenge);
    if (status === 401 && demand.error === 'use_dpop_nonce') return await this.#learnNonce(challenge);
    if (status === 403 && demand.error !== 'insufficient_scope') return 'fail';
    const used = challenge.given?.['authorization'];
    const tries = used !== undefined && used === this.#noncedFirst ? attempt - 1 : attempt;
    const isOutdated = (): boolean => used !== undefined && used !== this.#authorization();
    const key = status === 401 ? '401' : `403 ${demand.scopes.toSorted().join(' ')}`;
    await this.renewAlone(key, signal, async (shared) => {
      if (isOutdated() || (await this.#adoptKept())) return;
      if (status === 401) await this.#onUnauthorized(demand, tries, shared);
      else await this.#stepUp(demand, shared);
    });
    return 'retry';
  }

  async signIn({ scopes = [], signal }: { readonly scopes?: readonly string[]; readonly signal?: AbortSignal } = {}): Promise<void> {
    this.#stepUps.clear();
    this.#rejectedToken = undefined;
    await this.renewAlone(`sign-in ${scopes.join(' ')}`, signal, async (shared) => {
      await this.#adoptKept();
      const protection = await this.#find(undefined, shared);
      await this.#obtain(protection, this.#chooseScopes(protection, scopes), shared);
    });
  }

  async signOut({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.renewAlone('sign-out', signal, async (shared) => {
      const tokens = await this.#tokenVault.tokens();
      this.#tokens = undefined;
      if (!tokens) return;
      await this.#tokenVault.forgetTokens(tokens);
      await revokeTokens(this.#grant, await this.#callFor(tokens, shared), tokens);
    });
  }

  /** Continues a sign-in that an earlier call began, and stores its tokens. */
  protected async goOn(pending: PendingSignIn, signal: AbortSignal, obtain: (call: GrantCall) => Promise<TokenSet>): Promise<void> {
    await this.#keep(await obtain(await this.#callFor(pending, signal)), 'granted');
  }

  protected get nowMs(): number {
    return this.#clock.now();
  }

  #isOurs(url: string): boolean {
    return URL.canParse(url) && new URL(url).origin === this.#server.origin;
  }

  #authorization(): string | undefined {
    return this.#tokens && `${this.#tokens.scheme} ${this.#tokens.accessToken}`;
  }

  #isEnding(tokens: TokenSet | undefined): boolean {
    return tokens?.renewAtMs !== undefined && tokens.renewAtMs <= this.#clock.now();
  }

  async #dpopKey(): Promise<DpopKey | undefined> {
    const { dpop = false } = this.#options;
    if (dpop === false) return undefined;
    return await (this.#dpop ??= createDpopKey(dpop));
  }

  async #load(): Promise<void> {
    try {
      await this.#adoptKept();
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }

  /** Runs one renewal of tokens at a time, in this object and all processes that share the store. Calls with the same `key` share it. */
  protected async renewAlone(key: string, signal: AbortSignal | undefined, renew: (signal: AbortSignal) => Promise<void>): Promise<void> {
    await this.#renewals.join(key, signal, async (shared) => await this.vault.alone(async () => await renew(shared), shared));
  }

  /** Takes the tokens from the store if they differ from the current ones. @returns Whether there are now other tokens to try. */
  async #adoptKept(): Promise<boolean> {
    const kept = await this.#tokenVault.tokens();
    const wantsDpop = (this.#options.dpop ?? false) !== false;
    if (!kept || kept.accessToken === this.#tokens?.accessToken || (kept.scheme === 'DPoP') !== wantsDpop) return false;
    if (!this.#grant.isOurs(kept.issuer, kept.clientId)) return false;
    this.#tokens = kept;
    this.#origin = 'kept';
    return !this.#isEnding(kept);
  }

  async #learnNonce(challenge: Challenge): Promise<'retry' | 'fail'> {
    const key = await this.#dpopKey();
    const nonce = challenge.header('dpop-nonce');
    if (!key || nonce === undefined || challenge.attempt > 2) return 'fail';
    await key.learnNonce(challenge.url, nonce);
    if (challenge.attempt === 1) this.#noncedFirst = challenge.given?.['authorization'];
    return 'retry';
  }

  async #find(challenged: string | undefined, signal: AbortSignal): Promise<Protection> {
    return (this.#protection = await this.#finder.find(challenged, signal));
  }

  /** Refreshes or gets tokens after a 401. @throws {AuthError} `ERR_TOKEN_REJECTED`: the server refused a token that was just issued. */
  async #onUnauthorized(demand: Demand, tries: number, signal: AbortSignal): Promise<void> {
    const refused = this.#tokens;
    const wasNew = tries > 1 && this.#origin === 'granted';
    const protection = await this.#find(demand.resourceMetadata, signal);
    const isSame = refused?.issuer === protection.as.issuer && refused.resource === protection.resource;
    // This also holds if the server names another issuer now: else it could send its user from one issuer to the next.
    if (refused && (wasNew || (isSame && refused.accessToken === this.#rejectedToken))) {
      this.#rejectedToken = refused.accessToken;
      throw new AuthError(
        'ERR_TOKEN_REJECTED',
        `${nameUrl(this.#server)} refuses the token that ${nameUrl(refused.issuer)} has just issued for it: call signIn to get another`,
      );
    }
    const wasRefreshed = tries > 1 && this.#origin === 'refreshed';
    if (refused && isSame && !wasRefreshed && (await this.#refresh(refused, signal))) return;
    await this.#obtain(protection, this.#chooseScopes(protection, [], demand.scopes), signal);
  }

  /** Requests more scopes after a 403. @throws {InsufficientScopeError} The scopes were already requested without success. */
  async #stepUp(demand: Demand, signal: AbortSignal): Promise<void> {
    const protection = await this.#find(demand.resourceMetadata, signal);
    const wanted = demand.scopes.length > 0 ? demand.scopes : (protection.scopesSupported ?? []);
    const key = wanted.toSorted().join(' ');
    const count = this.#stepUps.get(key) ?? 0;
    const isEnough = count >= MAX_STEP_UPS || (count === 0 && this.#stepUps.size >= MAX_SCOPE_SETS);
    if (wanted.length === 0 || isEnough) throw new InsufficientScopeError(wanted);
    this.#stepUps.set(key, count + 1);
    await this.#obtain(protection, this.#chooseScopes(protection, [], wanted), signal);
  }

  /**
   * Chooses the scopes to request: those of the server's challenge, else all in its metadata, else none; plus those requested before.
   *
   * @see 2026-07-28 basic/authorization#scope-selection-strategy, #step-up-authorization-flow
   */
  #chooseScopes({ as, scopesSupported }: Protection, more: readonly string[], challenged: readonly string[] = []): readonly string[] {
    const before = this.#tokens?.issuer === as.issuer ? this.#tokens.requestedScopes : [];
    const wanted = challenged.length > 0 ? challenged : (scopesSupported ?? []);
    const ours = new Set([...wanted, ...(this.#options.scopes ?? []), ...more]);
    // Above the limit, the oldest requested scopes are dropped.
    const others = before.filter((scope) => !ours.has(scope));
    const dropped = new Set(others.slice(0, Math.max(0, others.length + ours.size - MAX_SCOPES)));
    const scopes = new Set([...before.filter((scope) => !dropped.has(scope)), ...ours]);
    scopes.delete(OFFLINE_ACCESS);
    const isOffered = this.#grant.asksPerson && Array.isArray(as.scopes_supported) && as.scopes_supported.includes(OFFLINE_ACCESS);
    // `offline_access` is never requested alone: then no other scope would be granted. Without any, the server chooses the scopes.
    if (isOffered && scopes.size > 0) scopes.add(OFFLINE_ACCESS);
    return [...scopes];
  }

  async #obtain(protection: Protection, scopes: readonly string[], signal: AbortSignal): Promise<void> {
    const call = await this.#toCall(protection, signal);
    try {
      await this.#keep(await this.#grant.obtain(call, scopes), 'granted');
    } catch (error) {
      const isUnknown = error instanceof AuthError && error.code === 'ERR_TOKEN_REQUEST' && error.error === 'invalid_client';
      if (!isUnknown || !(await this.#grant.forgetClient(call))) throw error;
      await this.#keep(await this.#grant.obtain(call, scopes), 'granted');
    }
  }

  /** Renews tokens with the refresh token. @returns Whether there are new tokens. If not, the refresh token is dropped. */
  async #refresh(tokens: TokenSet, signal: AbortSignal): Promise<boolean> {
    if (tokens.refreshToken === undefined) return false;
    const renewed = await refreshTokens(this.#grant, await this.#callFor(tokens, signal), tokens);
    await this.#keep(renewed ?? { ...tokens, refreshToken: undefined }, 'refreshed');
    return renewed !== undefined;
  }

  /** Renews the access token shortly before it expires, if that works without the user. */
  async #renewEarly(signal: AbortSignal | undefined): Promise<void> {
    const canObtain = !this.#grant.asksPerson && this.#protection !== undefined;
    if (this.#tokens?.refreshToken === undefined && !canObtain) return;
    await this.renewAlone('early', signal, async (shared) => {
      const tokens = (await this.#adoptKept()) ? undefined : this.#tokens;
      if (!tokens || !this.#isEnding(tokens)) return;
      try {
        if (await this.#refresh(tokens, shared)) return;
        if (!this.#grant.asksPerson && this.#protection) await this.#obtain(this.#protection, tokens.requestedScopes, shared);
      } catch (error) {
        // A token that has not expired yet may still be used.
        const endMs = this.#tokens?.expiresAtMs;
        if (endMs !== undefined && endMs <= this.#clock.now()) throw error;
      }
    });
  }

  async #keep(tokens: TokenSet, origin: 'refreshed' | 'granted'): Promise<void> {
    this.#tokens = tokens;
    this.#origin = origin;
    this.#loading ??= Promise.resolve();
    await this.#tokenVault.saveTokens(tokens);
  }

  /** Creates the `GrantCall` (the input of a flow) for existing tokens or a pending sign-in. */
  async #callFor({ issuer, resource }: Pick<TokenSet, 'issuer' | 'resource'>, signal: AbortSignal): Promise<GrantCall> {
    return await this.#toCall({ as: await this.#finder.findIssuer(issuer, signal), resource }, signal);
  }

  async #toCall({ as, resource }: Pick<Protection, 'as' | 'resource'>, signal: AbortSignal): Promise<GrantCall> {
    return {
      as,
      resource,
      vault: this.vault,
      fetchPeer: this.#fetchPeer,
      policy: this.#policy,
      dpop: await this.#dpopKey(),
      nowMs: this.#clock.now(),
      signal,
    };
  }
}

/** Reads the `WWW-Authenticate` parameters of a 401 or 403. Of several challenges, the first that has a parameter counts for it. */
function toDemand(challenge: Challenge) {
  const challenges = parseChallenges(challenge.header('www-authenticate')).filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop');
  const find = (name: string): string | undefined => challenges.map(({ params }) => params.get(name)).find((value) => value !== undefined);
  return { error: find('error'), scopes: splitScopes(find('scope')), resourceMetadata: find('resource_metadata') };
}
