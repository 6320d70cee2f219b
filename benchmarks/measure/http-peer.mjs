// A bare driver for a server over HTTP: spawns it and posts to it over connections that stay open. It costs the same for every server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { createInterface } from 'node:readline';
import { initializeIn, metaIn, versions } from './line-peer.mjs';

const probe = new URL('./probe.mjs', import.meta.url).href;

/** Starts a program whose first line is its address. */
export async function startHttpServer(file, options = {}, nodeArgs = []) {
  const child = spawn(process.execPath, [...nodeArgs, '--import', probe, file, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr = (stderr + text).slice(-4000)));
  const exited = once(child, 'exit');
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited]);
  if (typeof line !== 'string') throw new Error(`${file} ended: ${stderr}`);
  return {
    url: line,
    pid: child.pid,
    /** What it has used so far, and with `--expose-gc` what is alive. */
    async usage() {
      stderr = '';
      child.kill('SIGUSR2');
      for (;;) {
        const found = /CPU (\d+) RSS (\d+)(?: HEAP (\d+))?\n/.exec(stderr);
        if (found) return { cpuUs: Number(found[1]), rssBytes: Number(found[2]), heapBytes: Number(found[3]) };
        await once(child.stderr, 'data');
      }
    },
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Posts to one address over so many connections. */
export class HttpDriver {
  #url;
  #agent;
  #era;
  #lastId = 0;

  constructor(url, era, connections) {
    this.#url = new URL(url);
    this.#era = era;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** @param session The id of a legacy session; without one the call stands alone. */
  async call(name, args, session) {
    const id = ++this.#lastId;
    const isModern = this.#era === 'modern';
    const _meta = { ...(isModern && metaIn(versions.modern)), progressToken: id };
    const headers = isModern
      ? { 'mcp-protocol-version': versions.modern, 'mcp-method': 'tools/call', 'mcp-name': name }
      : { 'mcp-protocol-version': versions.legacy, ...(session && { 'mcp-session-id': session }) };
    const text = await this.post({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta } }, headers);
    const message = JSON.parse(text.startsWith('{') ? text : text.trimEnd().slice(text.trimEnd().lastIndexOf('data: ') + 6));
    if (message.id !== id || message.result === undefined) throw new Error(`wrong answer: ${text.slice(0, 300)}`);
    return { result: message.result, text };
  }

  /** Opens a legacy session. @returns Its id. */
  async open() {
    const params = initializeIn(versions.legacy);
    let session;
    await this.post({ jsonrpc: '2.0', id: 1, method: 'initialize', params }, {}, (headers) => (session = headers['mcp-session-id']));
    await this.post(
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { 'mcp-session-id': session, 'mcp-protocol-version': versions.legacy },
    );
    if (session === undefined) throw new Error('no session');
    return session;
  }

  post(message, headers, onHeaders) {
    const body = JSON.stringify(message);
    const { hostname, port, pathname, host } = this.#url;
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        hostname,
        port,
        path: pathname,
        method: 'POST',
        agent: this.#agent,
        headers: {
          host,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      });
      request.on('error', reject);
      request.on('response', (response) => {
        onHeaders?.(response.headers);
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve(Buffer.concat(chunks).toString()));
      });
      request.end(body);
    });
  }

  close() {
    this.#agent.destroy();
  }
}
