// A bare driver for a stdio server: spawns it, sends lines, matches answers by id. It costs the same for every server measured.
import { spawn } from 'node:child_process';

const probe = new URL('./probe.mjs', import.meta.url).href;

export function startPeer(file, args = [], nodeArgs = []) {
  const child = spawn(process.execPath, [...nodeArgs, '--import', probe, file, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const waiting = new Map();
  let cpuWaiter;
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr = (stderr + text).slice(-4000);
    const match = /CPU (\d+) RSS (\d+)\n/.exec(stderr);
    if (match && cpuWaiter) {
      stderr = '';
      cpuWaiter({ cpuUs: Number(match[1]), rssBytes: Number(match[2]) });
      cpuWaiter = undefined;
    }
  });
  let chunks = [];
  child.stdout.on('data', (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      chunks.push(chunk.subarray(from, end));
      const line = Buffer.concat(chunks).toString();
      chunks = [];
      from = end + 1;
      const message = JSON.parse(line);
      const resolve = waiting.get(message.id);
      if (resolve) {
        waiting.delete(message.id);
        resolve(message);
      }
    }
    if (from < chunk.length) chunks.push(chunk.subarray(from));
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  void exited.then(() => {
    for (const [id, resolve] of waiting) resolve({ id, error: { code: 0, message: `server exited: ${stderr}` } });
  });
  let nextId = 1;
  return {
    request(method, params) {
      const id = nextId++;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no answer to ${method} within 30 s`)), 30_000);
        waiting.set(id, (message) => {
          clearTimeout(timer);
          resolve(message);
        });
        child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n');
      });
    },
    notify(method, params) {
      child.stdin.write(JSON.stringify({ jsonrpc: '2.0', method, params }) + '\n');
    },
    cpu() {
      return new Promise((resolve) => {
        cpuWaiter = resolve;
        child.kill('SIGUSR2');
      });
    },
    async stop() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), 3000);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Opens the peer in an era and gives the `_meta` that its requests need. */
export async function openPeer(peer, era) {
  if (era === 'modern') {
    return {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
    };
  }
  const opened = await peer.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  });
  if (opened.error) throw new Error(`initialize failed: ${opened.error.message}`);
  peer.notify('notifications/initialized');
  return undefined;
}

/** Runs `count` requests with at most `inFlight` unanswered, checking each answer. */
export async function pump(count, inFlight, send, check) {
  let started = 0;
  async function lane() {
    while (started < count) {
      const index = started++;
      check(await send(index), index);
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane));
}
