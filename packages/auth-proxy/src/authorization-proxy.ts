/**
 * An authorization server in front of a provider that does not register clients. MCP clients register at the proxy, and users sign in at
 * the provider. Clients never get tokens of the provider.
 *
 * @see 2026-07-28 basic/authorization; security_best_practices#confused-deputy-problem
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { AuthChallengeError } from '@mortise/protocol';
import type { AuthInfo, TokenRequest, TokenVerifier } from '@mortise/protocol/contracts';
import { ClientTable, toProxyClient } from './clients.ts';
import { renderErrorPage } from './consent-page.ts';
import { OAuthRefusal } from './errors.ts';
import { GrantTable } from './grants.ts';
import { jsonResponse, pageResponse, preflightResponse, readForm, readJson, redirectResponse, refusalResponse } from './http.ts';
import { type AuthorizationProxyOptions, type ProxySettings, toProxySettings } from './options.ts';
import { AUTH_METHODS, registerClient } from './registration.ts';
import { type ProxyParts, SignIn } from './sign-in.ts';
import { serveRevocation, serveToken } from './token-endpoint.ts';
import { Upstream } from './upstream.ts';

/** An authorization server of your own, whose users sign in at a provider. */
export interface AuthorizationProxy {
  /** Handles a request to one of the proxy's paths; 404 for any other path. Never rejects. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Tells whether a path, such as `/token`, belongs to the proxy. Use it to share a port with an MCP endpoint. */
  readonly serves: (path: string) => boolean;
  /** Verifies the tokens that the proxy issued. Give it as the `verifier` of `protect`. */
  readonly verifier: TokenVerifier;
  /** The authorization server metadata that the proxy serves. @see RFC 8414 */
  readonly metadata: JsonObject;
  /**
   * Gets the caller's access token at the provider, to call the provider's API. It is not the token that the caller sent. Do not send it to
   * the client.
   *
   * @param auth The `ctx.auth` of a handler.
   * @throws {OAuthRefusal} `invalid_grant`: the sign-in has ended at the proxy or at the provider.
   */
  readonly upstreamToken: (auth: AuthInfo | undefined) => Promise<string>;
}

/** How the proxy handles the requests to one of its paths. */
interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Whether users' browsers visit this path. If so, errors are HTML pages instead of JSON. */
  readonly isForPeople?: boolean;
  readonly serve: (request: Request) => Promise<Response>;
}

/**
 * Creates an authorization server whose users sign in at another provider, such as GitHub.
 *
 * @throws {TypeError} An option is invalid.
 */
export async function createAuthorizationProxy(options: AuthorizationProxyOptions): Promise<AuthorizationProxy> {
  const settings = toProxySettings(options);
  const upstream = new Upstream(settings, `${toBase(settings)}/callback`);
  const grants = new GrantTable(settings, upstream);
  const clients = new ClientTable(settings, await Promise.all(settings.clients.map(toProxyClient)));
  const parts: ProxyParts = { settings, upstream, grants, clients };
  const metadata = toMetadata(settings);
  const signIn = new SignIn(parts);
  const endpoints = createEndpoints(parts, signIn, metadata);
  return {
    fetch: (request) => serve(request, endpoints, { settings, signIn }),
    serves: (path) => endpoints.has(path),
    verifier: { verify: (request) => verifyToken(request, parts) },
    metadata,
    upstreamToken: (auth) => findUpstreamToken(auth, grants),
  };
}

function toBase({ issuer }: ProxySettings): string {
  return issuer.replace(/\/$/, '');
}

function toMetadata(settings: ProxySettings): JsonObject {
  const base = toBase(settings);
  const { issuer, scopes, registration } = settings;
  return {
    issuer,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    revocation_endpoint: `${base}/revoke`,
    ...(registration ? { registration_endpoint: `${base}/register` } : {}),
    ...(scopes.length === 0 ? {} : { scopes_supported: [...scopes] }),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [...AUTH_METHODS],
    revocation_endpoint_auth_methods_supported: [...AUTH_METHODS],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: registration,
  };
}

