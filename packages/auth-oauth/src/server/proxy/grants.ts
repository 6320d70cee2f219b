/**
 * What people have granted to clients, and the codes and tokens made from it. Codes and tokens are kept by their digests alone; ending a
 * grant ends all of them at once.
 */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import { digest, randomText } from '../digest.ts';
import { Signer } from '../signer.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { AuthorizationStore } from './authorization-store.ts';
import { OAuthRefusal } from './oauth-refusal.ts';
import type { ProxySettings } from './options.ts';
import { ResponseBodyError, type Upstream, type UpstreamTokens } from './upstream.ts';

/** One person's consent to one client. */
export interface Grant {
  readonly id: string;
  readonly clientId: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  /** The provider's tokens, sealed. */
  readonly upstream: string;
}

/** A code that was redeemed. */
export interface Redeemed {
  readonly grant: Grant;
  readonly redirectUri: string;
  readonly codeChallenge: string;
}

/** What a client is given. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly string[];
}

const CODE_MS = 60_000;
/** A provider token this near to its end is renewed first. */
const MARGIN_MS = 30_000;

export class GrantTable {
  readonly #settings: ProxySettings;
  readonly #store: AuthorizationStore;
  readonly #clock: Clock;
  readonly #signer: Signer;
  readonly #upstream: Upstream;
  /** One renewal a grant at a time: providers that rotate would take the second for theft. */
  readonly #renewals: Map<string, Promise<UpstreamTokens>> = new Map();

  constructor(settings: ProxySettings, upstream: Upstream) {
    this.#settings = settings;
    this.#store = settings.store;
    this.#clock = settings.clock;
    this.#signer = new Signer(settings.secret, 'upstream tokens');
    this.#upstream = upstream;
  }

  /** Keeps a new grant for as long as its code lasts. @returns The code. */
  async create(request: AuthorizationRequest, subject: string, tokens: UpstreamTokens): Promise<string> {
    const id = randomText();
    const grant = { id, clientId: request.clientId, subject, scopes: request.scopes, upstream: await this.#seal(id, tokens) };
    await this.#put(grant, CODE_MS * 2);
    const code = randomText();
    const { redirectUri, codeChallenge } = request;
    await this.#store.put(`code:${await digest(code)}`, { grantId: id, redirectUri, codeChallenge }, this.#clock.now() + CODE_MS);
    return code;
  }

  /** Uses a code, once. A second use ends what the first one gave, since one of the two was not the client. */
  async redeem(code: string): Promise<Redeemed> {
    const record = await this.#takeOnce('code', await digest(code));
    const { redirectUri, codeChallenge } = record as unknown as Redeemed;
    return { grant: await this.#find(record), redirectUri, codeChallenge };
  }

  /** Uses a refresh token, once; a second use ends the grant. */
  async rotate(refreshToken: string): Promise<Grant> {
    return this.#find(await this.#takeOnce('refresh', await digest(refreshToken)));
  }

  /** Which grant a refresh token belongs to, without using it. */
  async peek(refreshToken: string): Promise<Grant | undefined> {
    const record = await this.#store.get(`refresh:${await digest(refreshToken)}`);
    return record === undefined ? undefined : this.#get(String(record['grantId']));
  }

  /** Gives tokens for a grant. @param scopes Some of those granted. @throws {OAuthRefusal} `invalid_grant`: the provider has ended it. */
  async issue(grant: Grant, scopes: readonly string[]): Promise<IssuedTokens> {
    const { accessTokenMs, refreshTokenMs } = this.#settings;
    const { expiresAtMs, refreshToken: canRenew } = await this.#renew(grant);
    const restMs = expiresAtMs === undefined || canRenew !== undefined ? Infinity : expiresAtMs - this.#clock.now();
    const lifeMs = Math.min(accessTokenMs, restMs);
    const [accessToken, refreshToken] = [randomText(), randomText()];
    const now = this.#clock.now();
    await this.#put(await this.#find({ grantId: grant.id }), refreshTokenMs);
    const access = { grantId: grant.id, scopes: [...scopes], expiresAtMs: now + lifeMs };
    await this.#store.put(`access:${await digest(accessToken)}`, access, now + lifeMs);
    await this.#store.put(`refresh:${await digest(refreshToken)}`, { grantId: grant.id }, now + refreshTokenMs);
    return { accessToken, refreshToken, expiresInSeconds: Math.floor(lifeMs / 1000), scopes };
  }

  /** What an access token says; undefined for one that is over, or never was. */
  async findAccess(
    accessToken: string,
  ): Promise<{ readonly grant: Grant; readonly scopes: readonly string[]; readonly expiresAtMs: number } | undefined> {
    const record = await this.#store.get(`access:${await digest(accessToken)}`);
    const grant = record === undefined ? undefined : await this.#get(String(record['grantId']));
    const { scopes, expiresAtMs } = (record ?? {}) as unknown as { readonly scopes: readonly string[]; readonly expiresAtMs: number };
    return grant === undefined ? undefined : { grant, scopes, expiresAtMs };
  }

  /** The provider's access token, renewed where it is about to end. @throws {OAuthRefusal} `invalid_grant`: the provider has ended it. */
  async upstreamTokens(grant: Grant): Promise<UpstreamTokens> {
    return this.#renew(grant);
  }

  /** Ends a grant here, then at the provider, whose trouble is not ours. */
  async end(grant: Grant): Promise<void> {
    await this.#store.delete(`grant:${grant.id}`);
    const tokens = await this.#open(grant);
    const token = tokens?.refreshToken ?? tokens?.accessToken;
    if (token === undefined) return;
    await this.#upstream.revoke(token).catch((error: unknown) => {
      this.#settings.logger.log('warning', 'The provider did not revoke its tokens', { error: String(error) });
    });
  }

