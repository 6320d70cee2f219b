/** A protected MCP server, and the authorization server of another maker (`oidc-provider`) that signs its users in. */

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwtVerifier, protect } from '@mortise/auth-oauth/server';
import { createHttpHandler } from '@mortise/transport-http/server';
import type Provider from 'oidc-provider';
import { onTestFinished } from 'vitest';
import { createEverything } from './programs/everything.ts';

/** Serves both until the test ends, and gives the URL of the MCP server. */
export async function serveProtected(): Promise<string> {
  const own = await listen();
  const url = `${own.origin}/mcp`;
  const issuer = await serveAuthorization(url);
  const verifier = jwtVerifier({ issuer, audience: url });
  const protection = protect({ resource: url, authorizationServers: [issuer], verifier, scopes: ['use'] });
  const handler = createHttpHandler(createEverything(), { tokenVerifier: protection.verifier, resourceMetadata: protection.metadata });
  own.serve((request, response) => void handler.node(request, response));
  onTestFinished(() => handler.close({ drainMs: 0 }));
  return url;
}

async function serveAuthorization(audience: string): Promise<string> {
  const { origin, serve } = await listen();
  const { default: OidcProvider } = await import('oidc-provider');
  const provider: Provider = new OidcProvider(origin, {
    cookies: { keys: [crypto.randomUUID()] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', 'use'],
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: 'use', audience, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }),
        useGrantedResource: () => true,
      },
    },
  });
  serve((request, response) => void provider.callback()(request, response));
  return origin;
}

async function listen(): Promise<{ readonly origin: string; serve(listener: RequestListener): void }> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, serve: (listener) => void server.on('request', listener) };
}
