/** The authorization code flow with PKCE. @see 2026-07-28 basic/authorization; OAuth 2.1 section 4.1 */

import { abortable } from '@mortise/jsonrpc-core/connection';
import * as oauth from 'oauth4webapi';
import { AuthError, SignInPendingError } from '../errors.ts';
import { assertSafeUrl, escapeShell, nameUrl, toSafeText } from '../safe-fetch.ts';
import { toClientAuth } from './client-auth.ts';
import type { PendingSignIn, RegisteredClient, TokenSet } from './credentials.ts';
import { type Grant, type GrantCall, requestToken, toTokens } from './grant.ts';
import { type ClientIdentity, findClient, findClientById } from './register.ts';
import type { SignIn, SignInVisit } from './sign-in.ts';

export class AuthorizationCodeGrant implements Grant {
  readonly asksPerson = true;
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
    const { issuer, code_challenge_methods_supported: methods } = call.as;
    if (!Array.isArray(methods) || !methods.includes('S256')) {
      const why = 'must list S256 in code_challenge_methods_supported: PKCE is required for a sign-in';
      throw new AuthError('ERR_PKCE_UNSUPPORTED', `The authorization server ${nameUrl(issuer)} ${why}`);
    }
    const registration = await call.vault.registration(issuer, call.nowMs);
    const visit = await this.#begin(registration?.redirectUrls ?? [], call.signal);
    try {
      return await this.#visit(call, scopes, visit);
    } finally {
      await visit.close();
    }
  }

  /** Finishes a sign-in that an earlier call began. @param callbackUrl The URL that the user was redirected to, with its query. */
  async finish(call: GrantCall, pending: PendingSignIn, callbackUrl: URL): Promise<TokenSet> {
    checkResponse(callbackUrl.searchParams, call.as, pending);
    const client = await this.findClient(call, pending.clientId);
    if (!client) throw new AuthError('ERR_STATE_MISMATCH', 'The client of this sign-in is no longer registered: start the sign-in again');
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

  /** Begins a sign-in. If `signal` aborts first, this rejects at once, and a `SignInVisit` that arrives later is closed. */
  async #begin(redirectUrls: readonly string[], signal: AbortSignal): Promise<SignInVisit> {
    const begun = this.#signIn.begin({ redirectUrls }, { signal });
    try {
      return await abortable(begun, signal);
    } catch (error) {
      begun.then((visit) => visit.close()).catch(() => undefined);
      throw error;
    }
  }

  async #visit(call: GrantCall, scopes: readonly string[], visit: SignInVisit): Promise<TokenSet> {
    const { as, vault, signal } = call;
    const { redirectUrl } = visit;
    const client = await findClient(this.#identity, { ...call, redirectUrl });
    const pending: PendingSignIn = {
      state: oauth.generateRandomState(),
      verifier: oauth.generateRandomCodeVerifier(),
      issuer: as.issuer,
      clientId: client.clientId,
      redirectUrl,
      resource: call.resource,
      scopes,
      createdAtMs: call.nowMs,
    };
    const url = escapeShell(await toAuthorizationUrl(as, pending));
    assertSafeUrl(url, call.policy, 'authorization endpoint');
    await vault.savePending(pending);
    // `abortable`, because a `SignIn` may ignore its signal, and the next sign-in must not wait for this one.
    const back = await abortable(visit.authorize(url, { signal }), signal);
    if (!back) throw new SignInPendingError(url.href);
    await vault.takePending(pending.state, call.nowMs);
    checkResponse(back.searchParams, as, pending);
    return await exchangeCode(call, client, pending, back);
  }
}

async function toAuthorizationUrl(as: oauth.AuthorizationServer, pending: PendingSignIn): Promise<URL> {
  const { authorization_endpoint: endpoint } = as;
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint))
    throw new AuthError('ERR_DISCOVERY', `The metadata of the issuer ${nameUrl(as.issuer)} has no valid authorization_endpoint`);
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
    // OpenID Connect requires this for `offline_access`.
    prompt: pending.scopes.includes('offline_access') ? 'consent' : undefined,
  };
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** The parameters that an authorization response must not contain twice, because it would be ambiguous. */
const SINGLE = ['state', 'iss', 'code', 'error', 'error_description'];

/**
 * Checks an authorization response: first its `state`, then its issuer (character by character), then whether it has an error or a code.
 * `oauth4webapi` checks this again, but with less precise errors.
 *
 * @throws {AuthError} `ERR_AUTHORIZATION_RESPONSE`, `ERR_STATE_MISMATCH`, `ERR_RESPONSE_ISSUER`; `ERR_SIGN_IN_DENIED`: an error response.
 * @see 2026-07-28 basic/authorization#authorization-response-validation; RFC 9207 section 2.4
 */
function checkResponse(params: URLSearchParams, as: oauth.AuthorizationServer, { state, issuer }: PendingSignIn): void {
  const twice = SINGLE.find((name) => params.getAll(name).length > 1);
  if (twice !== undefined)
    throw new AuthError('ERR_AUTHORIZATION_RESPONSE', `The authorization response has the parameter "${twice}" twice: it is ignored`);
  if (params.get('state') !== state)
    throw new AuthError('ERR_STATE_MISMATCH', 'The authorization response is ignored: its "state" is not the one that this sign-in sent');
  const isPromised = as.authorization_response_iss_parameter_supported === true;
  if ((params.get('iss') ?? (isPromised ? '' : issuer)) !== issuer)
    throw new AuthError('ERR_RESPONSE_ISSUER', `The authorization response is ignored: its "iss" is not the issuer ${nameUrl(issuer)}`);
  const error = params.get('error');
  if (error !== null) {
    const description = toSafeText(params.get('error_description'));
    throw new AuthError('ERR_SIGN_IN_DENIED', 'The issuer refused the sign-in', { error: toSafeText(error) ?? 'unknown', description });
  }
  if (params.get('code') === null)
    throw new AuthError('ERR_AUTHORIZATION_RESPONSE', 'The authorization response has neither a "code" nor an "error"');
}

/** Exchanges an authorization code for tokens. @throws {AuthError} `ERR_TOKEN_REQUEST`: the token endpoint refused the code. */
async function exchangeCode(call: GrantCall, client: RegisteredClient, pending: PendingSignIn, back: URL): Promise<TokenSet> {
  const { as } = call;
  const { clientId, redirectUrl, verifier, resource, scopes, state } = pending;
  const oauthClient: oauth.Client = { client_id: clientId };
  const answer = await requestToken(
    call,
    async (options) => {
      const params = oauth.validateAuthResponse(as, oauthClient, back, state);
      return await oauth.authorizationCodeGrantRequest(as, oauthClient, toClientAuth(client, as), params, redirectUrl, verifier, {
        ...options,
        additionalParameters: { resource },
      });
    },
    async (response) => await oauth.processAuthorizationCodeResponse(as, oauthClient, response),
  );
  return toTokens(answer, call, { clientId, requestedScopes: scopes });
}
