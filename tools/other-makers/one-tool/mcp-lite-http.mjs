import { McpServer, StreamableHttpTransport } from 'mcp-lite';
import { z } from 'zod';
import { listen } from './listen.mjs';

const server = new McpServer({ name: 'one-tool', version: '1.0.0', schemaAdapter: (schema) => z.toJSONSchema(schema) });
const inputSchema = z.object({ a: z.number(), b: z.number() });
server.tool('add', { description: 'Adds', inputSchema, handler: ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }) });
listen(new StreamableHttpTransport().bind(server));
