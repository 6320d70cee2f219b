/** The requests of an OAuth client: to the token endpoint, and to register. @see RFC 6749; RFC 7591; RFC 7636 */

import { toBase64Url } from '@mortise/jsonrpc-core/encoding';
import type { FetchLike } from '../../shared/transport.ts';
import {
  type AuthorizationServerMetadata,
  type OAuthClientInformationFull,
  OAuthClientInformationFullSchema,
  type OAuthClientInformationMixed,
  type OAuthClientMetadata,
  OAuthErrorResponseSchema,
  type OAuthTokens,
  OAuthTokensSchema,
} from '../../shared/auth.ts';
import { OAUTH_ERRORS, type OAuthError, ServerError } from '../../server/auth/errors.ts';
import { fetchWithinOrigin } from './fetch-within-origin.ts';
import { boundElsewhere, unlessOfOther } from './issuer-stamp.ts';
import type { AddClientAuthentication, OAuthClientProvider } from './provider.ts';

export type ClientAuthMethod = 'client_secret_basic' | 'client_secret_post' | 'none';

const METHODS: readonly string[] = ['client_secret_basic', 'client_secret_post', 'none'];
// Their responses: a member `issuer` of theirs is not our stamp.
const TokenResponseSchema = OAuthTokensSchema.omit({ issuer: true });
const RegistrationResponseSchema = OAuthClientInformationFullSchema.omit({ issuer: true });

/** What a token request needs to know of the authorization server and the client. */
export interface TokenRequestOptions {
  metadata?: AuthorizationServerMetadata | undefined;
  clientInformation: OAuthClientInformationMixed;
  resource?: string | URL | undefined;
  addClientAuthentication?: AddClientAuthentication | undefined;
  fetchFn?: FetchLike | undefined;
}

/** Chooses how the client authenticates: as it was registered if the server supports that, else the strongest way that both support. */
export function selectClientAuthMethod(client: OAuthClientInformationMixed, supportedMethods: string[]): ClientAuthMethod {
  const hasSecret = client.client_secret !== undefined;
  const isSupported = (method: string): boolean => supportedMethods.includes(method);
  const registered = 'token_endpoint_auth_method' in client ? client.token_endpoint_auth_method : undefined;
  if (registered && METHODS.includes(registered) && (supportedMethods.length === 0 || isSupported(registered)))
    return registered as ClientAuthMethod;
  // Metadata without the list means HTTP Basic (RFC 8414 section 2).
  if (supportedMethods.length === 0) return hasSecret ? 'client_secret_basic' : 'none';
  if (hasSecret && isSupported('client_secret_basic')) return 'client_secret_basic';
  if (hasSecret && isSupported('client_secret_post')) return 'client_secret_post';
  return hasSecret && !isSupported('none') ? 'client_secret_post' : 'none';
}

/** Makes the error of an OAuth error response. A response in another form becomes a `ServerError` with its text. */
export async function parseErrorResponse(input: Response | string): Promise<OAuthError> {
  const body = typeof input === 'string' ? input : await input.text();
  try {
    const { error, error_description = '', error_uri } = OAuthErrorResponseSchema.parse(JSON.parse(body));
    return new (OAUTH_ERRORS[error] ?? ServerError)(error_description, error_uri);
  } catch (error) {
    const status = typeof input === 'string' ? '' : `HTTP ${input.status}: `;
    return new ServerError(`${status}Invalid OAuth error response: ${error}. Raw body: ${body}`);
  }
}

/** Makes the URL to send the user to, and the verifier to keep for the token request. @throws {Error} The server lacks what is needed. */
export async function startAuthorization(
  authorizationServerUrl: string | URL,
  options: {
    metadata?: AuthorizationServerMetadata | undefined;
    clientInformation: OAuthClientInformationMixed;
    redirectUrl: string | URL;
    scope?: string | undefined;
    state?: string | undefined;
    resource?: string | URL | undefined;
  },
): Promise<{ authorizationUrl: URL; codeVerifier: string }> {
  const { metadata, clientInformation, redirectUrl, scope, state, resource } = options;
  if (metadata && !metadata.response_types_supported.includes('code'))
    throw new Error('Incompatible auth server: does not support response type code');
  if (metadata?.code_challenge_methods_supported && !metadata.code_challenge_methods_supported.includes('S256'))
    throw new Error('Incompatible auth server: does not support code challenge method S256');
  const authorizationUrl = metadata ? new URL(metadata.authorization_endpoint) : new URL('/authorize', authorizationServerUrl);
  const codeVerifier = toBase64Url(crypto.getRandomValues(new Uint8Array(48)));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier));
  const query = authorizationUrl.searchParams;
  query.set('response_type', 'code');
  query.set('client_id', clientInformation.client_id);
  query.set('code_challenge', toBase64Url(new Uint8Array(digest)));
  query.set('code_challenge_method', 'S256');
  query.set('redirect_uri', String(redirectUrl));
  if (state) query.set('state', state);
  if (scope) query.set('scope', scope);
  // OpenID Connect gives a refresh token only after it has asked the user.
  if (scope?.includes('offline_access')) query.append('prompt', 'consent');
  if (resource) query.set('resource', String(resource));
  return { authorizationUrl, codeVerifier };
}

/** Makes the parameters that exchange an authorization code. */
export function prepareAuthorizationCodeRequest(
  authorizationCode: string,
  codeVerifier: string,
  redirectUri: string | URL,
): URLSearchParams {
  return new URLSearchParams({
    grant_type: 'authorization_code',
    code: authorizationCode,
    code_verifier: codeVerifier,
    redirect_uri: String(redirectUri),
  });
}

