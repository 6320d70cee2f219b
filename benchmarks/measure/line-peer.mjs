// A bare driver for a stdio server: spawns it, sends lines, matches answers by id. It costs the same for every server measured.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

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

/** The revisions that stand for the eras. */
export const versions = { legacy: '2025-11-25', modern: '2026-07-28' };
const clientInfo = { name: 'bench', version: '1.0.0' };

/** The `params` of `initialize`. */
export function initializeIn(protocolVersion) {
  return { protocolVersion, capabilities: {}, clientInfo };
}

/** The `_meta` of a modern request. */
export function metaIn(version) {
  return {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': clientInfo,
  };
}

/** Opens the peer in an era and gives the `_meta` that its requests need. */
export async function openPeer(peer, era, version = versions[era]) {
  if (era === 'modern') return metaIn(version);
  const opened = await peer.request('initialize', initializeIn(version));
  if (opened.result?.protocolVersion !== version) throw new Error(`initialize failed: ${JSON.stringify(opened).slice(0, 300)}`);
  await peer.notify('notifications/initialized');
  return undefined;
}

/** CPU microseconds a call, spent in the server alone. Ends the peer. */
export async function serverCpu(peer, { era, version, warmUp, count, inFlight, method = 'tools/call', makeParams, check }) {
  try {
    const meta = await openPeer(peer, era, version);
    const send = (index) => peer.request(method, { ...makeParams(index), ...(meta && { _meta: meta }) });
    await pump(warmUp, inFlight, send, check);
    const before = await peer.cpu();
    await pump(count, inFlight, send, check);
    return ((await peer.cpu()).cpuUs - before.cpuUs) / count;
  } finally {
    await peer.stop();
  }
}

/** Settings of `serverCpu`: calls of the tool that adds. */
export const callAdd = {
  makeParams: (index) => ({ name: 'add', arguments: { a: index, b: 1 } }),
  check: (message, index) => {
    if (message.result?.structuredContent?.sum !== index + 1) throw new Error(`wrong answer: ${JSON.stringify(message).slice(0, 300)}`);
  },
};

/** Milliseconds from the start of a stdio server's process to its answer to the first `tools/list`. */
export async function coldStart(file, era, version = versions[era]) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  const opening = [{ id: 1, method: 'initialize', params: initializeIn(version) }, { method: 'notifications/initialized' }];
  const messages = [
    ...(era === 'legacy' ? opening : []),
    { id: 2, method: 'tools/list', params: era === 'legacy' ? {} : { _meta: metaIn(version) } },
  ];
  child.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  let took;
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).id !== 2) continue;
    took = performance.now() - startedAt;
    break;
  }
  child.kill('SIGKILL');
  await exited;
  if (took === undefined) throw new Error(`${file} ended without an answer`);
  return took;
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
