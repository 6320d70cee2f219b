/**
 * `npm run robustness`: the figures that need a process of their own to be measured (most of ROBUSTNESS is shown by tests), each beside its goal. Words
 * after `--` choose those whose description has one of them (`HTTP`, `WebSockets`).
 */

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createSqliteStores } from '@mortise/store-sqlite';
import { failEverywhere } from './http-faults.mjs';
import { callOverWebSocket, eras, inFlight, openSession, openWebSocket, Peer, startProgram } from './peer.mjs';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const inMebibytes = (bytes) => `${(bytes / mebibyte).toFixed(2)} MiB`;

/** @type {{ rule: number, what: string, goal: string, measure: () => Promise<{ figure: string, ok: boolean }> }[]} */
const figures = [];

/** Adds a figure that is measured at a server over `transport`, started for it with `options`. */
function atServer(rule, transport, what, goal, measure, options = {}) {
  const start = async () => {
    const peer = await Peer.start(transport, options);
    try {
      return await measure(peer);
    } finally {
      await peer.stop();
    }
  };
  figures.push({ rule, what, goal, measure: start });
}

for (const [name, transport] of Object.entries({ stdio: 'stdio', HTTP: 'http' }))
  for (const era of eras)
    atServer(
      3,
      transport,
      `${name}: 10,000 calls, 500 in flight, then the heap over 100,000 more, ${era}`,
      'no wrong answer, under 1 MiB',
      async (peer) => {
        if (transport === 'stdio' && era === 'legacy') await peer.initialize();
        let wrong = 0;
        const call = async (index) => {
          if ((await peer.callTool(era, 'echo', { text: `call ${index}` })) !== `call ${index}`) wrong += 1;
        };
        await inFlight(10_000, 500, call);
        await inFlight(10_000, 32, call);
        const before = (await peer.held(era)).heapUsed;
        await inFlight(100_000, 32, call);
        const growth = (await peer.held(era)).heapUsed - before;
        return { figure: `${wrong} wrong, ${inMebibytes(growth)}`, ok: wrong === 0 && growth < mebibyte };
      },
    );

// 64 MiB of requests may be in flight, and the rest is read to be refused.
for (const [tool, how, mostMebibytes] of [
  ['echo', 'no answer is read', 96],
  ['wait', 'none is answered', 192],
])
  atServer(7, 'stdio', `stdio: 500 calls of 1 MiB, ${how}: growth`, `at most ${mostMebibytes} MiB`, async (peer) => {
    await peer.callTool('modern', 'echo', { text: 'warm' });
    const before = peer.residentBytes;
    peer.child.stdout.pause();
    const text = 'x'.repeat(mebibyte);
    let growth = 0;
    for (let call = 0; call < 500; call += 1) {
      void peer.write(peer.toCall('modern', tool, { text })[0]);
      if (call % 20 === 0) growth = Math.max(growth, await peer.watchGrowth(50, before));
    }
    growth = Math.max(growth, await peer.watchGrowth(1_000, before));
    return { figure: inMebibytes(growth), ok: growth <= mostMebibytes * mebibyte };
  });

atServer(7, 'stdio', 'stdio: a line of 17 MiB: growth, and the next call', 'at most 48 MiB, served', async (peer) => {
  await peer.callTool('modern', 'echo', { text: 'warm' });
  const watched = peer.watchGrowth(1_000);
  peer.child.stdin.write(`${JSON.stringify(peer.toCall('modern', 'echo', { text: 'x'.repeat(17 * mebibyte) })[0])}\n`);
  const served = await peer.callTool('modern', 'echo', { text: 'next' });
  const growth = await watched;
  return { figure: `${inMebibytes(growth)}, then ${served}`, ok: served === 'next' && growth <= 48 * mebibyte };
});

for (const era of eras)
  atServer(
    7,
    'http',
    `HTTP: a reader that stops, a call that says 250 MiB, ${era}: growth`,
    'at most 32 MiB, then the answer',
    async (peer) => {
      await peer.callTool(era, 'talk', { count: 20 });
      const watched = peer.watchGrowth(2_000);
      const response = await peer.post(...peer.toCall(era, 'talk', { count: 4_000 }));
      const growth = await watched;
      const isAnswered = (await response.text()).slice(-1_000).includes('"said"');
      return { figure: `${inMebibytes(growth)}, ${isAnswered ? '' : 'not '}answered`, ok: growth <= 32 * mebibyte && isAnswered };
    },
  );

