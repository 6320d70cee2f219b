/** `/server/auth/router`: an authorization server, or the metadata of one elsewhere, as Express routers. */

import express, { type RequestHandler, type Router } from 'express';
import type { OAuthMetadata, OAuthProtectedResourceMetadata } from '../../shared/auth.ts';
import { authorizationHandler, type AuthorizationHandlerOptions } from './handlers/authorize.ts';
import { metadataHandler } from './handlers/metadata.ts';
import { clientRegistrationHandler, type ClientRegistrationHandlerOptions } from './handlers/register.ts';
import { revocationHandler, type RevocationHandlerOptions } from './handlers/revoke.ts';
import { tokenHandler, type TokenHandlerOptions } from './handlers/token.ts';
import type { OAuthServerProvider } from './provider.ts';

/** What the metadata says of the MCP server. */
interface ResourceOptions {
  serviceDocumentationUrl?: URL | undefined;
  scopesSupported?: string[] | undefined;
  resourceName?: string | undefined;
}

export type AuthRouterOptions = ResourceOptions & {
  provider: OAuthServerProvider;
  /** The authorization server's identifier: `https:`, or loopback, without query and fragment. */
  issuerUrl: URL;
  /** Where its endpoints are. @default issuerUrl */
  baseUrl?: URL | undefined;
  /** The MCP server. @default baseUrl, or issuerUrl */
  resourceServerUrl?: URL | undefined;
  authorizationOptions?: Omit<AuthorizationHandlerOptions, 'provider'> | undefined;
  clientRegistrationOptions?: Omit<ClientRegistrationHandlerOptions, 'clientsStore'> | undefined;
  revocationOptions?: Omit<RevocationHandlerOptions, 'provider'> | undefined;
  tokenOptions?: Omit<TokenHandlerOptions, 'provider'> | undefined;
};

export type AuthMetadataOptions = ResourceOptions & {
  oauthMetadata: OAuthMetadata;
  resourceServerUrl: URL;
};

/** Makes the authorization server's metadata. @throws {Error} The issuer is not a valid identifier. */
export const createOAuthMetadata = (
  options: Pick<AuthRouterOptions, 'provider' | 'issuerUrl' | 'baseUrl' | 'serviceDocumentationUrl' | 'scopesSupported'>,
): OAuthMetadata => {
  const { provider, issuerUrl, baseUrl, serviceDocumentationUrl, scopesSupported } = options;
  checkIssuer(issuerUrl);
  const at = (path: string): string => new URL(path, baseUrl ?? issuerUrl).href;
  return {
    issuer: issuerUrl.href,
    service_documentation: serviceDocumentationUrl?.href,
    authorization_endpoint: at('/authorize'),
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint: at('/token'),
    token_endpoint_auth_methods_supported: ['client_secret_post', 'none'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    scopes_supported: scopesSupported,
    ...(provider.revokeToken
      ? { revocation_endpoint: at('/revoke'), revocation_endpoint_auth_methods_supported: ['client_secret_post'] }
      : {}),
    ...(provider.clientsStore.registerClient ? { registration_endpoint: at('/register') } : {}),
  };
};

/**
 * Makes an authorization server, with its metadata and that of the MCP server. Mount it at the root: `app.use(mcpAuthRouter(options))`.
 *
 * @throws {Error} The issuer is not a valid identifier.
 */
export function mcpAuthRouter(options: AuthRouterOptions): RequestHandler {
  const { provider, resourceServerUrl, baseUrl, issuerUrl, serviceDocumentationUrl, scopesSupported, resourceName } = options;
  const oauthMetadata = createOAuthMetadata(options);
  const { authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint } = oauthMetadata;
  const router = express.Router();
  router.use(pathOf(authorization_endpoint), authorizationHandler({ provider, ...options.authorizationOptions }));
  router.use(pathOf(token_endpoint), tokenHandler({ provider, ...options.tokenOptions }));
  const resource = { serviceDocumentationUrl, scopesSupported, resourceName };
  router.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: resourceServerUrl ?? baseUrl ?? issuerUrl, ...resource }));
  if (registration_endpoint) {
    const { clientsStore } = provider;
    router.use(pathOf(registration_endpoint), clientRegistrationHandler({ clientsStore, ...options.clientRegistrationOptions }));
  }
  if (revocation_endpoint) router.use(pathOf(revocation_endpoint), revocationHandler({ provider, ...options.revocationOptions }));
  return router;
}

/** Serves the metadata of an MCP server and of its authorization server. Mount it at the root. @throws {Error} The issuer is invalid. */
export function mcpAuthMetadataRouter(options: AuthMetadataOptions): Router {
  const { oauthMetadata, resourceServerUrl, serviceDocumentationUrl, scopesSupported, resourceName } = options;
  checkIssuer(new URL(oauthMetadata.issuer));
  const resource: OAuthProtectedResourceMetadata = {
    resource: resourceServerUrl.href,
    authorization_servers: [oauthMetadata.issuer],
    scopes_supported: scopesSupported,
    resource_name: resourceName,
    resource_documentation: serviceDocumentationUrl?.href,
  };
  const router = express.Router();
  router.use(pathOf(getOAuthProtectedResourceMetadataUrl(resourceServerUrl)), metadataHandler(resource));
  router.use('/.well-known/oauth-authorization-server', metadataHandler(oauthMetadata));
  return router;
}

/** Returns where the resource metadata of an MCP server is. @see RFC 9728 section 3.1 */
export function getOAuthProtectedResourceMetadataUrl(serverUrl: URL): string {
  const path = serverUrl.pathname === '/' ? '' : serverUrl.pathname;
  return new URL(`/.well-known/oauth-protected-resource${path}`, serverUrl).href;
}

function pathOf(url: string): string {
  return new URL(url).pathname;
}

/** For tests on another machine, v1's variable allows an issuer without TLS. */
const allowsInsecure = ['true', '1'].includes(process.env['MCP_DANGEROUSLY_ALLOW_INSECURE_ISSUER_URL'] ?? '');

function checkIssuer({ protocol, hostname, hash, search, href }: URL): void {
  if (protocol !== 'https:' && hostname !== 'localhost' && hostname !== '127.0.0.1' && !allowsInsecure)
    throw new Error('Issuer URL must be HTTPS');
  if (hash) throw new Error(`Issuer URL must not have a fragment: ${href}`);
  if (search) throw new Error(`Issuer URL must not have a query string: ${href}`);
}
