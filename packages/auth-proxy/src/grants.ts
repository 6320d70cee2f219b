/**
 * The grants of users to clients, and the authorization codes and tokens of each grant. Ending a grant makes all of them invalid.
 *
 * Codes and tokens are encrypted and name their grant. A code or refresh token is valid while the digest of it is stored; one of ours that
 * is not was used before. Access tokens are not stored: a client that asks for many must not push out those of others.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { ResponseBodyError } from 'oauth4webapi';
import type { AuthorizationRequest } from './authorization-request.ts';
import { OAuthRefusal } from './errors.ts';
import type { ProxySettings } from './options.ts';
import { digest, randomText } from './secrets.ts';
import type { Upstream, UpstreamTokens } from './upstream.ts';

/** How long an access token of the proxy is valid, in milliseconds. */
const ACCESS_TOKEN_MS = 15 * 60_000;

/** One user's consent to one client. */
export interface Grant {
  readonly id: string;
  readonly clientId: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  /** The provider's tokens, encrypted. */
  readonly upstream: string;
}

/** The grant, scopes and expiry of an access token. */
export interface Access {
  readonly grant: Grant;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number;
}

type TokenKind = 'code' | 'refresh' | 'access';

const CODE_MS = 60_000;
/** A provider's access token that expires within this time is renewed before it is used. */
const MARGIN_MS = 30_000;

export class GrantTable {
  readonly #settings: ProxySettings;
  readonly #upstream: Upstream;
  /** The running renewal of provider tokens, by grant. To providers that rotate refresh tokens, a second one would look like theft. */
  readonly #renewals: Map<string, Promise<UpstreamTokens>> = new Map();

  constructor(settings: ProxySettings, upstream: Upstream) {
    this.#settings = settings;
    this.#upstream = upstream;
  }

  /** Stores a new grant for two minutes, until tokens are issued for it. @returns The authorization code. */
  async create(request: AuthorizationRequest, subject: string, tokens: UpstreamTokens): Promise<string> {
    const id = randomText();
    const { clientId, scopes, redirectUri, codeChallenge } = request;
    await this.#put('grant', id, { id, clientId, subject, scopes: [...scopes], upstream: await this.#seal(id, tokens) }, CODE_MS * 2);
    const code = await this.#createToken('code', { grantId: id }, this.#settings.grantMs);
    await this.#put('code', await digest(code), { grantId: id, redirectUri, codeChallenge }, CODE_MS);
    return code;
  }

  /** Redeems an authorization code, once. A second use ends the grant, because one of the two callers was not the client. */
  async redeem(code: string): Promise<Pick<AuthorizationRequest, 'redirectUri' | 'codeChallenge'> & { readonly grant: Grant }> {
    const record = await this.#takeOnce('code', code);
    const { redirectUri, codeChallenge } = record as unknown as AuthorizationRequest;
    return { grant: await this.#find(record['grantId']), redirectUri, codeChallenge };
  }

  /** Redeems a refresh token of the proxy, once. A second use ends the grant. */
  async rotate(refreshToken: string): Promise<Grant> {
    return await this.#find((await this.#takeOnce('refresh', refreshToken))['grantId']);
  }

  /** Finds the grant of a refresh token without redeeming it. */
  async peek(refreshToken: string): Promise<Grant | undefined> {
    const record = await this.#settings.store.get(`refresh:${await digest(refreshToken)}`);
    return record && (await this.#get(record['grantId']));
  }

  /**
   * Issues tokens for a grant.
   *
   * @param scopes All or some of the granted scopes.
   * @returns The response body of the token endpoint. @see RFC 6749 section 5.1
   * @throws {OAuthRefusal} `invalid_grant`: the provider has ended the grant.
   */
  async issue(grant: Grant, scopes: readonly string[]): Promise<JsonObject> {
    const { grantMs, clock } = this.#settings;
    const { expiresAtMs, refreshToken: canRenew } = await this.upstreamTokens(grant);
    const restMs = expiresAtMs === undefined || canRenew !== undefined ? Infinity : expiresAtMs - clock.now();
    const lifeMs = Math.min(ACCESS_TOKEN_MS, restMs);
    await this.#put('grant', grant.id, toRecord(await this.#find(grant.id)), grantMs);
    const access = { grantId: grant.id, scopes: [...scopes], expiresAtMs: clock.now() + lifeMs };
    const accessToken = await this.#createToken('access', access, lifeMs);
    const refreshToken = await this.#createToken('refresh', { grantId: grant.id }, grantMs);
    await this.#put('refresh', await digest(refreshToken), { grantId: grant.id }, grantMs);
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: Math.floor(lifeMs / 1000),
      refresh_token: refreshToken,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    };
  }

  /** Finds what an access token of the proxy gives access to. @returns undefined if the token is unknown or expired. */
  async findAccess(accessToken: string): Promise<Access | undefined> {
    const record = await this.#openToken('access', accessToken);
    const grant = record && (await this.#get(record['grantId']));
    if (grant === undefined) return undefined;
    const { scopes, expiresAtMs } = record as unknown as Access;
    return { grant, scopes, expiresAtMs };
  }

  /** Gets the provider's tokens, and renews them if they are about to expire. @throws {OAuthRefusal} `invalid_grant`: the grant has ended. */
  async upstreamTokens({ id }: Grant): Promise<UpstreamTokens> {
    const running = this.#renewals.get(id);
    if (running !== undefined) return await running;
    const renewal = this.#renew(id).finally(() => this.#renewals.delete(id));
    this.#renewals.set(id, renewal);
    return await renewal;
  }

  /** Ends a grant at the proxy, then at the provider. An error of the provider is only logged. */
  async end(grant: Grant): Promise<void> {
    await this.#settings.store.delete(`grant:${grant.id}`);
    const tokens = await this.#open(grant);
    const token = tokens?.refreshToken ?? tokens?.accessToken;
    if (token === undefined) return;
    await this.#upstream.revoke(token).catch((error: unknown) => {
      this.#settings.logger.log('warning', 'The provider did not revoke its tokens', { error: String(error) });
    });
  }

