import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const toolCount = Number(process.argv[2] ?? 1);

serveStdio(
  () => {
    const server = new McpServer({ name: 'bench', version: '1.0.0' });
    for (let index = 0; index < toolCount; index++) {
      server.registerTool(
        index === 0 ? 'add' : `add_${index}`,
        {
          description: 'Adds two numbers',
          inputSchema: z.object({ a: z.number(), b: z.number() }),
          outputSchema: z.object({ sum: z.number() }),
        },
        ({ a, b }) => ({ content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }], structuredContent: { sum: a + b } }),
      );
    }
    server.registerTool(
      'measure',
      { description: 'Tells the length of a text', inputSchema: z.object({ text: z.string() }) },
      ({ text }) => ({
        content: [{ type: 'text', text: String(text.length) }],
      }),
    );
    return server;
  },
  { maxBufferSize: 64 * 1024 * 1024 },
);
