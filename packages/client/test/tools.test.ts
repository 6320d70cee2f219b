/** What people and programs read off a tool. */

import { describe, expect, it } from 'vitest';
import { displayName, McpClient, toolHints } from '../src/index.ts';
import { NEWEST } from '@mortise/protocol';
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

  it('[TOOL-015] are what the server says', () => {
    expect(toolHints({ annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false } })).toEqual({
      isReadOnly: false,
      isDestructive: false,
      isIdempotent: true,
      isOpenWorld: false,
    });
  });

  it('[TOOL-015] of a read-only tool say that it destroys nothing', () => {
    expect(toolHints({ annotations: { readOnlyHint: true, destructiveHint: true, idempotentHint: false } })).toMatchObject({
      isReadOnly: true,
      isDestructive: false,
      isIdempotent: true,
    });
  });

  it('[TOOL-014] are cautious, whatever the server says, where it is not trusted', () => {
    expect(toolHints({ annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false } }, { isTrusted: false })).toEqual(
      toolHints({}),
    );
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