  async #renew(id: string): Promise<UpstreamTokens> {
    const { clock, grantMs } = this.#settings;
    const grant = await this.#find(id);
    const tokens = await this.#open(grant);
    if (tokens === undefined) throw new OAuthRefusal('invalid_grant', 'The sign-in is encrypted with another "secret": sign in again');
    if (tokens.expiresAtMs === undefined || tokens.expiresAtMs - MARGIN_MS > clock.now()) return tokens;
    if (tokens.refreshToken === undefined) {
      if (tokens.expiresAtMs > clock.now()) return tokens;
      throw new OAuthRefusal('invalid_grant', 'The sign-in at the provider has ended: sign in again');
    }
    const fresh = await this.#refresh(grant, tokens.refreshToken);
    await this.#put('grant', id, toRecord({ ...grant, upstream: await this.#seal(id, fresh) }), grantMs);
    return fresh;
  }

  async #refresh(grant: Grant, refreshToken: string): Promise<UpstreamTokens> {
    try {
      return await this.#upstream.refresh(refreshToken);
    } catch (cause) {
      if (!(cause instanceof ResponseBodyError) || isPassing(cause)) throw cause;
      await this.#settings.store.delete(`grant:${grant.id}`);
      throw new OAuthRefusal('invalid_grant', 'The sign-in at the provider has ended: sign in again', { cause });
    }
  }

  async #takeOnce(kind: 'code' | 'refresh', secret: string): Promise<JsonObject> {
    const { store, logger } = this.#settings;
    const record = await store.take(`${kind}:${await digest(secret)}`);
    if (record !== undefined) return record;
    const name = kind === 'code' ? 'code' : 'refresh token';
    const known = await this.#openToken(kind, secret);
    const grant = known && (await this.#get(known['grantId']));
    if (grant !== undefined) {
      logger.log('warning', `A ${name} was used twice, or too late: its grant was ended`, { clientId: grant.clientId });
      await this.end(grant);
    }
    throw new OAuthRefusal('invalid_grant', `The ${name} is unknown, used or expired`);
  }

  #createToken(kind: TokenKind, value: JsonObject, lifeMs: number): Promise<string> {
    return this.#settings.sealer.seal(`${kind} at ${this.#settings.issuer}`, value, lifeMs);
  }

  #openToken(kind: TokenKind, token: string): Promise<JsonObject | undefined> {
    return this.#settings.sealer.open(`${kind} at ${this.#settings.issuer}`, token);
  }

  async #find(id: unknown): Promise<Grant> {
    const grant = await this.#get(id);
    if (grant === undefined) throw new OAuthRefusal('invalid_grant', 'The grant has ended: sign in again');
    return grant;
  }

  async #get(id: unknown): Promise<Grant | undefined> {
    return (await this.#settings.store.get(`grant:${String(id)}`)) as unknown as Grant | undefined;
  }

  #put(kind: string, id: string, record: JsonObject, lifeMs: number): Promise<void> {
    return this.#settings.store.put(`${kind}:${id}`, record, this.#settings.clock.now() + lifeMs);
  }

  #seal(id: string, { accessToken, refreshToken, expiresAtMs }: UpstreamTokens): Promise<string> {
    const tokens = {
      accessToken,
      ...(refreshToken === undefined ? {} : { refreshToken }),
      ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    };
    return this.#settings.sealer.seal(`grant ${id}`, tokens);
  }

  async #open({ id, upstream }: Grant): Promise<UpstreamTokens | undefined> {
    return (await this.#settings.sealer.open(`grant ${id}`, upstream)) as unknown as UpstreamTokens | undefined;
  }
}

function toRecord(grant: Grant): JsonObject {
  return { ...grant, scopes: [...grant.scopes] };
}

/** Tells whether a provider's error is temporary, so that the grant stays: it is busy, or does not accept the proxy's credentials now. */
function isPassing({ status, error }: ResponseBodyError): boolean {
  return status === 429 || error === 'temporarily_unavailable' || error === 'invalid_client';
}
