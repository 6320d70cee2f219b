/** An authorization proxy before `oidc-provider`, which knows it as one client, and a person with a real browser. */

import { loopbackSignIn, nodeOAuth } from '@mortise/auth-oauth/node';
import { protect } from '@mortise/auth-oauth/server';
import { createAuthorizationProxy } from '@mortise/auth-proxy';
import { toNodeListener } from '@mortise/auth-proxy/node';
import { McpClient } from '@mortise/client';
import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { createHttpHandler } from '@mortise/transport-http/server';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AuthorizationServer, startAuthorizationServer } from '../src/authorization-server.ts';
import { listen, type Listening } from '../src/listen.ts';
import { executablePath, launch, passPages, TIMEOUT_MS } from './person.ts';

describe.skipIf(executablePath === undefined)('the authorization proxy in a browser', () => {
  let browser: Browser;
  let page: Page;
  let provider: AuthorizationServer;
  let listening: Listening;
  beforeAll(async () => {
    browser = await launch();
  }, TIMEOUT_MS);
  afterAll(() => browser.close());
  beforeEach(async () => {
    page = await (await browser.newContext()).newPage();
    listening = await listen(0);
    const { origin } = listening;
    const client = { client_id: 'mcp-proxy', client_secret: 'entered by hand', redirect_uris: [`${origin}/callback`] };
    provider = await startAuthorizationServer({ port: 0, scopes: [], accessTokenSeconds: 300, tokenFormat: 'opaque', clients: [client] });
    await serve(origin);
  });
  afterEach(async () => {
    await page.context().close();
    await listening.close();
    await provider.close();
  });

  async function serve(origin: string): Promise<void> {
    const resource = `${origin}/mcp`;
    const proxy = await createAuthorizationProxy({
      issuer: origin,
      resource,
      name: 'The Notebook',
      upstream: { issuer: provider.issuer, name: 'Provider', clientId: 'mcp-proxy', clientSecret: 'entered by hand', scopes: ['openid'] },
      secret: 'a secret that is longer than thirty-two characters',
      scopes: ['notes'],
    });
    const { verifier, metadata } = protect({ resource, authorizationServers: [origin], verifier: proxy.verifier, scopes: ['notes'] });
    const server = new McpServer({ name: 'notebook', version: '1.0.0' });
    server.registerTool('who', {}, (ctx) => `${ctx.auth?.subject}`);
    const handler = createHttpHandler(server, { path: '/mcp', tokenVerifier: verifier, resourceMetadata: metadata });
    const listener = toNodeListener(proxy.fetch, { origin });
    listening.serve((request, response) => {
      const { pathname } = new URL(request.url ?? '/', origin);
      void (proxy.serves(pathname) ? listener(request, response) : handler.node(request, response));
    });
  }

  async function connect(clientName: string): Promise<{ readonly client: McpClient; readonly texts: readonly string[] }> {
    const url = `${listening.origin}/mcp`;
    let visit: Promise<readonly string[]> | undefined;
    const open = async (target: URL): Promise<void> => {
      visit = passPages(page, target, { name: 'ada', origins: [provider.issuer] });
      await visit;
    };
    const authorizer = nodeOAuth(url, { clientName, signIn: loopbackSignIn({ open }) });
    const client = await McpClient.connect(httpTransport(url, { authorizer }), { name: 'cli', version: '1.0.0' });
    return { client, texts: (await visit) ?? [] };
  }

  it(
    '[SEC-013][SEC-014][SEC-015] asks for consent for each client, also when the provider no longer does',
    async () => {
      const { client, texts: first } = await connect('First program');
      expect((await client.callTool('who', {})).content).toEqual([{ type: 'text', text: 'ada' }]);
      await client.close();
      expect(first[0]).toMatch(/Allow First program to use The Notebook as you\?.*this computer/s);
      expect(first.length).toBeGreaterThan(1);
      const cookies = (await page.context().cookies()).filter(({ name }) => name.includes('mortise'));
      expect(cookies).not.toEqual([]);
      for (const { name, secure, httpOnly, sameSite, path } of cookies)
        expect([name.startsWith('__Host-'), secure, httpOnly, sameSite, path]).toEqual([true, true, true, 'Lax', '/']);

      const { client: stranger, texts: second } = await connect('Second program');
      expect(second).toHaveLength(1);
      expect(second[0]).toContain('Allow Second program');
      await stranger.close();
    },
    TIMEOUT_MS,
  );
});