/** Exchanges an authorization code for tokens. @throws {OAuthError} The server refused. */
export async function exchangeAuthorization(
  authorizationServerUrl: string | URL,
  options: TokenRequestOptions & { authorizationCode: string; codeVerifier: string; redirectUri: string | URL },
): Promise<OAuthTokens> {
  const { authorizationCode, codeVerifier, redirectUri } = options;
  return requestTokens(authorizationServerUrl, prepareAuthorizationCodeRequest(authorizationCode, codeVerifier, redirectUri), options);
}

/** Exchanges a refresh token for new tokens. Keeps it if the server sends no new one. @throws {OAuthError} The server refused. */
export async function refreshAuthorization(
  authorizationServerUrl: string | URL,
  options: TokenRequestOptions & { refreshToken: string },
): Promise<OAuthTokens> {
  const { refreshToken } = options;
  const params = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken });
  return { refresh_token: refreshToken, ...(await requestTokens(authorizationServerUrl, params, options)) };
}

/** Gets tokens by the grant that the provider prepares, else by the authorization code. @throws {OAuthError} The server refused. */
export async function fetchToken(
  provider: OAuthClientProvider,
  authorizationServerUrl: string | URL,
  options: {
    metadata?: AuthorizationServerMetadata | undefined;
    resource?: string | URL | undefined;
    authorizationCode?: string | undefined;
    fetchFn?: FetchLike | undefined;
  } = {},
): Promise<OAuthTokens> {
  const issuer = String(authorizationServerUrl);
  let client = await readClient(provider, issuer);
  const prepared = await provider.prepareTokenRequest?.(provider.clientMetadata.scope);
  const params = prepared ?? (await prepareCode(provider, options.authorizationCode));
  // A provider may have filled it in while it prepared the request.
  client ??= await readClient(provider, issuer);
  const { addClientAuthentication } = provider;
  return requestTokens(authorizationServerUrl, params, {
    ...options,
    clientInformation: client,
    addClientAuthentication: addClientAuthentication?.bind(provider),
  });
}

async function readClient(provider: OAuthClientProvider, issuer: string): Promise<OAuthClientInformationMixed | undefined> {
  const stored = await provider.clientInformation();
  const own = unlessOfOther(stored, issuer);
  if (stored && !own) throw boundElsewhere(stored, issuer);
  return own;
}

async function prepareCode(provider: OAuthClientProvider, code: string | undefined): Promise<URLSearchParams> {
  if (!code) throw new Error('Either provider.prepareTokenRequest() or authorizationCode is required');
  if (!provider.redirectUrl) throw new Error('redirectUrl is required for authorization_code flow');
  return prepareAuthorizationCodeRequest(code, await provider.codeVerifier(), provider.redirectUrl);
}

/** Registers the client dynamically. @throws {OAuthError} The server refused. {Error} It registers no clients. */
export async function registerClient(
  authorizationServerUrl: string | URL,
  options: {
    metadata?: AuthorizationServerMetadata | undefined;
    clientMetadata: OAuthClientMetadata;
    scope?: string | undefined;
    fetchFn?: FetchLike | undefined;
  },
): Promise<OAuthClientInformationFull> {
  const { metadata, clientMetadata, scope, fetchFn = fetch } = options;
  if (metadata && !metadata.registration_endpoint)
    throw new Error('Incompatible auth server: does not support dynamic client registration');
  const url = new URL(metadata?.registration_endpoint ?? '/register', authorizationServerUrl);
  const body = JSON.stringify({ ...clientMetadata, ...(scope === undefined ? {} : { scope }) });
  const response = await fetchWithinOrigin(fetchFn, url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  if (!response.ok) throw await parseErrorResponse(response);
  return RegistrationResponseSchema.parse(await response.json());
}

async function requestTokens(
  authorizationServerUrl: string | URL,
  params: URLSearchParams,
  options: Omit<TokenRequestOptions, 'clientInformation'> & { clientInformation?: OAuthClientInformationMixed | undefined },
): Promise<OAuthTokens> {
  const { metadata, clientInformation, resource, addClientAuthentication, fetchFn = fetch } = options;
  const url = new URL(metadata?.token_endpoint ?? '/token', authorizationServerUrl);
  const headers = new Headers({ 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' });
  if (resource) params.set('resource', String(resource));
  if (addClientAuthentication) await addClientAuthentication(headers, params, url, metadata);
  else if (clientInformation) authenticate(clientInformation, metadata?.token_endpoint_auth_methods_supported ?? [], headers, params);
  const response = await fetchWithinOrigin(fetchFn, url, { method: 'POST', headers, body: params });
  if (!response.ok) throw await parseErrorResponse(response);
  return TokenResponseSchema.parse(await response.json());
}

function authenticate(client: OAuthClientInformationMixed, supported: string[], headers: Headers, params: URLSearchParams): void {
  const { client_id, client_secret } = client;
  const method = selectClientAuthMethod(client, supported);
  if (method === 'client_secret_basic') {
    if (!client_secret) throw new Error('client_secret_basic authentication requires a client_secret');
    headers.set('Authorization', `Basic ${btoa(`${client_id}:${client_secret}`)}`);
    return;
  }
  params.set('client_id', client_id);
  if (method === 'client_secret_post' && client_secret) params.set('client_secret', client_secret);
}
