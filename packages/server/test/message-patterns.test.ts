import { expect, it } from 'vitest';
import { callThrough, everything, form } from './asks/chain.ts';
import { McpServer } from '@mortise/server';
import { type Loose, MODERN, RawPeer } from './raw-peer.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

it('[CAP-029] a server of the newest revision has every pattern of messages, with no more registered than one tool', async () => {
  const server = new McpServer({ name: 'small', version: '1' });
  server.registerTool('run', {}, async (ctx) => {
    await ctx.progress(1, 2);
    return (await ctx.elicit(form('Name?'))).action;
  });
  const peer = await RawPeer.open(server, MODERN, { capabilities: everything });

  // Versioning: told by discovery, named on each request, refused with what is spoken.
  const discovered = await peer.call('server/discover');
  expect(discovered.supportedVersions).toContain(MODERN);
  const unknown = await peer.rawRequest('tools/list', { _meta: { [VERSION]: '1999-01-01', [CAPABILITIES]: {} } });
  expect(unknown.error?.data).toMatchObject({ supported: expect.arrayContaining([MODERN]) as Loose });

  // Request and response; an error where there is no such thing.
  expect((await peer.call('tools/list')).tools).toHaveLength(1);
  expect((await peer.request('prompts/list')).error?.code).toBe(-32601);

  // Multi round-trip, with notifications that belong to the request.
  const { asked, text } = await callThrough(peer, { name: 'run', _meta: { progressToken: 'p' } });
  expect([asked.length, text]).toEqual([1, 'accept']);
  expect(peer.notifications().filter(({ method }) => method === 'notifications/progress')).toHaveLength(1);

  // A subscription: acknowledged, told of a change, ended by its result.
  const listening = peer.request('subscriptions/listen', { notifications: { toolsListChanged: true } }, 'sub');
  await peer.nextNotification('notifications/subscriptions/acknowledged');
  server.registerTool('second', {}, () => 'x');
  await peer.nextNotification('notifications/tools/list_changed');
  await server.close();
  expect((await listening).result).toMatchObject({ resultType: 'complete' });
});
