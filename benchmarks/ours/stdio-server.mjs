import { McpServer } from '@mortise/server';
import { serveStdio } from '@mortise/transport-stdio/server';
import { z } from 'zod';

const server = new McpServer({ name: 'bench', version: '1.0.0' }, { pageSize: 10_000 });
const toolCount = Number(process.argv[2] ?? 1);
for (let index = 0; index < toolCount; index++) {
  server.registerTool(
    index === 0 ? 'add' : `add_${index}`,
    { description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ structuredContent: { sum: a + b } }),
  );
}
server.registerTool('measure', { description: 'Tells the length of a text', inputSchema: { text: z.string() } }, ({ text }) =>
  String(text.length),
);
await serveStdio(server);
