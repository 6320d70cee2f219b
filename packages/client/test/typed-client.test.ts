/** Calls typed by the server's own code. */

import { defineTool, McpServer } from '@mortise/server';
import { REVISIONS } from '@mortise/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createClient, ToolResultError } from '../src/index.ts';
import { inMemoryTransport } from '../src/in-memory.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const server = new McpServer(
  { name: 'typed', version: '1' },
  {
    tools: {
      add: defineTool({ inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
        structuredContent: { sum: a + b },
      })),
      now: defineTool({}, () => 'late'),
      fail: defineTool({}, () => {
        throw new Error('it broke');
      }),
      name: defineTool({}, () => 'a tool called name'),
    },
  },
);

const info = { name: 'typed-client', version: '1' };
const withOutput = REVISIONS.filter(({ rules }) => rules.structuredContent !== 'none');

describe.each(withOutput)('in $version', ({ version }) => {
  it('a tool is called by its name, with its own arguments and output', async () => {
    const client = await createClient<typeof server>(inMemoryTransport(server), info, { protocolVersion: version });
    open.push(client);
    const { structuredContent } = await client.tools.add({ a: 1, b: 2 });
    const sum: number = structuredContent.sum;
    expect(sum).toBe(3);
    expect((await client.tools.now()).content).toMatchObject([{ type: 'text', text: 'late' }]);
    expect((await client.tools.name()).content).toMatchObject([{ text: 'a tool called name' }]);
  });
});

it('a tool that fails throws, with the result', async () => {
  const client = await createClient<typeof server>(inMemoryTransport(server), info);
  open.push(client);
  const failure = await client.tools.fail().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ToolResultError);
  expect(failure).toMatchObject({ code: 'ERR_TOOL_FAILED', tool: 'fail', result: { isError: true } });
});

it('it is an ordinary client beside that', async () => {
  const client = await createClient<typeof server>(inMemoryTransport(server), info);
  open.push(client);
  const names: string[] = [];
  for await (const { name } of client.tools()) names.push(name);
  expect(names).toEqual(['add', 'now', 'fail', 'name']);
  expect((await client.callTool('add', { a: 1, b: 1 })).structuredContent).toEqual({ sum: 2 });
});
