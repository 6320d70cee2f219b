/** Lists in pages. */

import { type JsonObject, type JsonRpcRequest } from '@mortise/jsonrpc-core';
import { REVISIONS, type Revision } from '@mortise/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, McpClient } from '../src/index.ts';
import { complete, info, type Reply, ScriptedServer, scriptOf } from './scripted-server.ts';

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

/** An item that any of the lists may have. */
const item = (name: string): JsonObject => ({ name, uri: `a:${name}`, uriTemplate: 'a:{b}', inputSchema: { type: 'object' } });

const lists = [
  { method: 'tools/list', key: 'tools', read: (client: McpClient) => client.tools() },
  { method: 'prompts/list', key: 'prompts', read: (client: McpClient) => client.prompts() },
  { method: 'resources/list', key: 'resources', read: (client: McpClient) => client.resources() },
  {
    method: 'resources/templates/list',
    key: 'resourceTemplates',
    read: (client: McpClient) => client.resourceTemplates(),
  },
] as const;

async function collect(items: AsyncIterable<{ readonly name: string }>): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of items) names.push(name);
  return names;
}

async function connect(
  revision: Revision,
  method: string,
  answer: (cursor: unknown, request: JsonRpcRequest) => JsonObject | Reply,
  options: ClientOptions = {},
): Promise<{ client: McpClient; server: ScriptedServer }> {
  const script = {
    [method]: (request: JsonRpcRequest): Reply => {
      const said = answer(request.params?.['cursor'], request);
      return typeof said === 'object' && 'error' in said ? (said as Reply) : complete(revision, said as JsonObject);
    },
  };
  const server = new ScriptedServer(scriptOf(revision, script));
  const client = await McpClient.connect(server.factory, info, { protocolVersion: revision.version, ...options });
  open.push(client);
  return { client, server };
}

describe.each(REVISIONS)('in $version', (revision) => {
  describe.each(lists)('$method', ({ method, key, read }) => {
    it('[ROBUSTNESS-7] remembers no cursor of any length', async () => {
      const longest = 'c'.repeat(65_536);
      for (const [nextCursor, isGood] of [
        [longest, true],
        [`${longest}c`, false],
        [5, false],
        [{}, false],
      ] as const) {
        const { client, server } = await connect(revision, method, (cursor) => ({
          [key]: [item('a')],
          ...(cursor === undefined && { nextCursor }),
        }));
        const reading = collect(read(client));
        if (isGood) expect(await reading).toHaveLength(2);
        else await expect(reading).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
        expect(server.requests(method)).toHaveLength(isGood ? 2 : 1);
      }
    });

    it('is refused where an item is no object', async () => {
      const { client } = await connect(revision, method, () => ({ [key]: [item('a'), null] }));
      await expect(collect(read(client))).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
    });

    it('[PAGE-001][PAGE-002][PAGE-006] is read to the end, whatever the sizes of its pages', async () => {
      const pages: readonly string[][] = [['a'], [], ['b', 'c', 'd']];
      const { client, server } = await connect(revision, method, (cursor) => {
        const at = cursor === undefined ? 0 : Number(cursor);
        return { [key]: (pages[at] ?? []).map(item), ...(at < 2 && { nextCursor: `${at + 1}` }) };
      });
      expect(await collect(read(client))).toEqual(['a', 'b', 'c', 'd']);
      expect(server.requests(method).map(({ params }) => params?.['cursor'])).toEqual([undefined, '1', '2']);
    });

    it('[PAGE-006][PROMPT-012] is read from a server that gives no pages', async () => {
      const { client, server } = await connect(revision, method, () => ({ [key]: [item('only')] }));
      expect(await collect(read(client))).toEqual(['only']);
      expect(server.requests(method)).toHaveLength(1);
    });

    it('[PAGE-004] goes on after an empty cursor, which is a cursor', async () => {
      const { client, server } = await connect(revision, method, (cursor) =>
        cursor === '' ? { [key]: [item('second')] } : { [key]: [item('first')], nextCursor: '' },
      );
      expect(await collect(read(client))).toEqual(['first', 'second']);
      expect(server.requests(method)[1]?.params).toMatchObject({ cursor: '' });
    });

    it('[PAGE-004] ends at a cursor that is null', async () => {
      const { client } = await connect(revision, method, () => ({ [key]: [item('a')], nextCursor: null }));
      expect(await collect(read(client))).toEqual(['a']);
    });

    it('is given up when a cursor comes twice', async () => {
      const { client, server } = await connect(revision, method, (cursor) => ({ [key]: [], nextCursor: cursor === 'x' ? 'y' : 'x' }));
      await expect(collect(read(client))).rejects.toMatchObject({
        code: 'ERR_INVALID_RESPONSE',
        message: expect.stringContaining('the same cursor twice'),
      });
      expect(server.requests(method)).toHaveLength(3);
    });

    it('is given up after 1,000 pages', async () => {
      let page = 0;
      const { client, server } = await connect(revision, method, () => ({ [key]: [], nextCursor: `${(page += 1)}` }));
      await expect(collect(read(client))).rejects.toMatchObject({
        code: 'ERR_INVALID_RESPONSE',
        message: expect.stringContaining('more than 1000 pages: request them one by one'),
      });
      expect(server.requests(method)).toHaveLength(1000);
    });

    it('fetches no page that is not needed', async () => {
      const { client, server } = await connect(revision, method, () => ({ [key]: [item('a'), item('b')], nextCursor: 'more' }));
      for await (const { name } of read(client)) {
        expect(name).toBe('a');
        break;
      }
      expect(server.requests(method)).toHaveLength(1);
    });

    it("passes a refused cursor on as the server's error", async () => {
      const { client } = await connect(revision, method, (cursor) =>
        cursor === undefined ? { [key]: [], nextCursor: 'stale' } : { error: { code: -32602, message: 'Invalid cursor' } },
      );
      await expect(collect(read(client))).rejects.toMatchObject({ rpcCode: -32602 });
    });
  });

  it('[PAGE-005] keeps no cursor from one reading to the next', async () => {
    const { client, server } = await connect(revision, 'tools/list', (cursor) =>
      cursor === undefined ? { tools: [], nextCursor: 'c' } : { tools: [] },
    );
    await collect(client.tools());
    await collect(client.tools());
    expect(server.requests('tools/list').map(({ params }) => params?.['cursor'])).toEqual([undefined, 'c', undefined, 'c']);
  });
});
