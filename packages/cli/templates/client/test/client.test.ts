import { McpServer } from '@mortise/server';
import { serveHttp } from '@mortise/transport-http/node';
import { expect, it } from 'vitest';
import { connect } from '../src/client.ts';

it('calls a tool over HTTP', async () => {
  const server = new McpServer({ name: 'greeter', version: '1.0.0' });
  server.registerTool('greet', {}, () => 'Hello.');
  await using serving = await serveHttp(server, { port: 0 });
  await using client = await connect(serving.url);
  expect((await client.callTool('greet')).content).toEqual([{ type: 'text', text: 'Hello.' }]);
});
