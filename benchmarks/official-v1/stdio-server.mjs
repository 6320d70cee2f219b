import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'bench', version: '1.0.0' });
const toolCount = Number(process.argv[2] ?? 1);
for (let index = 0; index < toolCount; index++) {
  server.registerTool(
    index === 0 ? 'add' : `add_${index}`,
    { description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }], structuredContent: { sum: a + b } }),
  );
}
server.registerTool('measure', { description: 'Tells the length of a text', inputSchema: { text: z.string() } }, ({ text }) => ({
  content: [{ type: 'text', text: String(text.length) }],
}));
await server.connect(new StdioServerTransport());
