/**
 * The whole flow with a real browser: headless Chromium signs in at `oidc-provider`, consents, steps up. Time is moved for the three
 * servers and clients of this process at once; the browser keeps its own.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loopbackSignIn, nodeOAuth } from '@mortise/auth-oauth/node';
import { McpClient } from '@mortise/client';
import { httpTransport } from '@mortise/transport-http/client';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AuthorizationServer, startAuthorizationServer, type TokenFormat } from '../src/authorization-server.ts';
import { type ProtectedServer, READ, startProtectedServer, WRITE } from '../src/protected-server.ts';
import { walkThrough } from '../src/walk-through.ts';
import { executablePath, launch, passPages, TIMEOUT_MS } from './person.ts';

describe.skipIf(executablePath === undefined)('the protected app in a browser', () => {
  let browser: Browser;
  let page: Page;
  let authorizationServer: AuthorizationServer;
  let server: ProtectedServer;
  beforeAll(async () => {
    browser = await launch();
  }, TIMEOUT_MS);
  afterAll(() => browser.close());
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    page = await (await browser.newContext()).newPage();
  });
  afterEach(async () => {
    vi.useRealTimers();
    await page.context().close();
    await server.close();
    await authorizationServer.close();
  });

  async function start(tokenFormat: TokenFormat): Promise<void> {
    authorizationServer = await startAuthorizationServer({ port: 0, scopes: [READ, WRITE], accessTokenSeconds: 300, tokenFormat });
    server = await startProtectedServer({ port: 0, authorizationServer, tokenFormat });
  }

  const passTime = (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * 1000);

  it.each(['jwt', 'opaque', 'dpop'] as const)(
    'signs in, calls, steps up, refreshes and signs out with %s tokens',
    async (tokenFormat) => {
      await start(tokenFormat);
      const scopes: (string | null)[] = [];
      const visits = await walkThrough({
        url: server.url,
        dpop: tokenFormat === 'dpop',
        open: async (url) => {
          scopes.push(url.searchParams.get('scope'));
          await passPages(page, url, { name: 'ada' });
        },
        untilExpired: () => Promise.resolve(passTime(301)),
        say: () => undefined,
      });
      expect(visits).toBe(3);
      expect(scopes[0]?.split(' ')).not.toContain(WRITE);
      expect(scopes[1]?.split(' ')).toEqual(expect.arrayContaining([READ, WRITE]));
    },
    TIMEOUT_MS,
  );

  async function connect(name: string, onVisit: () => void, credentialFile?: string): Promise<McpClient> {
    const open = async (url: URL): Promise<void> => {
      onVisit();
      await passPages(page, url, { name });
    };
    const authorizer = nodeOAuth(server.url, { signIn: loopbackSignIn({ open }), credentialFile });
    return McpClient.connect(httpTransport(server.url, { authorizer }), { name: 'test', version: '1.0.0' });
  }

  it(
    "asks to sign in again once the user's grant is revoked, at once with opaque tokens",
    async () => {
      await start('opaque');
      let visits = 0;
      const client = await connect('ada', () => (visits += 1));
      await client.callTool('list_notes', {});
      expect(visits).toBe(1);
      await authorizationServer.revokeGrantsOf('ada');
      await client.callTool('list_notes', {});
      expect(visits).toBe(2);
      await client.close();
    },
    TIMEOUT_MS,
  );

  it(
    'asks to sign in again when the refresh of an expired JWT is refused',
    async () => {
      await start('jwt');
      let visits = 0;
      const client = await connect('ada', () => (visits += 1));
      await authorizationServer.revokeGrantsOf('ada');
      await client.callTool('list_notes', {});
      expect(visits).toBe(1);
      passTime(301);
      await client.callTool('list_notes', {});
      expect(visits).toBe(2);
      await client.close();
    },
    TIMEOUT_MS,
  );

  it(
    "keeps one user's notes from another, and a signed-in user over a restart of the client",
    async () => {
      await start('jwt');
      const folder = await mkdtemp(join(tmpdir(), 'mortise-'));
      const file = join(folder, 'credentials.json');
      let visits = 0;
      const first = await connect('ada', () => (visits += 1), file);
      await first.callTool('add_note', { text: 'secret of ada' });
      await first.close();
      const again = await connect('ada', () => (visits += 1), file);
      expect((await again.callTool('list_notes', {})).content).toEqual([{ type: 'text', text: 'ada has 1 notes: secret of ada' }]);
      await again.close();
      expect(visits).toBe(2);
      await page.context().clearCookies();
      const eve = await connect('eve', () => undefined);
      expect((await eve.callTool('list_notes', {})).content).toEqual([{ type: 'text', text: 'eve has 0 notes' }]);
      await eve.close();
      await rm(folder, { recursive: true });
    },
    TIMEOUT_MS,
  );
});