function createEndpoints(parts: ProxyParts, signIn: SignIn, metadata: JsonObject): ReadonlyMap<string, Endpoint> {
  const { settings, clients } = parts;
  const forPeople = { isForPeople: true };
  const path = settings.basePath;
  const endpoints = new Map<string, Endpoint>([
    [`/.well-known/oauth-authorization-server${path}`, { method: 'GET', serve: async () => jsonResponse(200, metadata) }],
    [`${path}/authorize`, { ...forPeople, method: 'GET', serve: (request) => signIn.authorize(request) }],
    [`${path}/consent`, { ...forPeople, method: 'POST', serve: async (request) => signIn.decide(request, await readForm(request)) }],
    [`${path}/callback`, { ...forPeople, method: 'GET', serve: (request) => signIn.finish(request) }],
    [`${path}/token`, { method: 'POST', serve: async (request) => serveToken(request, await readForm(request), parts) }],
    [`${path}/revoke`, { method: 'POST', serve: async (request) => serveRevocation(request, await readForm(request), parts) }],
  ]);
  const register: Endpoint['serve'] = async (request) =>
    jsonResponse(201, await registerClient(await readJson(request), clients, settings));
  return settings.registration ? endpoints.set(`${path}/register`, { method: 'POST', serve: register }) : endpoints;
}

async function serve(
  request: Request,
  endpoints: ReadonlyMap<string, Endpoint>,
  { settings, signIn }: { readonly settings: ProxySettings; readonly signIn: SignIn },
): Promise<Response> {
  const endpoint = endpoints.get(new URL(request.url).pathname);
  if (endpoint === undefined) return new Response('Not found', { status: 404 });
  const { method, isForPeople = false } = endpoint;
  if (request.method === 'OPTIONS' && !isForPeople) return preflightResponse();
  if (request.method !== method) return new Response(`Method not allowed: use ${method}`, { status: 405, headers: { Allow: method } });
  try {
    return await endpoint.serve(request);
  } catch (error) {
    const refusal = error instanceof OAuthRefusal ? error : toFault(error, settings);
    if (refusal.redirect !== undefined)
      return redirectResponse(signIn.toClient(refusal.redirect, { error: refusal.error, error_description: refusal.message }));
    return isForPeople ? pageResponse(refusal.status, renderErrorPage(refusal.message)) : refusalResponse(refusal);
  }
}

/** Logs an unexpected error, and creates the error that the client gets instead, without the reason. */
function toFault(cause: unknown, { logger }: ProxySettings): OAuthRefusal {
  logger.log('error', 'A request to the authorization proxy failed', { error: String(cause) });
  return new OAuthRefusal('server_error', 'Internal error: see the log of the server', { status: 500, cause });
}

/** Verifies an access token that the proxy issued. @see RFC 6750 section 3.1 */
async function verifyToken({ scheme, token }: TokenRequest, { grants, settings }: ProxyParts): Promise<AuthInfo> {
  if (scheme !== 'Bearer') throw new AuthChallengeError('A bearer token is required', { status: 401, challenge: 'Bearer' });
  if (token === undefined) throw challenge(400, 'invalid_request', 'The Authorization header has no valid token');
  const access = await grants.findAccess(token);
  if (access === undefined) throw challenge(401, 'invalid_token', 'The token is unknown, revoked or expired');
  const { issuer, resource } = settings;
  const { subject, clientId } = access.grant;
  const { scopes, expiresAtMs } = access;
  const claims = { iss: issuer, aud: resource, sub: subject, client_id: clientId, scope: scopes.join(' '), exp: expiresAtMs / 1000 };
  // The same form as `toPrincipal` of auth-oauth.
  const principal = JSON.stringify([issuer, subject, clientId]);
  const info: AuthInfo = { principal, issuer, subject, clientId, scopes, expiresAtMs, resource, claims };
  // Not enumerable, so that logs and copies of the object do not contain the token.
  return Object.defineProperty(info, 'token', { value: token, enumerable: false });
}

function challenge(status: number, error: string, message: string): AuthChallengeError {
  return new AuthChallengeError(message, { status, challenge: `Bearer error="${error}", error_description="${message}"` });
}

async function findUpstreamToken(auth: AuthInfo | undefined, grants: GrantTable): Promise<string> {
  const access = auth?.token === undefined ? undefined : await grants.findAccess(auth.token);
  if (access === undefined) throw new OAuthRefusal('invalid_grant', 'The sign-in has ended: sign in again');
  return (await grants.upstreamTokens(access.grant)).accessToken;
}
