/**
 * A fault at every await of a session over HTTP: the n-th thing of a kind fails, for n = 1, 2, 3, ... until a session has no n-th one.
 * Nothing may hang, what was acknowledged must hold, and nothing may stay open.
 */

import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { McpClient } from '@mortise/client';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { createHttpHandler } from '@mortise/transport-http/server';
import { eras, initialize, post } from './peer.mjs';

const hangMs = 15_000;
/** Past this a kind has no end, which is a fault of the measurement. */
const mostFaults = 200;

/** Says of each thing of a kind whether it is the one to fail. */
function createTrigger(nth) {
  let count = 0;
  return { isNow: () => (count += 1) === nth, wasReached: () => count >= nth };
}

/** Each kind wraps one seam of the server or the client; what it does not name stays whole. */
const kinds = {
  'a write of the server': (trigger) => ({
    listen: (listener) => (request, response) => {
      for (const name of ['write', 'end']) {
        const whole = response[name].bind(response);
        response[name] = (...args) => (trigger.isNow() ? response.socket.destroy() : whole(...args));
      }
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
  const schedule = (fn, delayMs, options) => systemClock.schedule(fn, trigger.isNow() ? 0 : delayMs, options);
  return { ...systemClock, schedule };
}

function withFailingBody(response, trigger) {
  if (response.body === null) return response;
  async function* read() {
    for await (const chunk of response.body) {
      if (trigger.isNow()) throw new TypeError('terminated');
      yield chunk;
    }
  }
  return new Response(ReadableStream.from(read()), { status: response.status, headers: response.headers });
}

/** @returns {Promise<{ figure: string, ok: boolean }>} */
export async function failEverywhere() {
  const found = { hung: [], lost: [], left: [] };
  let faults = 0;
  for (const [name, kind] of Object.entries(kinds))
    for (const era of eras)
      for (let nth = 1; nth <= mostFaults; nth += 1) {
        const trigger = createTrigger(nth);
        const outcome = await runOne(kind(trigger), era);
        if (!trigger.wasReached()) break;
        faults += 1;
        for (const fault of Object.keys(found)) if (outcome[fault]) found[fault].push(`${fault}: ${name} ${nth}, ${era} ${outcome.left}`);
      }
  const { hung, lost, left } = found;
  const bad = [...hung, ...lost, ...left];
  const figure = `${faults} faults: ${hung.length} hang, ${lost.length} lost, ${left.length} left something`;
  return { figure: [figure, ...bad.slice(0, 5)].join('; '), ok: bad.length === 0 && faults > 50 };
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
  const ended = new AbortController();
  const late = wait(hangMs, true, { signal: ended.signal }).catch(() => undefined);
  const hung = (await Promise.race([useSession(transport, era), late])) === true;
  ended.abort();
  const lost = era === 'legacy' && (await losesSession(url));
  const isQuiet = () => handler.counts.calls === 0 && handler.counts.streams === 0;
  for (const until = performance.now() + 2_000; !isQuiet() && performance.now() < until;) await wait(5);
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
  const opened = await post(url, initialize).catch(() => undefined);
  await opened?.text().catch(() => undefined);
  const id = opened?.headers.get('mcp-session-id');
  if (opened?.status !== 200 || id === null) return false;
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'there' } } };
  const callOnce = async () => (await post(url, call, { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' })).text();
  // The fault may hit this call; the next one then finds the session.
  const texts = [await callOnce().catch(() => ''), await callOnce().catch(() => '')];
  return !texts.some((text) => text.includes('there'));
}
