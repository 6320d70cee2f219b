import { REVISIONS } from '@mortise/protocol';
import { describe, expect, it } from 'vitest';
import { McpClient } from '../src/index.ts';
import { complete, info, ScriptedServer, scriptOf } from './scripted-server.ts';

describe.each(REVISIONS)('$version', (revision) => {
  it('calls a tool', async () => {
    const server = new ScriptedServer(scriptOf(revision, { 'tools/call': () => complete(revision, { content: [{ type: 'text', text: 'hi' }] }) }));
    const client = await McpClient.connect(server.factory, info);
    expect(client.protocolVersion).toBe(revision.version);
    expect((await client.callTool('x', { a: 1 })).content).toEqual([{ type: 'text', text: 'hi' }]);
    await client.close();
  });
});
