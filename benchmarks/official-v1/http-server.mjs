import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { z } from 'zod';
import { throughFetch, throughHono } from '../measure/through-fetch.mjs';

const { face = 'node', sessions = false } = JSON.parse(process.argv[2] ?? '{}');

function makeServer() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool(
    'add',
    { description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool('measure', { description: 'Tells the length of a text', inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text: String(text.length) }],
  }));
  server.registerTool('progress', { description: 'Reports steps', inputSchema: { count: z.number() } }, async ({ count }, extra) => {
    const { progressToken } = extra._meta;
    for (let progress = 1; progress <= count; progress++) {
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
    }
    return { content: [{ type: 'text', text: 'done' }] };
  });
  return server;
}

const transports = new Map();

async function transportFor(request, body, response) {
  if (!sessions) {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: body.params?.name !== 'progress',
    });
    const server = makeServer();
    response.on('close', () => void server.close());
    await server.connect(transport);
    return transport;
  }
  const known = transports.get(request.headers['mcp-session-id']);
  if (known) return known;
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => transports.set(id, transport),
  });
  await makeServer().connect(transport);
  return transport;
}

function serveNode(request, response) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const body = JSON.parse(Buffer.concat(chunks).toString());
    await (await transportFor(request, body, response)).handleRequest(request, response, body);
  });
}

/** A server and a transport for each request, as its documents show for a stateless server. */
async function serveWeb(request) {
  const body = JSON.parse(await request.text());
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: body.params?.name !== 'progress',
  });
  await makeServer().connect(transport);
  return transport.handleRequest(request, { parsedBody: body });
}

const listeners = { node: () => serveNode, web: () => throughFetch(serveWeb), hono: () => throughHono(serveWeb) };
const http = createServer(listeners[face]());
http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