/** What a server holds in memory after a collection of garbage. */
const toHeld = ({ heapUsed, external }) => heapUsed + external;
const listen = (peer, notifications) => peer.post(...peer.toRequest('modern', 'subscriptions/listen', { notifications }));

atServer(7, 'http', 'HTTP: 20 listeners that stop reading, 140 MiB of news: what is kept', 'at most 64 MiB', async (peer) => {
  const uris = Array.from({ length: 1_000 }, (_, step) => `test://${step}/${'x'.repeat(200)}`);
  const streams = await Promise.all(Array.from({ length: 20 }, () => listen(peer, { resourceSubscriptions: uris })));
  const before = toHeld(await peer.held());
  await peer.callTool('modern', 'change', { count: 20_000 });
  const growth = toHeld(await peer.held()) - before;
  return { figure: inMebibytes(growth), ok: growth <= 64 * mebibyte && streams.every(({ ok }) => ok) };
});

atServer(
  17,
  'http',
  'HTTP: 100 tasks of 3 MiB and 12,000 small ones of one caller have ended: what is kept',
  'at most 64 MiB',
  async (peer) => {
    const text = 'x'.repeat(3 * mebibyte);
    const before = toHeld(await peer.held());
    await inFlight(100, 4, () => peer.runTask('keep', { text }, 'completed'));
    await inFlight(12_000, 32, () => peer.runTask('keep', { text: 'small' }, 'completed'));
    const growth = toHeld(await peer.held()) - before;
    return { figure: inMebibytes(growth), ok: growth <= 64 * mebibyte };
  },
);

atServer(18, 'http', 'HTTP: as many tasks as may run wait for an answer, then a further task', 'completed', async (peer) => {
  await inFlight(10, 10, () => peer.runTask('ask', {}, 'input_required'));
  const { status } = await Promise.race([peer.runTask('keep', { text: 'next' }, 'completed'), wait(10_000, { status: 'not started' })]);
  return { figure: status, ok: status === 'completed' };
});

atServer(
  7,
  'http2',
  'HTTP/2: 20 connections with 100 answers of 64 KiB each that nobody reads, with a `stallMs` of 2 s: answers left',
  '0 in 30 s',
  async (peer) => {
    const ask = (session) => {
      const [message, headers] = peer.toCall('modern', 'large');
      const accept = 'application/json, text/event-stream';
      const stream = session.request({ ':method': 'POST', ':path': '/mcp', 'content-type': 'application/json', accept, ...headers });
      stream.on('error', () => undefined).end(JSON.stringify(message));
      return stream;
    };
    const sessions = Array.from({ length: 20 }, () => connect(peer.url, { settings: { initialWindowSize: 0 } }));
    for (const session of sessions) session.on('error', () => undefined);
    const streams = sessions.flatMap((session) => Array.from({ length: 100 }, () => ask(session)));
    const startedAt = performance.now();
    const cut = Promise.all(streams.map((stream) => stream.closed || once(stream, 'close')));
    await Promise.race([cut, wait(30_000)]);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const left = streams.filter(({ closed }) => !closed).length;
    for (const session of sessions) session.destroy();
    return { figure: `${left} after ${seconds} s`, ok: left === 0 };
  },
  { stallMs: 2_000 },
);

for (const maxSessionsPerKey of [10_000, 1_000]) {
  const what = `HTTP: 10,000 abandoned sessions, ${maxSessionsPerKey} of them kept`;
  const abandon = async (peer) => {
    const before = (await peer.held()).rss;
    let refused = 0;
    await inFlight(10_000, 32, async () => {
      if (!(await openSession(peer.url)).response.ok) refused += 1;
    });
    const { response: next } = await openSession(peer.url);
    const { rss, counts } = await peer.held();
    const growth = rss - before;
    return {
      figure: `${inMebibytes(growth)} with ${counts.sessions} kept, ${refused} refused, the next one: ${next.status}`,
      ok: growth <= 100 * mebibyte && refused === 0 && next.ok,
    };
  };
  atServer(8, 'http', what, 'at most 100 MiB, the next one opens', abandon, { maxSessionsPerKey });
}

atServer(8, 'http', 'HTTP: 900 idle listen streams', 'at most 40 KiB each', async (peer) => {
  // Held until the end: `fetch` closes the stream of a response that nothing refers to any more.
  const responses = [];
  const open = (count) => inFlight(count, 32, async () => responses.push(await listen(peer, { toolsListChanged: true })));
  await open(50);
  const before = (await peer.held()).rss;
  await open(900);
  const { rss, counts } = await peer.held();
  const each = (rss - before) / 900;
  const isKept = counts.streams === 950 && responses.every(({ ok }) => ok);
  return { figure: `${(each / kibibyte).toFixed(1)} KiB each of ${counts.streams}`, ok: each <= 40 * kibibyte && isKept };
});