  #renew(grant: Grant): Promise<UpstreamTokens> {
    const running = this.#renewals.get(grant.id);
    if (running !== undefined) return running;
    const renewal = this.#renewNow(grant).finally(() => this.#renewals.delete(grant.id));
    this.#renewals.set(grant.id, renewal);
    return renewal;
  }

  async #renewNow({ id }: Grant): Promise<UpstreamTokens> {
    const grant = await this.#find({ grantId: id });
    const tokens = await this.#open(grant);
    if (tokens === undefined) throw new OAuthRefusal('invalid_grant', 'The sign-in cannot be read any more: sign in again');
    if (tokens.expiresAtMs === undefined || tokens.expiresAtMs - MARGIN_MS > this.#clock.now()) return tokens;
    if (tokens.refreshToken === undefined) {
      if (tokens.expiresAtMs > this.#clock.now()) return tokens;
      throw new OAuthRefusal('invalid_grant', 'The sign-in at the provider has ended: sign in again');
    }
    const fresh = await this.#askAgain(grant, tokens.refreshToken);
    await this.#put({ ...grant, upstream: await this.#seal(grant.id, fresh) }, this.#settings.refreshTokenMs);
    return fresh;
  }

  async #askAgain(grant: Grant, refreshToken: string): Promise<UpstreamTokens> {
    try {
      return await this.#upstream.refresh(refreshToken);
    } catch (error) {
      if (!(error instanceof ResponseBodyError) || isPassing(error)) throw error;
      await this.#store.delete(`grant:${grant.id}`);
      throw new OAuthRefusal('invalid_grant', 'The sign-in at the provider has ended: sign in again', 400, { cause: error });
    }
  }

  async #takeOnce(kind: 'code' | 'refresh', key: string): Promise<JsonObject> {
    const record = await this.#store.take(`${kind}:${key}`);
    if (record !== undefined) {
      await this.#store.put(`used:${key}`, { grantId: record['grantId'] ?? '' }, this.#clock.now() + this.#settings.refreshTokenMs);
      return record;
    }
    const used = await this.#store.get(`used:${key}`);
    const grant = used === undefined ? undefined : await this.#get(String(used['grantId']));
    if (grant !== undefined) {
      this.#settings.logger.log('warning', `A ${kind} was used twice: its grant is ended`, { clientId: grant.clientId });
      await this.end(grant);
    }
    throw new OAuthRefusal('invalid_grant', `The ${kind === 'code' ? 'code' : 'refresh token'} is not, or no longer, good`);
  }

  async #find(record: JsonObject): Promise<Grant> {
    const grant = await this.#get(String(record['grantId']));
    if (grant === undefined) throw new OAuthRefusal('invalid_grant', 'The grant has ended: sign in again');
    return grant;
  }

  async #get(id: string): Promise<Grant | undefined> {
    return (await this.#store.get(`grant:${id}`)) as unknown as Grant | undefined;
  }

  #put(grant: Grant, lifeMs: number): Promise<void> {
    return this.#store.put(`grant:${grant.id}`, { ...grant, scopes: [...grant.scopes] }, this.#clock.now() + lifeMs);
  }

  #seal(id: string, { accessToken, refreshToken, expiresAtMs }: UpstreamTokens): Promise<string> {
    return this.#signer.seal(JSON.stringify({ accessToken, refreshToken, expiresAtMs }), id);
  }

  async #open({ id, upstream }: Grant): Promise<UpstreamTokens | undefined> {
    const text = await this.#signer.open(upstream, id);
    return text === undefined ? undefined : (JSON.parse(text) as UpstreamTokens);
  }
}

/** A provider that is busy, or that does not know us just now, has not ended what a person granted. */
function isPassing({ status, error }: ResponseBodyError): boolean {
  return status === 429 || error === 'temporarily_unavailable' || error === 'invalid_client';
}
