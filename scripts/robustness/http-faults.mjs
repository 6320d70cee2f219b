/**
 * A fault at every await of a session over HTTP: the n-th thing of a kind fails, for n = 1, 2, 3, ... until a session has no n-th one.
 * Nothing may hang, what was acknowledged must hold, and nothing may stay open.
 */

import { createServer } from 'node:http';
import { McpClient } from '@mortise/client';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { createHttpHandler } from '@mortise/transport-http/server';

const eras = ['legacy', 'modern'];
const hangMs = 15_000;
/** Past this a kind has no end, which is a fault of the measurement. */
const mostFaults = 200;

/** Counts what happens, and says which one is to fail. */
class Trigger {
  count = 0;
  #nth;

  constructor(nth) {
    this.#nth = nth;
  }

  get wasReached() {
    return this.count >= this.#nth;
  }

  isNow() {
    this.count += 1;
    return this.count === this.#nth;
  }
}

/** Each kind wraps one seam of the server or the client; what it does not name stays whole. */
const kinds = {
  'a write of the server': (trigger) => ({
    listen: (listener) => (request, response) => {
      const write = response.write.bind(response);
      response.write = (...args) => (trigger.isNow() ? response.socket.destroy() : write(...args));
      const end = response.end.bind(response);
      response.end = (...args) => (trigger.isNow() ? response.socket.destroy() : end(...args));
      return listener(request, response);
    },
  }),
  'a store call': (trigger) => ({
    sessionStore: failing(new MemorySessionStore(), trigger),
    eventStore: failing(new MemoryEventStore(), trigger),
  }),
  'a timer of the server': (trigger) => ({ serverClock: hasty(trigger) }),
  'a request of the client': (trigger) => ({
    fetch: (...args) => (trigger.isNow() ? Promise.reject(new TypeError('fetch failed')) : fetch(...args)),
  }),
  'a read of the client': (trigger) => ({ fetch: async (...args) => withFailingBody(await fetch(...args), trigger) }),
  'a timer of the client': (trigger) => ({ clientClock: hasty(trigger) }),
};

/** Every method of a store rejects when its turn comes. */
function failing(store, trigger) {
  return new Proxy(store, {
    get(target, key) {
      const member = target[key];
      if (typeof member !== 'function') return member;
      return (...args) => (trigger.isNow() ? Promise.reject(new Error('the store is gone')) : member.apply(target, args));
    },
  });
}

/** A clock one of whose timers fires at once. */
function hasty(trigger) {
  const { now, monotonicMs } = systemClock;
  return {
    now: () => now.call(systemClock),
    monotonicMs: () => monotonicMs.call(systemClock),
    schedule: (fn, delayMs, options) => systemClock.schedule(fn, trigger.isNow() ? 0 : delayMs, options),
  };
}

function withFailingBody(response, trigger) {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream({
    async pull(controller) {
      if (trigger.isNow()) {
        controller.error(new TypeError('terminated'));
        await reader.cancel().catch(() => undefined);
        return;
      }
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

/** @returns {Promise<{ figure: string, ok: boolean }>} */
export async function failEverywhere() {
  const found = { faults: 0, hung: [], lost: [], left: [] };
  for (const [name, kind] of Object.entries(kinds)) {
    for (const era of eras) {
      for (let nth = 1; nth <= mostFaults; nth += 1) {
        const trigger = new Trigger(nth);
        const what = `${name} ${nth}, ${era}`;
        const outcome = await runOne(kind(trigger), era);
        if (!trigger.wasReached) break;
        found.faults += 1;
        if (outcome.hung) found.hung.push(what);
        if (outcome.lost) found.lost.push(what);
        if (outcome.left !== '') found.left.push(`${what}: ${outcome.left}`);
      }
    }
  }
  const { faults, hung, lost, left } = found;
  const bad = [...hung.map((what) => `hung: ${what}`), ...lost.map((what) => `lost: ${what}`), ...left];
  return {
    figure: `${faults} faults: ${hung.length} hang, ${lost.length} lost, ${left.length} left something${bad.length > 0 ? `; ${bad.slice(0, 5).join('; ')}` : ''}`,
    ok: bad.length === 0 && faults > 50,
  };
}

async function runOne({ listen = (listener) => listener, serverClock, clientClock, fetch: fetchLike, ...stores }, era) {
  const server = new McpServer({ name: 'measured', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: { type: 'object' } }, async ({ text }, ctx) => {
    await ctx.progress({ progress: 1 });
    return text;
  });
  const handler = createHttpHandler(server, {
    eventStore: new MemoryEventStore(),
    ...stores,
    ...(serverClock && { clock: serverClock }),
  });
  const http = createServer(listen((request, response) => void handler.node(request, response)));
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${http.address().port}/mcp`;
  const transport = httpTransport(url, {
    ...(fetchLike && { fetch: fetchLike }),
    ...(clientClock && { clock: clientClock }),
    reconnectionOptions: { maxRetries: 2 },
  });
  const hung = !(await withinMs(hangMs, useSession(transport, era)));
  const lost = era === 'legacy' && (await losesSession(url));
  const isQuiet = () => handler.counts.calls === 0 && handler.counts.streams === 0;
  for (const until = performance.now() + 2_000; !isQuiet() && performance.now() < until;)
    await new Promise((resolve) => setTimeout(resolve, 5));
  let left = isQuiet() ? '' : JSON.stringify(handler.counts);
  await handler.close({ drainMs: 0 });
  if (handler.counts.sessions !== 0) left += ` ${handler.counts.sessions} sessions after close`;
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
  await server.close();
  return { hung, lost, left };
}

/** What a program does with a client. Whatever fails says so; that is all this asks. */
async function useSession(transport, era) {
  const client = new McpClient({ name: 'measure', version: '1.0.0' }, { era, requestTimeoutMs: 3_000 });
  try {
    await client.connect(transport);
    for (const text of ['a', 'b']) {
      const answer = await client.callTool('echo', { text }, { onProgress: () => undefined }).catch(() => undefined);
      if (answer !== undefined && answer.content[0].text !== text) throw new Error('a wrong answer');
    }
    await client.listTools().catch(() => undefined);
  } catch (error) {
    if (error.message === 'a wrong answer') throw error;
  }
  await client.close();
}

/** Opens a session by hand. @returns whether one that was acknowledged is not there afterwards. */
async function losesSession(url) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const send = (message, more = {}) => fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(message) });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'measure', version: '1.0.0' } };
  const opened = await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params }).catch(() => undefined);
  await opened?.text().catch(() => undefined);
  const id = opened?.headers.get('mcp-session-id');
  if (opened?.status !== 200 || id === null) return false;
  const session = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'there' } } };
  // The fault may hit this call; the next one then finds the session.
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const text = await send(call, session)
      .then((answer) => answer.text())
      .catch(() => '');
    if (text.includes('there')) return false;
  }
  return true;
}

/** Whether a promise is kept in time. */
async function withinMs(limitMs, promise) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, limitMs, false)));
  const ended = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return ended;
}