for (const era of eras)
  atServer(9, 'http', `HTTP: 300 disconnects in mid-call, ${era}`, '0 descriptors, timers, streams, calls left', async (peer) => {
    const leave = () => peer.postAndLeave(peer.toCall(era, 'wait', { ms: 1_000 }));
    const isQuiet = ({ waiting, counts }) => waiting === 0 && counts.calls <= 1 && counts.streams === 0;
    await inFlight(20, 20, leave);
    const before = await peer.untilHeld(isQuiet);
    await inFlight(300, 50, leave);
    const after = await peer.untilHeld((held) => isQuiet(held) && held.descriptors <= before.descriptors && held.timers <= before.timers);
    const descriptors = Math.max(0, after.descriptors - before.descriptors);
    const timers = Math.max(0, after.timers - before.timers);
    const aborted = after.aborted - before.aborted;
    return {
      figure: `${descriptors} descriptors, ${timers} timers, ${after.counts.streams} streams, ${after.waiting} handlers; ${aborted} aborted`,
      // In the legacy era who leaves has not cancelled: its handlers end by themselves.
      ok: descriptors === 0 && timers === 0 && isQuiet(after) && aborted === (era === 'modern' ? 300 : 0),
    };
  });

async function meetHostileServers(sender) {
  const { child, lines } = startProgram('hostile-server.mjs');
  const [url, ...attacks] = (await once(lines, 'line'))[0].split(' ');
  let worst = { peak: 0, attack: '' };
  for (const attack of attacks) {
    const victim = startProgram('victim.mjs', `${url}${attack}`, sender);
    const { peak, outcome } = JSON.parse((await once(victim.lines, 'line'))[0]);
    if (outcome === 'answered') throw new Error(`${attack} was taken for an answer`);
    if (peak > worst.peak) worst = { peak, attack };
  }
  child.kill('SIGKILL');
  return { figure: `${inMebibytes(worst.peak)} at "${worst.attack}"`, ok: worst.peak <= 250 * mebibyte };
}

for (const sender of ['fetch', 'node:http'])
  figures.push({
    rule: 7,
    what: `HTTP: hostile servers, the most memory of a client over ${sender}`,
    goal: 'at most 250 MiB in all',
    measure: () => meetHostileServers(sender),
  });

figures.push({
  rule: 5,
  what: 'HTTP: the n-th write, read, store call or timer fails, for every n of a session in both eras',
  goal: '0 hang, 0 acknowledged sessions lost, 0 calls, streams and sessions left',
  measure: failEverywhere,
});

/** Uses 45 sound servers through a host, alone and beside 5 hostile ones. */
async function hostBesideHostile() {
  const peer = await Peer.start('http', {});
  const run = async (...hostile) => {
    const { lines } = startProgram('host-of-many.mjs', peer.url, ...hostile);
    return JSON.parse((await once(lines, 'line'))[0]);
  };
  try {
    const alone = await run();
    const beside = await run('silent', 'floods', 'garbage', 'dies', 'huge');
    const factor = beside.ms / alone.ms;
    const ok = factor <= 2 && beside.right === 1_800 && beside.peakBytes <= 300 * mebibyte;
    return { figure: `${beside.right} right, ${factor.toFixed(2)} times as long, ${inMebibytes(beside.peakBytes)}`, ok };
  } finally {
    await peer.stop();
  }
}

figures.push({
  rule: 18,
  what: 'Host: 45 servers beside 5 that are silent, flood, send garbage, die and list without an end: 1,800 calls, time, memory',
  goal: '1,800 right, at most twice as long as alone, at most 300 MiB',
  measure: hostBesideHostile,
});

