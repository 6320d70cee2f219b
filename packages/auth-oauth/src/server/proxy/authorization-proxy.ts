/**
 * An authorization server in front of a provider that registers no clients: MCP clients register here, people sign in there, and the tokens
 * of the two never meet.
 *
 * @see 2026-07-28 basic/authorization; security_best_practices#confused-deputy-problem
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import { toAuthInfo } from '../auth-info.ts';
import { bearerVerifier } from '../bearer-verifier.ts';
import { digest } from '../digest.ts';
import { InvalidTokenError } from '../errors.ts';

import type { TokenReader } from '../token-reader.ts';
import { RedirectRefusal } from './authorization-request.ts';
import { renderErrorPage } from './consent-page.ts';
import { GrantTable } from './grants.ts';
import { OAuthRefusal } from './oauth-refusal.ts';
import { type AuthorizationProxyOptions, type KnownClient, type ProxySettings, toProxySettings } from './options.ts';
import { ClientTable, type ProxyClient } from './proxy-client.ts';
import { readText } from './read-text.ts';
import { AUTH_METHODS, registerClient } from './register.ts';
import { jsonResponse, pageResponse, preflightResponse, redirectResponse, refusalResponse } from './responses.ts';
import { type ProxyParts, SignIn } from './sign-in.ts';
import { serveRevocation, serveToken } from './token-endpoint.ts';
import { Upstream } from './upstream.ts';

/** An authorization server of one's own, behind which people sign in at a provider. */
export interface AuthorizationProxy {
  /** Answers a request to one of the proxy's paths; 404 for any other. Never rejects. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Whether a path, such as `/token`, is the proxy's, so that it can share a port with an MCP endpoint. */
  readonly serves: (path: string) => boolean;
  /** Verifies the tokens that the proxy gave: the `verifier` of `protect`. */
  readonly verifier: TokenVerifier & TokenReader;
  /** Authorization server metadata, as it is served. @see RFC 8414 */
  readonly metadata: JsonObject;
  /**
   * The provider's access token of whoever calls, to use its API with: never the caller's own token, and never to be handed out.
   *
   * @param auth `ctx.auth` of a handler.
   * @throws {InvalidTokenError} `ERR_TOKEN_INVALID`: the sign-in has ended, here or at the provider.
   */
  readonly upstreamToken: (auth: AuthInfo | undefined) => Promise<string>;
}

const MAX_BODY_BYTES = 64 * 1024;
const METADATA_PATH = '/.well-known/oauth-authorization-server';

/** A path of the proxy: who may come how, and who answers. */
interface Door {
  readonly method: 'GET' | 'POST';
  /** Whether a person's browser comes here, which is answered with pages. */
  readonly isForPeople: boolean;
  readonly serve: (request: Request) => Promise<Response>;
}

/**
 * Creates an authorization proxy.
 *
 * @throws {AuthOptionError} `ERR_AUTH_OPTION`: an option that cannot hold.
 */
export async function createAuthorizationProxy(options: AuthorizationProxyOptions): Promise<AuthorizationProxy> {
  const settings = toProxySettings(options);
  const upstream = new Upstream(settings, `${toBase(settings)}/callback`);
  const grants = new GrantTable(settings, upstream);
  const clients = new ClientTable(settings, await Promise.all(settings.clients.map(toClient)));
  const parts: ProxyParts = { settings, upstream, grants, clients };
  const metadata = toMetadata(settings);
  const signIn = new SignIn(parts);
  const doors = createDoors(parts, signIn, metadata);
  const reader: TokenReader = { read: (token) => readAccessToken(token, parts) };
  return {
    fetch: (request) => serve(request, doors, { settings, signIn }),
    serves: (path) => doors.has(path),
    verifier: { ...reader, ...bearerVerifier(reader, { clock: settings.clock }) },
    metadata,
    upstreamToken: (auth) => findUpstreamToken(auth, parts),
  };
}

function toBase({ issuer }: ProxySettings): string {
  return issuer.replace(/\/$/, '');
}

async function toClient({ clientId, name, redirectUris, clientSecret }: KnownClient): Promise<ProxyClient> {
  const secretDigest = clientSecret === undefined ? undefined : await digest(clientSecret);
  return { clientId, name, redirectUris, secretDigest, documentHost: undefined };
}

function toMetadata(settings: ProxySettings): JsonObject {
  const base = toBase(settings);
  const { issuer, scopes, registration, clientIdMetadataDocuments } = settings;
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
    client_id_metadata_document_supported: clientIdMetadataDocuments,
  };
}

