/** A client of bare requests, so that what is measured is the server; and the server's process beside it. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const modernVersion = '2026-07-28';
const legacyVersion = '2025-11-25';
const meta = {
  'io.modelcontextprotocol/protocolVersion': modernVersion,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/logLevel': 'info',
};

/** Every server that was started, so that none outlives the measurement. */
const children = new Set();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts a script beside this file whose first line is its address, and what more it has to say. */
export async function startScript(name, argument = {}, nodeArgs = []) {
  const file = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, [...nodeArgs, file, JSON.stringify(argument)], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const lines = createInterface({ input: child.stdout });
  const exited = once(child, 'exit');
  const first = await Promise.race([once(lines, 'line'), exited]);
  if (typeof first[0] !== 'string' || !first[0].startsWith('http')) throw new Error(`${name} ended before it listened`);
  const [url, ...words] = first[0].split(' ');
  return { url, words, child, exited };
}

export class HttpPeer {
  #child;
  #exited;
  #url;
  #agent = new Agent({ keepAlive: true, maxSockets: 512 });
  #sessionId;
  #lastId = 0;

  /** @param {Record<string, unknown>} [options] Of `serveHttp`. */
  static async start(options = {}) {
    const { url, child, exited } = await startScript('http-server.mjs', options);
    const peer = new HttpPeer();
    peer.#url = url;
    peer.#child = child;
    peer.#exited = exited;
    return peer;
  }

  get pid() {
    return this.#child.pid;
  }

  get url() {
    return this.#url;
  }

  /** Opens a session that later calls belong to. */
  async open() {
    const { headers } = await this.initialize();
    this.#sessionId = headers['mcp-session-id'];
  }

  /** Opens a session that nothing remembers here. */
  async initialize() {
    const params = { protocolVersion: legacyVersion, capabilities: {}, clientInfo: { name: 'measure', version: '1.0.0' } };
    const answer = await this.post({ jsonrpc: '2.0', id: 'open', method: 'initialize', params });
    const session = { 'mcp-session-id': answer.headers['mcp-session-id'], 'mcp-protocol-version': legacyVersion };
    if (answer.status === 200) await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session);
    return answer;
  }

  async callTool(era, name, args = {}) {
    const { text, status } = await this.post(...this.toCall(era, name, args));
    const message = JSON.parse(text.startsWith('{') ? text : text.trimEnd().split('data: ').at(-1));
    if (message.result === undefined) throw new Error(`${name}: HTTP ${status} ${JSON.stringify(message.error)}`);
    return message.result.content[0].text;
  }

  /** The message and the headers of a call. */
  toCall(era, name, args = {}, more = {}) {
    return this.toRequest(era, 'tools/call', { name, arguments: args }, { ...more, ...(era === 'modern' && { 'mcp-name': name }) });
  }

  toRequest(era, method, params, more = {}) {
    const id = ++this.#lastId;
    if (era === 'legacy')
      return [
        { jsonrpc: '2.0', id, method, params: { ...params, _meta: { progressToken: id } } },
        { 'mcp-session-id': this.#sessionId, 'mcp-protocol-version': legacyVersion, ...more },
      ];
    return [
      { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...meta, progressToken: id } } },
      { 'mcp-protocol-version': modernVersion, 'mcp-method': method, ...more },
    ];
  }

  async held(collects = true) {
    return JSON.parse(await this.callTool('modern', 'held', { collects }));
  }

  /** Resolves to the whole answer. */
  async post(message, headers = {}) {
    const response = await this.begin(message, headers);
    const chunks = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() };
  }

  /** Resolves when the head of the answer is here. */
  begin(message, headers = {}, agent = this.#agent) {
    const body = JSON.stringify(message);
    return new Promise((resolve, reject) => {
      const request = httpRequest(this.#url, {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      });
      request.on('response', (response) => {
        response.request = request;
        resolve(response);
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  async stop() {
    this.#agent.destroy();
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
