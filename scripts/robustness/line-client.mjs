/** A client of lines and nothing else, so that what is measured is the server. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const modernVersion = '2026-07-28';
const legacyVersion = '2025-11-25';
const meta = {
  'io.modelcontextprotocol/protocolVersion': modernVersion,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'measure', version: '1.0.0' },
};

/** Every server that was started, so that none outlives the measurement. */
const children = new Set();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

export class LineClient {
  #era;
  #child;
  #lastId = 0;
  #rest = '';
  #waiting = new Map();

  /** @param {'legacy' | 'modern'} era @param {readonly string[]} [nodeArgs] */
  constructor(era, nodeArgs = []) {
    this.#era = era;
    this.#child = spawn(process.execPath, [...nodeArgs, fileURLToPath(new URL('server.mjs', import.meta.url))], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    children.add(this.#child);
    this.#child.once('exit', () => children.delete(this.#child));
    this.#child.stdin.on('error', () => undefined);
    this.#child.stderr.resume();
    this.#child.stdout.setEncoding('utf8').on('data', (chunk) => this.#read(chunk));
    this.exited = once(this.#child, 'exit').then(([code, signal]) => ({ code, signal, at: performance.now() }));
  }

  get pid() {
    return this.#child.pid;
  }

  get stdin() {
    return this.#child.stdin;
  }

  get stdout() {
    return this.#child.stdout;
  }

  async open() {
    if (this.#era === 'modern') return this.request('server/discover', {});
    const opened = await this.request('initialize', {
      protocolVersion: legacyVersion,
      capabilities: {},
      clientInfo: { name: 'measure', version: '1.0.0' },
    });
    this.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return opened;
  }

  /** Resolves to the whole answer, error or result. */
  request(method, params) {
    const id = ++this.#lastId;
    const answered = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.write({ jsonrpc: '2.0', id, method, params: this.#era === 'modern' ? { ...params, _meta: meta } : params });
    return answered;
  }

  async callTool(name, args = {}) {
    const answer = await this.request('tools/call', { name, arguments: args });
    if (answer.result === undefined) throw new Error(`${name}: ${JSON.stringify(answer.error)}`);
    return answer.result.content[0].text;
  }

  write(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  kill(signal) {
    this.#child.kill(signal);
  }

  async end() {
    this.#child.stdin.end();
    return this.exited;
  }

  #read(chunk) {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    }
  }
}