function createDoors(parts: ProxyParts, signIn: SignIn, metadata: JsonObject): ReadonlyMap<string, Door> {
  const { basePath, registration } = parts.settings;
  const people = (method: Door['method'], serveDoor: Door['serve']): Door => ({ method, isForPeople: true, serve: serveDoor });
  const programs = (method: Door['method'], serveDoor: Door['serve']): Door => ({ method, isForPeople: false, serve: serveDoor });
  const doors: readonly (readonly [string, Door])[] = [
    [METADATA_PATH + basePath, programs('GET', () => Promise.resolve(jsonResponse(200, metadata)))],
    [`${basePath}/authorize`, people('GET', (request) => signIn.authorize(request))],
    [`${basePath}/consent`, people('POST', async (request) => signIn.decide(request, await readForm(request)))],
    [`${basePath}/callback`, people('GET', (request) => signIn.finish(request))],
    [`${basePath}/token`, programs('POST', async (request) => serveToken(request, await readForm(request), parts))],
    [`${basePath}/revoke`, programs('POST', async (request) => serveRevocation(request, await readForm(request), parts))],
  ];
  const register = programs('POST', async (request) => jsonResponse(201, await registerClient(await readJson(request), toContext(parts))));
  return new Map(registration ? [...doors, [`${basePath}/register`, register]] : doors);
}

function toContext({ clients, settings }: ProxyParts): Parameters<typeof registerClient>[1] {
  return { clients, privateSchemes: settings.privateSchemes, nowMs: settings.clock.now() };
}

async function serve(
  request: Request,
  doors: ReadonlyMap<string, Door>,
  { settings, signIn }: { readonly settings: ProxySettings; readonly signIn: SignIn },
): Promise<Response> {
  const door = doors.get(new URL(request.url).pathname);
  if (door === undefined) return new Response('There is nothing at this path', { status: 404 });
  if (request.method === 'OPTIONS' && !door.isForPeople) return preflightResponse();
  if (request.method !== door.method)
    return new Response('The method is not served here', { status: 405, headers: { Allow: door.method } });
  try {
    return await door.serve(request);
  } catch (error) {
    if (error instanceof RedirectRefusal)
      return redirectResponse(signIn.toClient(error, { error: error.error, error_description: error.message }));
    const refusal = error instanceof OAuthRefusal ? error : toFault(error, settings);
    return door.isForPeople ? pageResponse(refusal.status, renderErrorPage(refusal.message)) : refusalResponse(refusal);
  }
}

/** What nobody outside may learn more about. */
function toFault(error: unknown, { logger }: ProxySettings): OAuthRefusal {
  logger.log('error', 'A request to the authorization proxy failed', { error: String(error) });
  return new OAuthRefusal('server_error', 'Something failed here', 500, { cause: error });
}

async function readForm(request: Request): Promise<URLSearchParams> {
  return new URLSearchParams(await readBody(request, 'application/x-www-form-urlencoded'));
}

async function readJson(request: Request): Promise<unknown> {
  const text = await readBody(request, 'application/json');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OAuthRefusal('invalid_client_metadata', 'The body is not JSON', 400, { cause: error });
  }
}

async function readBody(request: Request, mediaType: string): Promise<string> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== mediaType) throw new OAuthRefusal('invalid_request', `The body must be ${mediaType}`, 415);
  try {
    return await readText(request, MAX_BODY_BYTES);
  } catch (error) {
    throw new OAuthRefusal('invalid_request', 'The body is too long, or is no text', 413, { cause: error });
  }
}

async function readAccessToken(token: string, { grants, settings }: ProxyParts): Promise<AuthInfo> {
  const access = await grants.findAccess(token);
  if (access === undefined) throw new InvalidTokenError('The token is not, or no longer, good');
  const { issuer, resource } = settings;
  const { clientId, subject } = access.grant;
  const claims = {
    iss: issuer,
    aud: resource,
    sub: subject,
    client_id: clientId,
    scope: access.scopes.join(' '),
    exp: access.expiresAtMs / 1000,
  };
  return toAuthInfo(claims, { issuer, resource, token });
}

async function findUpstreamToken(auth: AuthInfo | undefined, { grants }: ProxyParts): Promise<string> {
  const access = auth?.token === undefined ? undefined : await grants.findAccess(auth.token);
  if (access === undefined) throw new InvalidTokenError('The caller has not signed in here, or no longer');
  try {
    return (await grants.upstreamTokens(access.grant)).accessToken;
  } catch (error) {
    throw error instanceof OAuthRefusal ? new InvalidTokenError(error.message, { cause: error }) : error;
  }
}
