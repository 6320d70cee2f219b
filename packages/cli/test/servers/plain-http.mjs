/** `plain-server.mjs` over Streamable HTTP, with faults of HTTP of its own. */

import { createServer } from 'node:http';
import { createAnswerer } from './plain-server.mjs';

const STATUS = { '-32601': 404, '-32020': 400, '-32022': 400 };

/** @param {string} fault @returns A server that does not listen yet. */
export function createPlainHttp(fault) {
  const answer = createAnswerer(fault);
  const sessions = new Set();
  let last = 0;
  const server = createServer(async (request, response) => {
    const { headers, method } = request;
    const send = (status, message, more = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...more });
      response.end(message === undefined ? undefined : JSON.stringify(message));
    };
    if (fault === 'sign-in without metadata') return send(401, undefined, { 'www-authenticate': 'Bearer' });
    if (headers.origin !== undefined && fault === 'cuts the connection') return void request.socket.destroy();
    if (headers.origin !== undefined && fault !== 'any origin') return send(403);
    if (method === 'GET' && fault.startsWith('http')) return send(302, undefined, { location: fault });
    if (method === 'GET') return send(fault === 'GET not refused' ? 204 : 405);
    if (method === 'DELETE') {
      sessions.delete(headers['mcp-session-id']);
      return send(200);
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    let message;
    try {
      message = JSON.parse(body);
    } catch {
      return send(fault === 'broken body is 500' ? 500 : 400);
    }
    const version = message.params?._meta?.['io.modelcontextprotocol/protocolVersion'];
    if (version !== undefined) return answerModern(message, headers, send);
    if (headers['mcp-protocol-version'] === '1999-01-01' && fault !== 'any version header') return send(400);
    if (message.method === 'initialize') {
      const id = fault === 'short session ids' ? String(++last) : crypto.randomUUID();
      sessions.add(id);
      return send(200, answer(message), { 'mcp-session-id': id });
    }
    if (!sessions.has(headers['mcp-session-id']) && fault !== 'any session') return send(404);
    if (message.id === undefined) return send(fault === 'notification is 200' ? 200 : 202, answer(message));
    return send(200, answer(message));
  });
  return Object.assign(server, { sessions });

  function answerModern(message, headers, send) {
    const isWrong =
      headers['mcp-method'] === undefined
        ? fault !== 'header not needed'
        : headers['mcp-method'] !== message.method && fault !== 'header not compared';
    if (isWrong) return send(400, { jsonrpc: '2.0', id: message.id, error: { code: -32020, message: 'Header mismatch' } });
    const reply = answer(message);
    return reply === undefined ? send(202) : send(fault === 'errors are 200' ? 200 : (STATUS[reply.error?.code] ?? 200), reply);
  }
}
