/** The authorization code flow with PKCE. @see 2026-07-28 basic/authorization; OAuth 2.1 section 4.1 */

import { abortable } from '@mortise/jsonrpc-core/connection';
import * as oauth from 'oauth4webapi';
import { DiscoveryError, PkceUnsupportedError, SignInPendingError, StateMismatchError, TokenRequestError } from '../errors.ts';
import { nameUrl } from '../safe-fetch.ts';
import { checkAuthorizationResponse } from './authorization-response.ts';
import { toClientAuth } from './client-auth.ts';
import type { PendingSignIn } from './credential-vault.ts';
import type { RegisteredClient, TokenSet } from './credentials.ts';
import type { Grant, GrantCall } from './grant.ts';
import { type ClientIdentity, findClient, findClientById } from './register.ts';
import type { SignIn, SignInVisit } from './sign-in.ts';
import { requestToken, toTokenError, toTokens } from './token-request.ts';

export class AuthorizationCodeGrant implements Grant {
  readonly isSilent = false;
  readonly wantsRefresh = true;
  readonly issuers: readonly string[];
  readonly #identity: ClientIdentity;
  readonly #signIn: SignIn;

  constructor(identity: ClientIdentity, signIn: SignIn) {
    this.#identity = identity;
    this.#signIn = signIn;
    this.issuers = identity.clients.map(({ issuer }) => issuer);
  }

  isOurs(issuer: string, clientId: string): boolean {
    const { clients, clientMetadataUrl, askForClient } = this.#identity;
    if (clients.length === 0 || clientId === clientMetadataUrl || askForClient) return true;
    return clients.some((client) => client.issuer === issuer && client.clientId === clientId);
  }

  async obtain(call: GrantCall, scopes: readonly string[]): Promise<TokenSet> {
    assertPkce(call.as);
    const registration = await call.vault.registration(call.as.issuer, call.nowMs);
    const visit = await this.#begin(registration?.redirectUrls ?? [], call.signal);
    try {
      return await this.#visit(call, scopes, visit);
    } finally {
      await visit.close();
    }
  }

  /** Finishes a sign-in whose answer came by another way. @param callbackUrl Where the person came back to, with its query. */
  async finish(call: GrantCall, pending: PendingSignIn, callbackUrl: URL): Promise<TokenSet> {
    checkAuthorizationResponse(callbackUrl.searchParams, toExpected(call.as, pending));
    const client = await this.findClient(call, pending.clientId);
    if (!client) throw new StateMismatchError('The client that began this sign-in is not known any more: begin again');
    return await exchangeCode(call, client, pending, callbackUrl);
  }

  async findClient(call: GrantCall, clientId: string): Promise<RegisteredClient | undefined> {
    return await findClientById(this.#identity, clientId, call);
  }

  async forgetClient({ as, vault, nowMs }: GrantCall): Promise<boolean> {
    const kept = await vault.registration(as.issuer, nowMs);
    await vault.forgetRegistration(as.issuer);
    return kept !== undefined;
  }

  /** A visit that is there only after everybody has left is over at once. */
  async #begin(redirectUrls: readonly string[], signal: AbortSignal | undefined): Promise<SignInVisit> {
    const begun = this.#signIn.begin({ redirectUrls }, { signal });
    try {
      return await abortable(begun, signal);
    } catch (error) {
      begun.then((visit) => visit.close()).catch(() => undefined);
      throw error;
    }
  }

  async #visit(call: GrantCall, scopes: readonly string[], visit: SignInVisit): Promise<TokenSet> {
    const client = await findClient(this.#identity, { ...call, redirectUrl: visit.redirectUrl });
    const pending: PendingSignIn = {
      state: oauth.generateRandomState(),
      verifier: oauth.generateRandomCodeVerifier(),
      issuer: call.as.issuer,
      clientId: client.clientId,
      redirectUrl: visit.redirectUrl,
      resource: call.resource,
      scopes,
      createdAtMs: call.nowMs,
    };
    const url = await toAuthorizationUrl(call.as, pending);
    call.assertSafe(url, 'authorization endpoint');
    await call.vault.savePending(pending);
    // The person's way may not listen to its signal: whoever waits for the next sign-in must not wait for this one.
    const back = await abortable(visit.authorize(url, { signal: call.signal }), call.signal);
    if (!back) throw new SignInPendingError(url.href);
    await call.vault.takePending(pending.state, call.nowMs);
    checkAuthorizationResponse(back.searchParams, toExpected(call.as, pending));
    return await exchangeCode(call, client, pending, back);
  }
}

/** @throws {PkceUnsupportedError} @see 2026-07-28 basic/authorization/security-considerations */
function assertPkce({ issuer, code_challenge_methods_supported: methods }: oauth.AuthorizationServer): void {
  if (Array.isArray(methods) && methods.includes('S256')) return;
  throw new PkceUnsupportedError(`The authorization server ${nameUrl(issuer)} does not list S256 in code_challenge_methods_supported`);
}

async function toAuthorizationUrl(as: oauth.AuthorizationServer, pending: PendingSignIn): Promise<URL> {
  const { authorization_endpoint: endpoint } = as;
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) {
    throw new DiscoveryError(`The metadata of ${nameUrl(as.issuer)} has no authorization_endpoint`, []);
  }
  const url = new URL(endpoint);
  const params: Readonly<Record<string, string | undefined>> = {
    response_type: 'code',
    client_id: pending.clientId,
    redirect_uri: pending.redirectUrl,
    state: pending.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    resource: pending.resource,
    scope: pending.scopes.length > 0 ? pending.scopes.join(' ') : undefined,
    // OpenID Connect gives no offline access without it.
    prompt: pending.scopes.includes('offline_access') ? 'consent' : undefined,
  };
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

function toExpected(as: oauth.AuthorizationServer, { state, issuer }: PendingSignIn) {
  return { state, issuer, issIsPromised: as.authorization_response_iss_parameter_supported === true };
}

/** @throws {TokenRequestError} */
async function exchangeCode(call: GrantCall, client: RegisteredClient, pending: PendingSignIn, back: URL): Promise<TokenSet> {
  const { as } = call;
  if (as.issuer !== pending.issuer) throw new TokenRequestError('The sign-in belongs to another authorization server', {});
  const oauthClient: oauth.Client = { client_id: client.clientId };
  const params = validate(as, oauthClient, back, pending.state);
  const answer = await requestToken(
    call,
    async (options) =>
      await oauth.authorizationCodeGrantRequest(as, oauthClient, toClientAuth(client, as), params, pending.redirectUrl, pending.verifier, {
        ...options,
        additionalParameters: { resource: pending.resource },
      }),
    async (response) => await oauth.processAuthorizationCodeResponse(as, oauthClient, response),
  );
  return toTokens(answer, {
    requestedScopes: pending.scopes,
    clientId: client.clientId,
    resource: pending.resource,
    dpop: call.dpop !== undefined,
    nowMs: call.nowMs,
  });
}

/** The library's own checks, after ours. */
function validate(as: oauth.AuthorizationServer, client: oauth.Client, back: URL, state: string): URLSearchParams {
  try {
    return oauth.validateAuthResponse(as, client, back, state);
  } catch (error) {
    throw toTokenError(error);
  }
}
