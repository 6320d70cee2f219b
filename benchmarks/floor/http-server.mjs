// The floor for servers over HTTP: what bare node:http and JSON alone cost, in either era; with the face "web", a bare fetch handler.
import { createServer } from 'node:http';
import { throughFetch, throughHono } from '../measure/through-fetch.mjs';

const { face = 'node' } = JSON.parse(process.argv[2] ?? '{}');

const json = { 'Content-Type': 'application/json' };

function answer({ method, params }) {
  if (method === 'tools/call') {
    const { a, b, text } = params.arguments;
    if (text !== undefined) return { content: [{ type: 'text', text: String(text.length) }], resultType: 'complete' };
    const sum = a + b;
    return { content: [{ type: 'text', text: JSON.stringify({ sum }) }], structuredContent: { sum }, resultType: 'complete' };
  }
  const capabilities = { tools: {} };
  if (method === 'initialize') {
    return { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'floor', version: '1.0.0' } };
  }
  return { supportedVersions: ['2026-07-28'], capabilities, resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
}

function serve(message, response) {
  if (message.id === undefined) return response.writeHead(202).end();
  if (message.params?.name === 'progress') return response.writeHead(200, events).end(eventsOf(message));
  const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) });
  response.writeHead(200, { ...json, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

const events = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' };

function eventsOf({ id, params }) {
  const { progressToken } = params._meta;
  let text = '';
  for (let progress = 1; progress <= params.arguments.count; progress++) {
    text += `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } })}\n\n`;
  }
  const result = { content: [{ type: 'text', text: 'done' }], resultType: 'complete' };
  return `${text}event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
}

function serveNode(request, response) {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const bytes = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    serve(JSON.parse(bytes.toString()), response);
  });
}

async function serveWeb(request) {
  const message = JSON.parse(await request.text());
  if (message.params?.name === 'progress') return new Response(streamOf(eventsOf(message)), { headers: events });
  return new Response(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) }), { headers: json });
}

/** A stream, since a server does not know all of its events before it begins; one piece, as the node face makes one write. */
function streamOf(text) {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

const listeners = { node: () => serveNode, web: () => throughFetch(serveWeb), hono: () => throughHono(serveWeb) };
const server = createServer(listeners[face]());
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`));
