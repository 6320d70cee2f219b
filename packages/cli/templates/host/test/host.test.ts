import { inMemoryTransport } from '@mortise/client/in-memory';
import { McpServer } from '@mortise/server';
import { expect, it } from 'vitest';
import { connect } from '../src/host.ts';

function createServers() {
  const notes = new McpServer({ name: 'notes', version: '1.0.0' });
  notes.registerTool('read', {}, () => 'milk and bread');
  return { notes: { transport: inMemoryTransport(notes) } };
}

it('calls a tool that the user allows', async () => {
  const host = connect(createServers(), async () => true);
  expect((await host.callTool('notes__read')).content).toEqual([{ type: 'text', text: 'milk and bread' }]);
  await host.close();
});

it('calls no tool that the user does not allow', async () => {
  const host = connect(createServers(), async () => false);
  await expect(host.callTool('notes__read')).rejects.toThrow('the policy did not allow it');
  await host.close();
});
