/** A server in a process of its own and a client of bare messages beside it, so that what is measured is the server. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';

const versions = { legacy: '2025-11-25', modern: '2026-07-28' };
export const eras = ['legacy', 'modern'];

/** Every process that was started, so that none outlives the measurement. */
const children = new Set();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts a program of this folder. */
export function startProgram(name, ...args) {
  const child = spawn(process.execPath, ['--expose-gc', fileURLToPath(new URL(name, import.meta.url)), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  child.stdin.on('error', () => undefined);
  return child;
}

/** Keeps `width` of `count` calls going at all times. */
export async function inFlight(count, width, call) {
  let next = 0;
  const worker = async () => {
    while (next < count) await call((next += 1));
  };
  await Promise.all(Array.from({ length: width }, worker));
}

const toMessage = (id, method, params) => ({ jsonrpc: '2.0', id, method, params });
const opening = { protocolVersion: versions.legacy, capabilities: {}, clientInfo: { name: 'measure', version: '1.0.0' } };

/** The server over one transport, and the ways to talk to it. */
export class Peer {
  /** Where it is, but over stdio. */
  url;
  child;
  #answered = new Map();
  #sessionId;
  #lastId = 0;

  /** @param {'stdio' | 'http' | 'websocket'} transport @param {Record<string, unknown>} [options] Of the function that serves. */
  static async start(transport, options = {}) {
    const peer = new Peer();
    peer.child = startProgram('measured-server.mjs', transport, JSON.stringify(options));
    const lines = createInterface({ input: peer.child.stdout });
    if (transport === 'stdio') {
      lines.on('line', (line) => {
        // A server that is killed leaves half a line.
        if (!line.endsWith('}')) return;
        const message = JSON.parse(line);
        peer.#answered.get(message.id)?.(message);
        peer.#answered.delete(message.id);
      });
      return peer;
    }
    [peer.url] = await once(lines, 'line');
    if (transport === 'http') peer.#sessionId = (await peer.openSession()).headers.get('mcp-session-id');
    return peer;
  }

  /** A request as a message, with its headers over HTTP. */
  toRequest(era, method, params) {
    const id = (this.#lastId += 1);
    const version = versions[era];
    if (era === 'legacy')
      return [
        toMessage(id, method, { ...params, _meta: { progressToken: id } }),
        { 'mcp-protocol-version': version, ...(this.#sessionId !== undefined && { 'mcp-session-id': this.#sessionId }) },
      ];
    const meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/logLevel': 'info',
      progressToken: id,
    };
    const names = { 'mcp-method': method, ...(params.name !== undefined && { 'mcp-name': params.name }) };
    return [toMessage(id, method, { ...params, _meta: meta }), { 'mcp-protocol-version': version, ...names }];
  }

  toCall(era, name, args = {}) {
    return this.toRequest(era, 'tools/call', { name, arguments: args });
  }

  /** Sends a message over HTTP. @returns The answer, of whose body nothing has been read. */
  post(message, headers = {}, signal = undefined) {
    const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    return fetch(this.url, { method: 'POST', headers: { ...types, ...headers }, body: JSON.stringify(message), signal });
  }

  /** Opens a session over HTTP, and forgets it. */
  async openSession() {
    const response = await this.post(toMessage('open', 'initialize', opening));
    await response.text();
    const session = { 'mcp-session-id': response.headers.get('mcp-session-id'), 'mcp-protocol-version': versions.legacy };
    if (response.ok) await (await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)).text();
    return response;
  }

  /** Writes a message to a server over stdio. @returns Its answer. */
  write(message) {
    const answered = new Promise((resolve) => this.#answered.set(message.id, resolve));
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
    return answered;
  }

  async callTool(era, name, args = {}) {
    const [message, headers] = this.toCall(era, name, args);
    const { result, error } = await (this.url === undefined ? this.write(message) : readAnswer(await this.post(message, headers)));
    if (result === undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
    return result.content[0].text;
  }

  /** Opens a legacy session over stdio. */
  async initialize() {
    await this.write(toMessage('open', 'initialize', opening));
    this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  async held(era = 'modern') {
    return JSON.parse(await this.callTool(era, 'held'));
  }

  /** What the process holds of memory, seen from outside. */
  get residentBytes() {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))?.[1]) * 1024;
  }

  /** @returns By how much the process is larger at most, within a time, than it was. */
  async watchGrowth(ms, before = this.residentBytes) {
    let peak = this.residentBytes;
    for (const until = performance.now() + ms; performance.now() < until; peak = Math.max(peak, this.residentBytes))
      await new Promise((resolve) => setTimeout(resolve, 25));
    return peak - before;
  }

  /** Asks what is held until it is as it should be, for at most five seconds. */
  async untilHeld(isGood) {
    for (const until = performance.now() + 5_000; ;) {
      const held = await this.held();
      if (isGood(held) || performance.now() > until) return held;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async stop() {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}

async function readAnswer(response) {
  const text = await response.text();
  return JSON.parse(text.startsWith('{') ? text : text.trimEnd().split('data: ').at(-1));
}

/** Opens a legacy session over a WebSocket. */
export async function openWebSocket(url) {
  const ws = new WebSocket(url, ['mcp'], { perMessageDeflate: false });
  await once(ws, 'open');
  ws.send(JSON.stringify(toMessage(0, 'initialize', opening)));
  await once(ws, 'message');
  ws.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  return ws;
}

/** Makes calls over a WebSocket, all at once. @returns The texts of the answers, by the ids of the calls, from 1. */
export function callOverWebSocket(ws, name, allArgs) {
  return new Promise((resolve) => {
    const answers = new Map();
    ws.on('message', function onMessage(data) {
      const { id, result } = JSON.parse(data.toString());
      answers.set(id, result?.content[0].text);
      if (answers.size < allArgs.length) return;
      ws.off('message', onMessage);
      resolve(answers);
    });
    for (const [index, args] of allArgs.entries()) ws.send(JSON.stringify(toMessage(index + 1, 'tools/call', { name, arguments: args })));
  });
}
