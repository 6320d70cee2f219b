// A server of another maker, as its own documents write one: `node servers.mjs tmcp stdio`, or `http`.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';

const info = { name: 'other', version: '1.0.0' };
const shape = z.object({ a: z.number(), b: z.number() });
const add = ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] });

const starts = {
  async tmcp(transport) {
    const { McpServer } = await import('tmcp');
    const { ZodJsonSchemaAdapter } = await import('@tmcp/adapter-zod');
    const server = new McpServer(info, { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } });
    server.tool({ name: 'add', description: 'Adds', schema: shape }, add);
    if (transport === 'stdio') {
      const { StdioTransport } = await import('@tmcp/transport-stdio');
      return void new StdioTransport(server).listen();
    }
    const { HttpTransport } = await import('@tmcp/transport-http');
    const http = new HttpTransport(server);
    listen(async (request) => (await http.respond(request)) ?? new Response(null, { status: 404 }));
  },

  async fastmcp(transport) {
    const { FastMCP } = await import('fastmcp');
    const server = new FastMCP(info);
    server.addTool({ name: 'add', description: 'Adds', parameters: shape, execute: async (args) => add(args) });
    if (transport === 'stdio') return void (await server.start({ transportType: 'stdio' }));
    await server.start({ transportType: 'httpStream', httpStream: { port: 3000, host: '127.0.0.1' } });
  },

  async 'mcp-lite'() {
    const { McpServer, StreamableHttpTransport, InMemorySessionAdapter } = await import('mcp-lite');
    const server = new McpServer({ ...info, schemaAdapter: (schema) => z.toJSONSchema(schema) });
    server.tool('add', { description: 'Adds', inputSchema: shape, handler: add });
    const sessionAdapter = new InMemorySessionAdapter({ maxEventBufferSize: 100 });
    listen(new StreamableHttpTransport({ sessionAdapter }).bind(server));
  },
};

const [maker, transport] = process.argv.slice(2);
await starts[maker](transport);

/** Serves a function from `Request` to `Response`. */
function listen(respond) {
  const server = createServer(async (req, res) => {
    const hasBody = req.method !== 'GET' && req.method !== 'DELETE';
    const body = hasBody ? { body: Readable.toWeb(req), duplex: 'half' } : {};
    const url = new URL(req.url, 'http://127.0.0.1');
    const response = await respond(new Request(url, { method: req.method, headers: req.headers, ...body }));
    res.writeHead(response.status, Object.fromEntries(response.headers));
    res.flushHeaders();
    if (response.body) await pipeline(Readable.fromWeb(response.body), res).catch(() => undefined);
    else res.end();
  });
  server.listen(3000, '127.0.0.1');
}
