import { describe, expect, it } from 'vitest';
import { McpServer, ResourceTemplate } from '@mortise/server';
import { ALL, type Loose, MODERN, RawPeer } from './raw-peer.ts';

const lists = [
  ['tools/list', 'tools', 'name'],
  ['prompts/list', 'prompts', 'name'],
  ['resources/list', 'resources', 'uri'],
  ['resources/templates/list', 'resourceTemplates', 'uriTemplate'],
] as const;

function createMany(options: Loose = {}): McpServer {
  const server = new McpServer({ name: 'many', version: '1' }, { pageSize: 3, ...options });
  for (let index = 0; index < 7; index++) {
    server.registerTool(`t${index}`, {}, () => 't');
    server.registerPrompt(`p${index}`, {}, () => 'p');
    server.registerResource(`r${index}`, `test://${index}`, {}, () => 'r');
    server.registerResource(`f${index}`, new ResourceTemplate(`f${index}://{x}`, { list: undefined }), {}, () => 'f');
  }
  return server;
}

async function pages(peer: RawPeer, method: string, member: string): Promise<Loose[][]> {
  const all: Loose[][] = [];
  let cursor: string | undefined;
  do {
    const page = await peer.call(method, cursor === undefined ? {} : { cursor });
    all.push(page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

describe.each(ALL)('pages in %s', (version) => {
  it.each(lists)('[PAGE-001] of %s hold everything once, in order', async (method, member, key) => {
    const peer = await RawPeer.open(createMany(), version);
    const all = await pages(peer, method, member);
    expect(all.map((page) => page.length)).toEqual([3, 3, 1]);
    const keys = all.flat().map((item) => item[key]);
    expect(new Set(keys).size).toBe(7);
    expect(keys).toEqual(keys.toSorted());
  });

  it.each(lists)('[PAGE-008] of %s refuse a cursor that the list did not give', async (method) => {
    const peer = await RawPeer.open(createMany(), version);
    const { nextCursor } = await peer.call(method);
    const altered = `${nextCursor.slice(0, -2)}${nextCursor.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const cursor of ['', 'nonsense', '3', altered, 5] as Loose[]) {
      expect((await peer.request(method, { cursor })).error?.code).toBe(-32602);
    }
  });

  it('[PAGE-008] refuse the cursor of another list', async () => {
    const peer = await RawPeer.open(createMany(), version);
    const { nextCursor } = await peer.call('tools/list');
    expect((await peer.request('prompts/list', { cursor: nextCursor })).error?.code).toBe(-32602);
  });

  it('[PAGE-007] keep their cursors good while items come and go', async () => {
    const server = createMany();
    const extra = server.registerTool('t7', {}, () => 't');
    const peer = await RawPeer.open(server, version);
    const first = await peer.call('tools/list');
    extra.remove();
    server.registerTool('t8', {}, () => 't');
    const second = await peer.call('tools/list', { cursor: first.nextCursor });
    expect(second.tools.map((tool: Loose) => tool.name)).toEqual(['t3', 't4', 't5']);
    const third = await peer.call('tools/list', { cursor: second.nextCursor });
    expect(third.tools.map((tool: Loose) => tool.name)).toEqual(['t6', 't8']);
    expect(third.nextCursor).toBeUndefined();
  });

  it('are one where everything fits', async () => {
    const peer = await RawPeer.open(createMany({ pageSize: 7 }), version);
    for (const [method, member] of lists) expect(await pages(peer, method, member)).toHaveLength(1);
  });

  it('go on through the members that templates list', async () => {
    const server = new McpServer({ name: 'mixed', version: '1' }, { pageSize: 2 });
    server.registerResource('r', 'test://r', {}, () => 'r');
    const members = (count: number, scheme: string) => ({
      list: () => ({
        resources: Array.from({ length: count }, (_, index) => ({ uri: `${scheme}://${index}`, name: `${scheme}${index}` })),
      }),
    });
    server.registerResource('a', new ResourceTemplate('a://{x}', members(3, 'a')), {}, () => 'a');
    server.registerResource('b', new ResourceTemplate('b://{x}', { list: undefined }), {}, () => 'b');
    server.registerResource('c', new ResourceTemplate('c://{x}', members(2, 'c')), {}, () => 'c');
    const peer = await RawPeer.open(server, version);
    const all = await pages(peer, 'resources/list', 'resources');
    expect(all.map((page) => page.map((item) => item.uri))).toEqual([
      ['test://r', 'a://0'],
      ['a://1', 'a://2'],
      ['c://0', 'c://1'],
    ]);
  });

  it('show each caller the items it may see, page by page', async () => {
    const server = new McpServer({ name: 'rules', version: '1' }, { pageSize: 2 });
    for (let index = 0; index < 6; index++)
      server.registerTool(`t${index}`, { visible: ({ principal }) => principal === 'all' || index % 2 === 0 }, () => 't');
    const all = await RawPeer.open(server, version, { info: { principal: 'all' } });
    const even = await RawPeer.open(server, version, { info: { principal: 'even' } });
    const names = async (peer: RawPeer) => (await pages(peer, 'tools/list', 'tools')).map((page) => page.map((tool) => tool.name));
    expect(await names(all)).toEqual([
      ['t0', 't1'],
      ['t2', 't3'],
      ['t4', 't5'],
    ]);
    expect(await names(even)).toEqual([['t0', 't2'], ['t4']]);
  });
});

it('[PAGE-005] outlive the connection in the modern era, and the server', async () => {
  const first = await RawPeer.open(createMany(), MODERN);
  const { nextCursor } = await first.call('tools/list');
  const second = await RawPeer.open(createMany(), MODERN);
  expect((await second.call('tools/list', { cursor: nextCursor })).tools[0].name).toBe('t3');
});

it('carry one cache scope on all pages of a list', async () => {
  const server = createMany();
  server.registerTool('hidden', { visible: () => true }, () => 't');
  const peer = await RawPeer.open(server, MODERN);
  let cursor: string | undefined;
  const scopes = new Set<string>();
  do {
    const page = await peer.call('tools/list', cursor === undefined ? {} : { cursor });
    scopes.add(page.cacheScope);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect([...scopes]).toEqual(['private']);
});
