/** On whose behalf the transport speaks, for whoever keeps private results. */
import { createResultCache, McpClient } from '@mortise/client';

import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { expect, it, onTestFinished } from 'vitest';

it('[ROBUSTNESS-3] differs with each authorization, so that no private result reaches another caller', async () => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  server.registerResource('note', 'note://mine', { ttlMs: 60_000, cacheScope: 'private' }, (_uri, ctx) => `of ${ctx.principal}`);
  const tokenVerifier = { verify: async ({ token = 'nobody' }) => ({ principal: token, scopes: [] }) };
  const serving = await serveHttp(server, { port: 0, tokenVerifier });
  onTestFinished(() => serving.close());

  let user = 'Olga';
  const authorizer = { headers: async () => ({ Authorization: `Bearer ${user}` }), onChallenge: async () => 'fail' as const };
  const transport = httpTransport(serving.url, { authorizer });
  const client = await McpClient.connect(transport, { name: 'c', version: '1.0.0' }, { resultCache: createResultCache() });
  onTestFinished(() => client.close());
  const read = async (): Promise<unknown> => (await client.readResource('note://mine')).contents[0]?.['text'];

  expect(await read()).toBe('of Olga');
  const ofOlga = transport.authContext;
  expect(ofOlga).not.toContain('Olga');
  await client.ping();
  expect(transport.authContext).toBe(ofOlga);
  user = 'eve';
  // Any request shows that another user speaks now.
  await client.ping();
  expect(transport.authContext).not.toBe(ofOlga);
  expect(await read()).toBe('of eve');
});
