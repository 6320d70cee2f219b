/** A server in a process of its own and a client of bare messages beside it, so that what is measured is the server. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { startNode } from '../run-command.mjs';

const versions = { legacy: '2025-11-25', modern: '2026-07-28' };
export const eras = ['legacy', 'modern'];

/** Starts a program of this folder. @returns It, and its lines. */
export function startProgram(name, ...args) {
  const child = startNode(['--expose-gc', `scripts/robustness/${name}`, ...args]);
  return { child, lines: createInterface({ input: child.stdout }) };
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
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
export const initialize = toMessage('open', 'initialize', {
  protocolVersion: versions.legacy,
  capabilities: {},
  clientInfo: { name: 'measure', version: '1.0.0' },
});

/** Sends a message over HTTP. @returns The response, of whose body nothing has been read. */
export function post(url, message, headers = {}, signal = undefined) {
  const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return fetch(url, { method: 'POST', headers: { ...types, ...headers }, body: JSON.stringify(message), signal });
}

/** Opens a legacy session over HTTP. @returns The response, and the headers that name the session. */
export async function openSession(url) {
  const response = await post(url, initialize);
  await response.text();
  const session = { 'mcp-session-id': response.headers.get('mcp-session-id'), 'mcp-protocol-version': versions.legacy };
  if (response.ok) await (await post(url, initialized, session)).text();
  return { response, session };
}

/** The server over one transport, and the ways to talk to it. */
export class Peer {
  /** Where it is, but over stdio. */
  url;
  child;
  #answered = new Map();
  #session = {};
  #lastId = 0;

  /** @param {'stdio' | 'http' | 'websocket'} transport @param {Record<string, unknown>} [options] Of the function that serves. */
  static async start(transport, options = {}) {
    const peer = new Peer();
    const { child, lines } = startProgram('measured-server.mjs', transport, JSON.stringify(options));
    peer.child = child;
    if (transport === 'stdio')
      lines.on('line', (line) => {
        // A server that is killed leaves half a line.
        if (!line.endsWith('}')) return;
        const message = JSON.parse(line);
        peer.#answered.get(message.id)?.(message);
        peer.#answered.delete(message.id);
      });
    else [peer.url] = await once(lines, 'line');
    if (transport === 'http') peer.#session = (await openSession(peer.url)).session;
    return peer;
  }

  /** A request as a message, with its headers over HTTP. */
  toRequest(era, method, params) {
    const id = (this.#lastId += 1);
    if (era === 'legacy') return [toMessage(id, method, { ...params, _meta: { progressToken: id } }), this.#session];
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': versions.modern,
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      'io.modelcontextprotocol/logLevel': 'info',
      progressToken: id,
    };
    const name = params.name ?? params.taskId;
    const headers = { 'mcp-protocol-version': versions.modern, 'mcp-method': method, ...(name && { 'mcp-name': name }) };
    return [toMessage(id, method, { ...params, _meta }), headers];
  }

  toCall(era, name, args = {}) {
    return this.toRequest(era, 'tools/call', { name, arguments: args });
  }

  /** Sends a message over HTTP. @returns The response, of whose body nothing has been read. */
  post(message, headers, signal) {
    return post(this.url, message, headers, signal);
  }

  /** Sends a request over HTTP and leaves when the response begins. */
  async postAndLeave([message, headers]) {
    const leaving = new AbortController();
    const response = await this.post(message, headers, leaving.signal);
    await response.body.getReader().read();
    leaving.abort();
  }

  /** Writes a message to a server over stdio. @returns Its response. */
  write(message) {
    const answered = new Promise((resolve) => this.#answered.set(message.id, resolve));
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
    return answered;
  }

  /** Sends a request. @returns Its result. */
  async request(era, method, params) {
    const [message, headers] = this.toRequest(era, method, params);
    const { result, error } = await (this.url === undefined ? this.write(message) : readResponse(await this.post(message, headers)));
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async callTool(era, name, args = {}) {
    return (await this.request(era, 'tools/call', { name, arguments: args })).content[0].text;
  }

  /** Calls a tool as a task. @returns The task once it is in one of these states, seen by polling. */
  async runTask(name, args, ...states) {
    let task = await this.request('modern', 'tools/call', { name, arguments: args });
    for (; !states.includes(task.status); task = await this.request('modern', 'tasks/get', { taskId: task.taskId })) await wait(5);
    return task;
  }

  /** Opens a legacy session over stdio. */
  async initialize() {
    await this.write(initialize);
    this.child.stdin.write(`${JSON.stringify(initialized)}\n`);
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
    for (const until = performance.now() + ms; performance.now() < until; peak = Math.max(peak, this.residentBytes)) await wait(25);
    return peak - before;
  }

  /** Asks what is held until it is as it should be, for at most five seconds. */
  async untilHeld(isGood) {
    for (const until = performance.now() + 5_000; ;) {
      const held = await this.held();
      if (isGood(held) || performance.now() > until) return held;
      await wait(50);
    }
  }

  async stop() {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}

async function readResponse(response) {
  const text = await response.text();
  return JSON.parse(text.startsWith('{') ? text : text.trimEnd().split('data: ').at(-1));
}

/** Opens a legacy session over a WebSocket. */
export async function openWebSocket(url) {
  const ws = new WebSocket(url, ['mcp'], { perMessageDeflate: false });
  await once(ws, 'open');
  ws.send(JSON.stringify(initialize));
  await once(ws, 'message');
  ws.send(JSON.stringify(initialized));
  return ws;
}

/** Makes calls over a WebSocket, all at once. @returns The texts of the responses, by the ids of the calls, from 1. */
export function callOverWebSocket(ws, name, allArgs) {
  return new Promise((resolve) => {
    const texts = new Map();
    ws.on('message', function onMessage(data) {
      const { id, result } = JSON.parse(data.toString());
      texts.set(id, result?.content[0].text);
      if (texts.size < allArgs.length) return;
      ws.off('message', onMessage);
      resolve(texts);
    });
    for (const [index, args] of allArgs.entries()) ws.send(JSON.stringify(toMessage(index + 1, 'tools/call', { name, arguments: args })));
  });
}
