/**
 * The `Authorizer` that every flow shares: discovery, one renewal at a time, refresh, step-up, and an end to every loop.
 *
 * A token goes to the origin of the server that it was made for and nowhere else.
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

/** Asked for again this often for one set of scopes, then not until `signIn`. */
const MAX_STEP_UPS = 2;
/** For so many sets of scopes: a server that names new ones without end does not send its user to the browser without end. */
const MAX_SCOPE_SETS = 50;
const OFFLINE_ACCESS = 'offline_access';

/** What a server wants when it refuses a request. */
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
  /** Where tokens are kept: tokens bound to a key that only this process has are of no use elsewhere. */
  readonly #tokenVault: CredentialVault;
  #dpop: Promise<DpopKey> | undefined;
  #loading: Promise<void> | undefined;
  #tokens: TokenSet | undefined;
  /** Where the tokens came from: what a refusal of them means depends on it. */
  #origin: 'kept' | 'refreshed' | 'granted' = 'kept';
  #protection: Protection | undefined;
  /** The token that the server refused when it was new. */
  #rejectedToken: string | undefined;
  readonly #stepUps = new Map<string, number>();
  /** What a call was sent with first when nothing but its nonce was refused: at its second attempt it is not new. */
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

  /** Goes on with a flow whose answer came by another way. */
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

  /** One renewal at a time, in this object and among all that share the store. */
  protected async renewAlone(key: string, signal: AbortSignal | undefined, renew: (signal: AbortSignal) => Promise<void>): Promise<void> {
    await this.#renewals.join(key, signal, async (shared) => await this.vault.alone(async () => await renew(shared), shared));
  }

  /** Takes over tokens that are kept and are not those in use. @returns Whether they are worth a try. */
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

  /** @throws {AuthError} `ERR_TOKEN_REJECTED`: another token would be refused as well. */
  async #onUnauthorized(demand: Demand, tries: number, signal: AbortSignal): Promise<void> {
    const refused = this.#tokens;
    const wasNew = tries > 1 && this.#origin === 'granted';
    const protection = await this.#find(demand.resourceMetadata, signal);
    const isSame = refused?.issuer === protection.as.issuer && refused.resource === protection.resource;
    // Within one call this holds whatever issuer the server names next: else it could send its user from one to another.
    if (refused && (wasNew || (isSame && refused.accessToken === this.#rejectedToken))) {
      this.#rejectedToken = refused.accessToken;
      throw new AuthError(
        'ERR_TOKEN_REJECTED',
        `${nameUrl(this.#server)} refuses the token that ${nameUrl(refused.issuer)} has just issued for it: call signIn to try another`,
      );
    }
    const wasRefreshed = tries > 1 && this.#origin === 'refreshed';
    if (refused && isSame && !wasRefreshed && (await this.#refresh(refused, signal))) return;
    await this.#obtain(protection, this.#chooseScopes(protection, [], demand.scopes), signal);
  }

  /** @throws {InsufficientScopeError} Asking again brought nothing. */
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
   * What to ask for: the server's challenge, else all that its metadata lists, else nothing; with what was asked for before.
   *
   * @see 2026-07-28 basic/authorization#scope-selection-strategy, #step-up-authorization-flow
   */
  #chooseScopes({ as, scopesSupported }: Protection, more: readonly string[], challenged: readonly string[] = []): readonly string[] {
    const before = this.#tokens?.issuer === as.issuer ? this.#tokens.requestedScopes : [];
    const wanted = challenged.length > 0 ? challenged : (scopesSupported ?? []);
    const ours = new Set([...wanted, ...(this.#options.scopes ?? []), ...more]);
    // What was asked for long ago makes room for what is wanted now.
    const others = before.filter((scope) => !ours.has(scope));
    const dropped = new Set(others.slice(0, Math.max(0, others.length + ours.size - MAX_SCOPES)));
    const scopes = new Set([...before.filter((scope) => !dropped.has(scope)), ...ours]);
    scopes.delete(OFFLINE_ACCESS);
    const isOffered = this.#grant.asksPerson && Array.isArray(as.scopes_supported) && as.scopes_supported.includes(OFFLINE_ACCESS);
    // Alone it would stand for no other scope, where leaving the parameter out stands for the server's own choice.
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

  /** @returns Whether there are new tokens; where not, the old refresh token is forgotten. */
  async #refresh(tokens: TokenSet, signal: AbortSignal): Promise<boolean> {
    if (tokens.refreshToken === undefined) return false;
    const renewed = await refreshTokens(this.#grant, await this.#callFor(tokens, signal), tokens);
    await this.#keep(renewed ?? { ...tokens, refreshToken: undefined }, 'refreshed');
    return renewed !== undefined;
  }

  /** Renews a token that is about to end, where that needs no person. */
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
        // What is still good for a moment may be used; the server says when it is not.
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

  /** A call about tokens, or a sign-in, of before. */
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

/** Of several challenges for tokens, each parameter from the first that has it. */
function toDemand(challenge: Challenge) {
  const challenges = parseChallenges(challenge.header('www-authenticate')).filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop');
  const find = (name: string): string | undefined => challenges.map(({ params }) => params.get(name)).find((value) => value !== undefined);
  return { error: find('error'), scopes: splitScopes(find('scope')), resourceMetadata: find('resource_metadata') };
}
