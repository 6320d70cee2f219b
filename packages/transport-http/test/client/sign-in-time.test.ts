/** Whose time it is while somebody signs in. */

import { McpClient } from '@mortise/client';
import { AuthChallengeError } from '@mortise/protocol';
import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { expect, it, onTestFinished } from 'vitest';

it('lets the time of a call, and of connecting, stand still while the authorizer signs in', async () => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  server.registerTool('who', {}, (ctx) => ctx.principal);
  const valid = new Set<string>();
  const tokenVerifier = {
    verify: async ({ token = '' }) => {
      if (!valid.has(token)) throw new AuthChallengeError('sign in first', { status: 401, challenge: 'Bearer' });
      return { principal: token, scopes: [] };
    },
  };
  const serving = await serveHttp(server, { port: 0, tokenVerifier });
  onTestFinished(() => serving.close());

  const clock = new FakeClock();
  let token = '';
  let signIns = 0;
  const authorizer = {
    headers: async () => ({ Authorization: `Bearer ${token}` }),
    onChallenge: async () => {
      // A person takes an hour.
      for (let minute = 0; minute < 60; minute++) clock.advance(60_000);
      signIns += 1;
      token = `ada-${signIns}`;
      valid.add(token);
      return 'retry' as const;
    },
  };
  const client = await McpClient.connect(httpTransport(serving.url, { authorizer }), { name: 'c', version: '1.0.0' }, { clock });
  onTestFinished(() => client.close());
  expect(signIns).toBe(1);
  valid.clear();
  expect(await client.callTool('who', {}, { timeoutMs: 1000, maxTimeoutMs: 1000 })).toMatchObject({ content: [{ text: 'ada-2' }] });
});
