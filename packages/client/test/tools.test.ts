/** What people and programs read off a tool. */

import { describe, expect, it } from 'vitest';
import { McpClient } from '../src/index.ts';
import { displayName, toolHints, uniqueToolNames } from '../src/host.ts';
import { NEWEST } from '@mortise/protocol';
import { checkToolName } from '@mortise/protocol/checks';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { complete, info, modernScript, ScriptedServer } from './scripted-server.ts';

describe("a tool's name for people", () => {
  it.each([
    { tool: { name: 'n', title: 't', annotations: { title: 'a' } }, shown: 't' },
    { tool: { name: 'n', annotations: { title: 'a' } }, shown: 'a' },
    { tool: { name: 'n', annotations: { readOnlyHint: true } }, shown: 'n' },
    { tool: { name: 'n' }, shown: 'n' },
    { tool: { name: 'n', title: '' }, shown: '' },
  ])('[TOOL-010] is title, annotations.title, name, in this order: $shown', ({ tool, shown }) => {
    expect(displayName(tool)).toBe(shown);
  });
});

describe("a tool's hints", () => {
  it("[TOOL-015] have the specification's defaults", () => {
    const cautious = { isReadOnly: false, isDestructive: true, isIdempotent: false, isOpenWorld: true };
    expect(toolHints({})).toEqual(cautious);
    expect(toolHints({ annotations: {} })).toEqual(cautious);
  });

  it('[TOOL-015] are what a trusted server says', () => {
    const annotations = { destructiveHint: false, idempotentHint: true, openWorldHint: false };
    expect(toolHints({ annotations }, { isTrusted: true })).toEqual({
      isReadOnly: false,
      isDestructive: false,
      isIdempotent: true,
      isOpenWorld: false,
    });
  });

  it('[TOOL-015] of a read-only tool say that it destroys nothing', () => {
    const annotations = { readOnlyHint: true, destructiveHint: true, idempotentHint: false };
    expect(toolHints({ annotations }, { isTrusted: true })).toMatchObject({
      isReadOnly: true,
      isDestructive: false,
      isIdempotent: true,
    });
  });

  it('[TOOL-014] are cautious, whatever the server says, unless the program says that it trusts the server', () => {
    const tool = { annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false } };
    for (const options of [undefined, {}, { isTrusted: false }]) expect(toolHints(tool, options)).toEqual(toolHints({}));
    expect(toolHints(tool, { isTrusted: true })).not.toEqual(toolHints({}));
  });
});

it('[TOOL-012] tools whose names differ in case are two tools', async () => {
  const schema = (name: string) => ({ type: 'object', required: [name] });
  const server = new ScriptedServer(
    modernScript({
      'tools/list': () =>
        complete(NEWEST, { tools: ['Add', 'add'].map((name) => ({ name, inputSchema: { type: 'object' }, outputSchema: schema(name) })) }),
      'tools/call': ({ params }) => complete(NEWEST, { content: [], structuredContent: { [String(params?.['name'])]: 1 } }),
    }),
  );
  const client = await McpClient.connect(server.factory, info);
  await client.listTools();
  expect((await client.callTool('Add')).structuredContent).toEqual({ Add: 1 });
  expect((await client.callTool('add')).structuredContent).toEqual({ add: 1 });
  await client.close();
});

describe('the tools of several servers', () => {
  const tools = (...names: string[]) => names.map((name) => ({ name, inputSchema: { type: 'object' as const } }));

  it('[TOOL-013] keep their names where nothing collides, and else get that which the program gave the server', () => {
    const names = uniqueToolNames([
      { server: 'git hub', tools: tools('search', 'clone') },
      { server: 'web', tools: tools('search', 'fetch') },
    ]);
    expect([...names].map(([name, { server, tool }]) => [name, server, tool.name])).toEqual([
      ['git-hub_search', 'git hub', 'search'],
      ['clone', 'git hub', 'clone'],
      ['web_search', 'web', 'search'],
      ['fetch', 'web', 'fetch'],
    ]);
  });

  it('[TOOL-013] are told apart even where servers or tools are named alike, within the rule for names', () => {
    const long = 'x'.repeat(128);
    const names = uniqueToolNames([
      { server: 'a', tools: tools('t', 'a_t', long) },
      { server: 'a', tools: tools('t', long) },
    ]);
    expect(names.size).toBe(5);
    expect(names.get('a_t')?.tool.name).toBe('a_t');
    for (const name of names.keys()) expect(checkToolName(name)).toBeUndefined();
  });
});

it('[TOOL-047] a call can be shown to the user with its input, refused before it is sent, bounded in time and logged', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(
    modernScript({ 'tools/call': ({ params }) => (params?.['name'] === 'slow' ? 'silence' : complete(NEWEST, { content: [] })) }),
  );
  const client = await McpClient.connect(server.factory, info, { clock });
  const log: string[] = [];
  client.use('tools/call', async ({ target, params }, next) => {
    log.push(`${target} ${JSON.stringify(params['arguments'])}`);
    if (target === 'delete') throw new Error('the user said no');
    return next();
  });
  await expect(client.callTool('delete', { path: '/a' })).rejects.toThrow('the user said no');
  await client.callTool('read', { path: '/b' });
  const slow = client.callTool('slow', {}, { timeoutMs: 50 });
  await server.next((message) => 'params' in message && message.params?.['name'] === 'slow');
  clock.advance(50);
  await expect(slow).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
  expect(log).toEqual(['delete {"path":"/a"}', 'read {"path":"/b"}', 'slow {}']);
  expect(server.requests('tools/call').map(({ params }) => params?.['name'])).toEqual(['read', 'slow']);
  await client.close();
});
