/** The MCP server: a notebook for each user, that wants a token for everything and a scope more for writing. */

import { dpopVerifier, introspectionVerifier, jwtVerifier, protect } from '@mortise/auth-oauth/server';
import { McpServer } from '@mortise/server';
import { createHttpHandler } from '@mortise/transport-http/server';
import { z } from 'zod';
import type { AuthorizationServer, TokenFormat } from './authorization-server.ts';
import { listen } from './listen.ts';

export const READ = 'notes:read';
export const WRITE = 'notes:write';

export interface ProtectedServerOptions {
  readonly port: number;
  readonly authorizationServer: AuthorizationServer;
  readonly tokenFormat: TokenFormat;
}

export interface ProtectedServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startProtectedServer(options: ProtectedServerOptions): Promise<ProtectedServer> {
  const listening = await listen(options.port);
  const url = `${listening.origin}/mcp`;
  const { issuer } = options.authorizationServer;
  const { verifier, metadata } = protect({
    resource: url,
    authorizationServers: [issuer],
    verifier: createVerifier(url, options),
    scopes: [READ],
    impliedScopes: { [WRITE]: [READ] },
    metadata: { resource_name: 'Notebook', ...(options.tokenFormat === 'dpop' && { dpop_bound_access_tokens_required: true }) },
  });
  const handler = createHttpHandler(createNotebook(), { path: '/mcp', tokenVerifier: verifier, resourceMetadata: metadata });
  listening.serve((request, response) => void handler.node(request, response));
  return {
    url,
    async close() {
      await handler.close({ drainMs: 0 });
      await listening.close();
    },
  };
}

function createVerifier(audience: string, { authorizationServer, tokenFormat }: ProtectedServerOptions): ReturnType<typeof dpopVerifier> {
  const { issuer, resourceServer } = authorizationServer;
  if (tokenFormat === 'opaque') return introspectionVerifier({ issuer, audience, ...resourceServer });
  const jwts = jwtVerifier({ issuer, audience, clockToleranceSeconds: 0 });
  return tokenFormat === 'dpop' ? dpopVerifier(jwts, { nonce: true }) : jwts;
}

function createNotebook(): McpServer {
  const server = new McpServer({ name: 'notebook', version: '1.0.0' });
  /** By principal: nobody reads another's. */
  const notes = new Map<string, string[]>();
  server.registerTool('list_notes', { description: 'Lists your notes' }, (ctx) => {
    const own = notes.get(ctx.auth?.principal ?? '') ?? [];
    return `${ctx.auth?.subject} has ${own.length} notes${own.length === 0 ? '' : `: ${own.join('; ')}`}`;
  });
  server.registerTool(
    'add_note',
    { description: 'Adds a note', inputSchema: { text: z.string().max(1_000) }, scopes: [WRITE] },
    ({ text }, ctx) => {
      const principal = ctx.auth?.principal ?? '';
      notes.set(principal, [...(notes.get(principal) ?? []), text]);
      return 'added';
    },
  );
  return server;
}
