/** `auth()`: signs a client in by its provider, in as many steps as it takes. */

import type { FetchLike } from '../../shared/transport.ts';
import type { OAuthClientInformationMixed, OAuthProtectedResourceMetadata } from '../../shared/auth.ts';
import { checkResourceAllowed, resourceUrlFromServerUrl } from '../../shared/auth-utils.ts';
import {
  InvalidClientError,
  InvalidClientMetadataError,
  InvalidGrantError,
  OAuthError,
  ServerError,
  UnauthorizedClientError,
} from '../../server/auth/errors.ts';
import { discoverAuthorizationServerMetadata, discoverOAuthProtectedResourceMetadata, discoverOAuthServerInfo } from './discovery.ts';
import { boundElsewhere, unlessOfOther } from './issuer-stamp.ts';
import type { OAuthClientProvider, OAuthServerInfo } from './provider.ts';
import { fetchToken, refreshAuthorization, registerClient, startAuthorization } from './token-requests.ts';

/** `REDIRECT`: the user was sent to the authorization server; call again with the code. */
export type AuthResult = 'AUTHORIZED' | 'REDIRECT';

export interface AuthOptions {
  serverUrl: string | URL;
  /** The code with which the user came back. */
  authorizationCode?: string | undefined;
  /** The scope that the server's challenge asked for. */
  scope?: string | undefined;
  /** Where the server's challenge said that its resource metadata is. */
  resourceMetadataUrl?: URL | undefined;
  fetchFn?: FetchLike | undefined;
}

/**
 * Signs a client in: finds the authorization server, registers the client if needed, and gets tokens by a code, a refresh token, or the
 * provider's own grant. Otherwise sends the user to the authorization server. Refused credentials are forgotten, and it begins anew once.
 *
 * @throws {OAuthError} The authorization server refused. {Error} A step is not possible.
 */
export async function auth(provider: OAuthClientProvider, options: AuthOptions): Promise<AuthResult> {
  try {
    return await authorize(provider, options);
  } catch (error) {
    if (error instanceof InvalidClientError || error instanceof UnauthorizedClientError) await provider.invalidateCredentials?.('all');
    else if (error instanceof InvalidGrantError) await provider.invalidateCredentials?.('tokens');
    else throw error;
    return authorize(provider, options);
  }
}

async function authorize(provider: OAuthClientProvider, options: AuthOptions): Promise<AuthResult> {
  const { serverUrl, authorizationCode, fetchFn } = options;
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = await discover(provider, options);
  const issuer = String(authorizationServerUrl);
  const selected = await selectResourceURL(serverUrl, provider, resourceMetadata);
  // As the metadata writes it: a URL would end with a slash.
  const resource = selected && resourceMetadata && !provider.validateResourceURL ? resourceMetadata.resource : selected;
  const scope = options.scope || resourceMetadata?.scopes_supported?.join(' ') || provider.clientMetadata.scope;
  const client = await findClient(provider, { issuer, metadata, scope, fetchFn, hasCode: authorizationCode !== undefined });
  const shared = { metadata, resource, fetchFn };

  if (authorizationCode !== undefined || !provider.redirectUrl) {
    const tokens = await fetchToken(provider, issuer, { ...shared, authorizationCode });
    await stampClient(provider, client, issuer);
    await provider.saveTokens({ ...tokens, issuer });
    return 'AUTHORIZED';
  }
  if (await refresh(provider, client, issuer, shared)) return 'AUTHORIZED';
  const state = await provider.state?.();
  const { redirectUrl } = provider;
  const begun = await startAuthorization(issuer, { metadata, clientInformation: client, state, redirectUrl, scope, resource });
  await provider.saveCodeVerifier(begun.codeVerifier);
  await provider.redirectToAuthorization(begun.authorizationUrl);
  return 'REDIRECT';
}

/** Takes what the provider has kept of an earlier discovery, or discovers, and lets the provider keep it. */
async function discover(provider: OAuthClientProvider, { serverUrl, resourceMetadataUrl, fetchFn }: AuthOptions): Promise<OAuthServerInfo> {
  const kept = await provider.discoveryState?.();
  const metadataUrl = resourceMetadataUrl ?? (kept?.resourceMetadataUrl ? new URL(kept.resourceMetadataUrl) : undefined);
  const info = kept?.authorizationServerUrl
    ? await complete(kept, serverUrl, metadataUrl, fetchFn)
    : await discoverOAuthServerInfo(serverUrl, { resourceMetadataUrl: metadataUrl, fetchFn });
  const isNew =
    info.authorizationServerMetadata !== kept?.authorizationServerMetadata ||
    info.resourceMetadata !== kept?.resourceMetadata ||
    !kept?.authorizationServerUrl;
  if (isNew)
    await provider.saveDiscoveryState?.({
      ...info,
      authorizationServerUrl: String(info.authorizationServerUrl),
      resourceMetadataUrl: metadataUrl?.href,
    });
  return info;
}