/** Runs this many parts of a work, one after the other. @returns How long the slowest took, in milliseconds. */
async function timeSlowest(parts, part) {
  let slowest = 0;
  for (let index = 0; index < parts; index += 1) {
    const before = performance.now();
    await part(index);
    slowest = Math.max(slowest, performance.now() - before);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return slowest;
}

/** Measures what a server would do between two calls: writes to a file that has much in it, each flushed to the disk. */
async function writeBesideMuch() {
  const folder = await mkdtemp(join(tmpdir(), 'mortise-robustness-'));
  const path = join(folder, 'stores.db');
  const event = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(100) } };
  const task = {
    generation: '2026-07-28',
    principal: 'ada',
    status: 'working',
    driver: 'engine',
    resumable: true,
    asks: [],
    ttlMs: null,
    owner: 'owner',
  };
  const times = { createdAtMs: Date.now(), updatedAtMs: Date.now() };
  const filled = await createSqliteStores({ path, durability: 'normal', events: { maxEventsPerStream: 10_000 } });
  for (let index = 0; index < 300_000; index += 1) await filled.events.append(`session ${index % 30}`, 'stream', event);
  for (let index = 0; index < 10_000; index += 1)
    await filled.tasks.create({ ...task, ...times, id: `task ${index}` }, { leaseMs: 30_000 });
  await filled.close();
  // All events have expired, and each stream has nine tenths more than its limit.
  const { events, tasks, close } = await createSqliteStores({ path, events: { maxAgeMs: 1 } });
  const append = await timeSlowest(1_024, (index) => events.append(`session ${index % 30}`, 'stream', event));
  const renewal = await timeSlowest(20, () => tasks.renew('owner', 30_000));
  await close();
  await rm(folder, { recursive: true });
  const ok = append <= 50 && renewal <= 100;
  return { figure: `an append ${append.toFixed(1)} ms, a renewal ${renewal.toFixed(1)} ms`, ok };
}

figures.push({
  rule: 18,
  what: 'SQLite, flushed: the slowest of 1,024 appends beside 300,000 events, of 20 renewals of 10,000 running tasks at once',
  goal: 'at most 50 and 100 ms',
  measure: writeBesideMuch,
});

async function openMany(url, count) {
  const sockets = [];
  await inFlight(count, 100, async () => sockets.push(await openWebSocket(url)));
  return sockets;
}

const heldOverWebSocket = async (ws) => JSON.parse((await callOverWebSocket(ws, 'held', [{}])).get(1));

atServer(8, 'websocket', '5,000 idle WebSockets: memory of the server for each', 'at most 60 KiB', async ({ url }) => {
  const [first] = await openMany(url, 100);
  const before = await heldOverWebSocket(first);
  await openMany(url, 5_000);
  const after = await heldOverWebSocket(first);
  const each = (after.rss - before.rss) / 5_000;
  return { figure: `${Math.round(each / kibibyte)} KiB`, ok: after.counts - before.counts === 5_000 && each <= 60 * kibibyte };
});

atServer(
  7,
  'websocket',
  '100,000 answers over 40 WebSockets, beside 10 that do not read: growth, wrong answers',
  'at most 64 MiB, 0',
  async (peer) => {
    const sockets = await openMany(peer.url, 50);
    const [slow, quick] = [sockets.slice(0, 10), sockets.slice(10)];
    const hundred = Array.from({ length: 100 }, (_, index) => ({ text: `call ${index + 1}` }));
    let wrong = 0;
    const callAll = (rounds) =>
      inFlight(quick.length * rounds, quick.length, async (index) => {
        const texts = await callOverWebSocket(quick[index % quick.length], 'echo', hundred);
        for (const [id, text] of texts) if (text !== `call ${id}`) wrong += 1;
      });
    // What the same calls need while everyone reads, garbage that waits to be collected included, is no growth.
    const alone = peer.residentBytes;
    const watchedAlone = peer.watchGrowth(5_000, alone);
    await callAll(25);
    const watched = peer.watchGrowth(5_000, alone + (await watchedAlone));
    for (const ws of slow) {
      ws.pause();
      // Responses of 64 KiB, far more than the server may keep for one that does not read.
      void callOverWebSocket(ws, 'large', Array(500).fill({}));
    }
    await callAll(25);
    const growth = await watched;
    return { figure: `${inMebibytes(growth)}, ${wrong} wrong`, ok: growth <= 64 * mebibyte && wrong === 0 };
  },
);

const words = process.argv.slice(2);
const chosen = figures.filter(({ what }) => words.length === 0 || words.some((word) => what.includes(word)));
if (chosen.length === 0) throw new Error(`No figure is described by ${words.join(' or ')}`);
let missed = 0;
for (const { rule, what, goal, measure } of chosen) {
  const { figure, ok } = await measure().catch((error) => ({ figure: `failed: ${error.message}`, ok: false }));
  if (!ok) missed += 1;
  console.log(`${ok ? 'ok    ' : 'MISSED'} rule ${String(rule).padEnd(2)} ${what}: ${figure} (goal: ${goal})`);
}
process.exit(missed === 0 ? 0 : 1);
