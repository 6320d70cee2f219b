/** The authorization server: `oidc-provider` with its own login and consent pages. Any name and any password sign in. */

import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type { ClientMetadata, Configuration } from 'oidc-provider';
import { listen } from './listen.ts';

export interface AuthorizationServerOptions {
  readonly port: number;
  /** The scopes of the server that it issues tokens for. */
  readonly scopes: readonly string[];
  /** How long an access token lasts. */
  readonly accessTokenSeconds: number;
  readonly tokenFormat: TokenFormat;
  /** Clients that are entered by hand. */
  readonly clients?: readonly ClientMetadata[];
}

/**
 * JWTs can be verified by their signature; opaque tokens are asked about at each request, so that a revocation is seen at once; `dpop` are
 * JWTs that are bound to a key of the client.
 */
export type TokenFormat = 'jwt' | 'opaque' | 'dpop';

export interface AuthorizationServer {
  readonly issuer: string;
  /** Who the MCP server is when it asks about opaque tokens. */
  readonly resourceServer: { readonly clientId: string; readonly clientSecret: string };
  /** Ends every grant of a user, as an administrator would. */
  revokeGrantsOf(user: string): Promise<void>;
  close(): Promise<void>;
}

const RESOURCE_SERVER = { clientId: 'mcp-server', clientSecret: 'only this machine knows' };

export async function startAuthorizationServer(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const listening = await listen(options.port);
  // Loaded when it is needed: it warns of some versions of Node as soon as it is loaded.
  const { default: Provider } = await import('oidc-provider');
  const issuer = listening.origin;
  const grants = new Map<string, string>();
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'first' };
  const provider = new Provider(issuer, toConfiguration(options, key));
  provider.on('grant.success', ({ oidc }) => {
    const { Grant: grant, Account: account } = oidc.entities;
    if (grant?.jti !== undefined && account !== undefined) grants.set(grant.jti, account.accountId);
  });
  listening.serve((request, response) => void provider.callback()(request, response));
  return {
    issuer,
    resourceServer: RESOURCE_SERVER,
    async revokeGrantsOf(user) {
      const ids = [...grants].filter(([, owner]) => owner === user).map(([id]) => id);
      for (const id of ids) {
        await (await provider.Grant.find(id))?.destroy();
        await provider.RefreshToken.revokeByGrantId(id);
        await provider.AccessToken.revokeByGrantId(id);
        grants.delete(id);
      }
    },
    close: listening.close,
  };
}

function toConfiguration({ scopes, accessTokenSeconds, tokenFormat, clients = [] }: AuthorizationServerOptions, key: JWK): Configuration {
  return {
    jwks: { keys: [key as never] },
    cookies: { keys: [crypto.randomUUID()] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', ...scopes],
    rotateRefreshToken: true,
    issueRefreshToken: (_context, client) => Promise.resolve(client.grantTypeAllowed('refresh_token')),
    clients: [
      ...clients,
      {
        client_id: RESOURCE_SERVER.clientId,
        client_secret: RESOURCE_SERVER.clientSecret,
        grant_types: [],
        redirect_uris: [],
        response_types: [],
      },
    ],
    ttl: { AccessToken: accessTokenSeconds, RefreshToken: 86_400, Grant: 86_400, Interaction: 600, Session: 86_400, IdToken: 600 },
    features: {
      devInteractions: { enabled: true },
      dPoP: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true, allowedPolicy: (_context, client, token) => token.clientId === client.clientId },
      introspection: { enabled: true, allowedPolicy: (_context, client) => client.clientId === RESOURCE_SERVER.clientId },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: scopes.join(' '),
          audience: resource,
          accessTokenTTL: accessTokenSeconds,
          accessTokenFormat: tokenFormat === 'opaque' ? 'opaque' : 'jwt',
          ...(tokenFormat === 'opaque' ? {} : { jwt: { sign: { alg: 'RS256' as const } } }),
        }),
        useGrantedResource: () => true,
      },
    },
  };
}
