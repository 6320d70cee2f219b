/** The authorizer with the WebSocket transport, before a real server that verifies its tokens. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { McpClient } from '@mortise/client';
import { AuthChallengeError } from '@mortise/protocol';
import { McpServer } from '@mortise/server';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { type AttachedWebSocket, attachWebSocket } from '@mortise/transport-ws-custom/server';
import { oauth } from '@mortise/auth-oauth/client';
import { TestAuthorizationServer } from '../support/authorization-server.ts';
import { agreeing } from '../support/world.ts';

let as: TestAuthorizationServer;
let httpServer: Server;
let sockets: AttachedWebSocket;
let origin: string;
beforeEach(async () => {
  as = await new TestAuthorizationServer().listen();
  httpServer = createServer((request, response) => {
    const isMetadata = request.url === '/.well-known/oauth-protected-resource/mcp';
    response.writeHead(isMetadata ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ resource: `${origin}/mcp`, authorization_servers: [as.issuer] }));
  });
  await new Promise<void>((resolve) => httpServer.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(httpServer.address() as AddressInfo).port}`;
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  server.registerTool('whoami', { description: 'Says who is asking' }, (ctx) => String(ctx.auth?.subject));
  sockets = attachWebSocket(server, httpServer, {
    tokenVerifier: {
      verify: async ({ token }) => {
        if (token !== undefined && as.accessTokens.has(token)) return { principal: 'ada', subject: 'ada', scopes: [] };
        throw new AuthChallengeError('Sign in', { status: 401, challenge: 'Bearer' });
      },
    },
  });
});
afterEach(async () => {
  await sockets.close();
  httpServer.closeAllConnections();
  await new Promise((resolve) => httpServer.close(resolve));
  await as.close();
});

describe('over WebSocket', () => {
  it('[AUTH-001] signs in when the upgrade is refused, and is known on the connection', async () => {
    const url = `${origin.replace('http', 'ws')}/mcp`;
    const authorizer = oauth(url, { signIn: agreeing(as) });
    const client = await McpClient.connect(webSocketTransport(url, { authorizer }), { name: 'test', version: '1.0.0' });
    expect((await client.callTool('whoami')).content).toEqual([{ type: 'text', text: 'ada' }]);
    await client.close();
    expect(as.to('/authorize')[0]?.query.get('resource')).toBe(`${origin}/mcp`);
  });
});
