import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod';
import { HttpTransport } from '@tmcp/transport-http';
import { McpServer } from 'tmcp';
import { z } from 'zod';
import { listen } from './listen.mjs';

const server = new McpServer({ name: 'one-tool', version: '1.0.0' }, { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } });
server.tool({ name: 'add', description: 'Adds', schema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
  content: [{ type: 'text', text: String(a + b) }],
}));
const transport = new HttpTransport(server);
listen(async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 }));