async function complete(
  kept: OAuthServerInfo,
  serverUrl: string | URL,
  resourceMetadataUrl: URL | undefined,
  fetchFn: FetchLike | undefined,
): Promise<OAuthServerInfo> {
  const { authorizationServerUrl } = kept;
  return {
    authorizationServerUrl,
    authorizationServerMetadata:
      kept.authorizationServerMetadata ?? (await discoverAuthorizationServerMetadata(authorizationServerUrl, { fetchFn })),
    resourceMetadata:
      kept.resourceMetadata ??
      (await discoverOAuthProtectedResourceMetadata(serverUrl, { resourceMetadataUrl }, fetchFn).catch(() => undefined)),
  };
}

interface ClientSearch {
  readonly issuer: string;
  readonly metadata: OAuthServerInfo['authorizationServerMetadata'];
  readonly scope: string | undefined;
  readonly fetchFn: FetchLike | undefined;
  readonly hasCode: boolean;
}

/** Returns the stored client, the client's metadata document as its id, or a client that it registers. */
async function findClient(provider: OAuthClientProvider, search: ClientSearch): Promise<OAuthClientInformationMixed> {
  const { issuer, metadata, scope, fetchFn, hasCode } = search;
  const stored = await provider.clientInformation();
  const own = unlessOfOther(stored, issuer);
  if (own) return own;
  const canRegister = provider.saveClientInformation !== undefined && Boolean(provider.redirectUrl);
  if (stored && !canRegister) throw boundElsewhere(stored, issuer);
  if (hasCode) throw new Error('Existing OAuth client information is required when exchanging an authorization code');
  const { clientMetadataUrl } = provider;
  if (clientMetadataUrl && !isHttpsUrl(clientMetadataUrl))
    throw new InvalidClientMetadataError(`clientMetadataUrl must be a valid HTTPS URL with a non-root pathname, got: ${clientMetadataUrl}`);
  if (clientMetadataUrl && metadata?.client_id_metadata_document_supported === true) {
    const client = { client_id: clientMetadataUrl, issuer };
    await provider.saveClientInformation?.(client);
    return client;
  }
  if (!provider.saveClientInformation) throw new Error('OAuth client information must be saveable for dynamic registration');
  const registered = await registerClient(issuer, { metadata, clientMetadata: provider.clientMetadata, scope, fetchFn });
  const client = { ...registered, issuer };
  await provider.saveClientInformation(client);
  return client;
}

/** Stamps a client that an older version stored, once this authorization server has accepted it. */
async function stampClient(provider: OAuthClientProvider, client: OAuthClientInformationMixed, issuer: string): Promise<void> {
  if (typeof client.issuer === 'string') return;
  try {
    await provider.saveClientInformation?.({ ...client, issuer });
  } catch {
    // A provider may expect this call only after a registration.
  }
}

/** @returns Whether there are new tokens. False if there is no refresh token, or the server failed. */
async function refresh(
  provider: OAuthClientProvider,
  clientInformation: OAuthClientInformationMixed,
  issuer: string,
  shared: {
    readonly metadata: OAuthServerInfo['authorizationServerMetadata'];
    readonly resource: string | URL | undefined;
    readonly fetchFn: FetchLike | undefined;
  },
): Promise<boolean> {
  const refreshToken = unlessOfOther(await provider.tokens(), issuer)?.refresh_token;
  if (!refreshToken) return false;
  try {
    const addClientAuthentication = provider.addClientAuthentication?.bind(provider);
    const tokens = await refreshAuthorization(issuer, { ...shared, clientInformation, refreshToken, addClientAuthentication });
    await stampClient(provider, clientInformation, issuer);
    await provider.saveTokens({ ...tokens, issuer });
    return true;
  } catch (error) {
    if (error instanceof OAuthError && !(error instanceof ServerError)) throw error;
    return false;
  }
}

/**
 * Chooses the resource to ask tokens for: what the provider chooses, else what the server's metadata names; undefined without metadata.
 *
 * @throws {Error} The metadata names a resource that is not this server.
 */
export async function selectResourceURL(
  serverUrl: string | URL,
  provider: OAuthClientProvider,
  resourceMetadata?: OAuthProtectedResourceMetadata,
): Promise<URL | undefined> {
  const requestedResource = resourceUrlFromServerUrl(serverUrl);
  if (provider.validateResourceURL) return provider.validateResourceURL(requestedResource, resourceMetadata?.resource);
  if (!resourceMetadata) return undefined;
  const configuredResource = resourceMetadata.resource;
  if (!checkResourceAllowed({ requestedResource, configuredResource }))
    throw new Error(`Protected resource ${configuredResource} does not match expected ${requestedResource} (or origin)`);
  return new URL(configuredResource);
}

/** Whether a text is an `https:` URL with a path, as a client's metadata document needs. */
export function isHttpsUrl(value?: string): boolean {
  if (!value || !URL.canParse(value)) return false;
  const { protocol, pathname } = new URL(value);
  return protocol === 'https:' && pathname !== '/';
}
