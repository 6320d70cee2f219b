/** The figures that HTTP can show: each a rule, a goal, and a measurement that says what it found and whether that is good enough. */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { failEverywhere } from './http-faults.mjs';
import { HttpPeer, startScript } from './http-client.mjs';
import { inFlight } from './in-flight.mjs';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const eras = ['legacy', 'modern'];

/** @type {readonly { rule: string, what: string, goal: string, measure: () => Promise<{ figure: string, ok: boolean }> }[]} */
export const httpFigures = [
  ...eras.map((era) => ({
    rule: '3',
    what: `HTTP: 10,000 calls, 500 in flight, ${era}`,
    goal: 'no wrong answer',
    measure: () => countWrongAnswers(era),
  })),
  ...eras.map((era) => ({
    rule: '7',
    what: `HTTP: heap slope over 100,000 calls, ${era}`,
    goal: 'under 1 MiB',
    measure: () => measureHeapSlope(era),
  })),
  { rule: '7', what: 'HTTP: a body of 64 MiB', goal: '413 in under 200 ms, at most 16 MiB of growth', measure: () => sendLargeBody() },
  { rule: '7', what: 'HTTP: a body that says its length of 64 MiB', goal: '413 in under 200 ms', measure: () => announceLargeBody() },
  {
    rule: '7',
    what: 'HTTP: 100 bodies that stall, until the server has ended them (bound set to 1 s)',
    goal: 'under 3 s, 0 descriptors left',
    measure: () => stallBodies(),
  },
  ...eras.map((era) => ({
    rule: '7',
    what: `HTTP: a reader that stops, a call that says 250 MiB, ${era}: growth of the server`,
    goal: 'at most 32 MiB, then the answer',
    measure: () => stopReading(era),
  })),
  {
    rule: '7',
    what: 'HTTP: 20 listeners that stop reading, 80 MiB of news: growth of the server',
    goal: 'at most 64 MiB',
    measure: () => stopListening(),
  },
  {
    rule: '8',
    what: 'HTTP: 10,000 abandoned sessions, all kept',
    goal: 'at most 100 MiB, the next one opens',
    measure: () => abandon(10_000),
  },
  {
    rule: '8',
    what: 'HTTP: 10,000 abandoned sessions, by default',
    goal: 'at most 100 MiB, the next one opens',
    measure: () => abandon(1_000),
  },
  { rule: '8', what: 'HTTP: 1,000 idle listen streams', goal: 'at most 40 KiB each', measure: () => listenIdly() },
  ...eras.map((era) => ({
    rule: '9',
    what: `HTTP: 300 disconnects in mid-call, ${era}`,
    goal: '0 descriptors, timers, streams, calls left',
    measure: () => disconnect(era),
  })),
  ...['fetch', 'node:http'].map((sender) => ({
    rule: '7',
    what: `HTTP: hostile servers, the most memory of a client over ${sender}`,
    goal: 'at most 150 MiB in all',
    measure: () => meetHostileServers(sender),
  })),
  {
    rule: '5',
    what: 'HTTP: the n-th write, read, store call or timer fails, for every n of a session in both eras',
    goal: '0 hang, 0 acknowledged sessions lost, 0 calls, streams and sessions left',
    measure: failEverywhere,
  },
];

/** Starts a server for one measurement. */
async function withPeer(options, use) {
  const peer = await HttpPeer.start(options);
  try {
    return await use(peer);
  } finally {
    await peer.stop();
  }
}

const countWrongAnswers = (era) =>
  withPeer({}, async (peer) => {
    await peer.open();
    let wrong = 0;
    await inFlight(10_000, 500, async (index) => {
      if ((await peer.callTool(era, 'echo', { text: `call ${index}` })) !== `call ${index}`) wrong += 1;
    });
    return { figure: `${wrong} wrong`, ok: wrong === 0 };
  });

const measureHeapSlope = (era) =>
  withPeer({}, async (peer) => {
    await peer.open();
    const call = (index) => peer.callTool(era, 'echo', { text: `call ${index}` });
    await inFlight(10_000, 32, call);
    const before = (await peer.held()).heapUsed;
    await inFlight(100_000, 32, call);
    const after = (await peer.held()).heapUsed;
    return { figure: inMebibytes(after - before), ok: after - before < mebibyte };
  });

/** Sends the head of a POST by hand. */
async function openBody(peer, headers) {
  const { hostname, port, pathname, host } = new URL(peer.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const lines = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
  ];
  socket.write(`${[...lines, ...headers].join('\r\n')}\r\n\r\n`);
  return socket;
}

/** When the first line of the answer came, and what it says. */
async function statusOf(socket) {
  const [chunk] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])]);
  return { status: String(chunk).split(' ')[1], at: performance.now() };
}

const sendLargeBody = () =>
  withPeer({}, async (peer) => {
    await peer.open();
    await peer.callTool('modern', 'echo', { text: 'warm' });
    const before = residentBytes(peer.pid);
    const socket = await openBody(peer, ['Transfer-Encoding: chunked']);
    const answered = statusOf(socket);
    const chunk = `10000\r\n${'x'.repeat(64 * kibibyte)}\r\n`;
    let peak = before;
    let wake = () => undefined;
    socket.on('drain', () => wake());
    socket.on('close', () => wake());
    let pastBoundAt = 0;
    for (let written = 0; written < 1_024 && !socket.destroyed; written += 1) {
      if (written === 64) pastBoundAt = performance.now();
      if (!socket.write(chunk)) await new Promise((resolve) => (wake = resolve));
      peak = Math.max(peak, residentBytes(peer.pid));
    }
    const { status, at } = await answered;
    const lateMs = Math.max(0, at - pastBoundAt);
    const growth = peak - before;
    return {
      figure: `${status} ${lateMs.toFixed(0)} ms after the bound was passed, growth ${inMebibytes(growth)}`,
      ok: status === '413' && lateMs < 200 && growth <= 16 * mebibyte,
    };
  });

const announceLargeBody = () =>
  withPeer({}, async (peer) => {
    const started = performance.now();
    const socket = await openBody(peer, [`Content-Length: ${64 * mebibyte}`]);
    const { status, at } = await statusOf(socket);
    socket.destroy();
    return { figure: `${status} in ${(at - started).toFixed(0)} ms`, ok: status === '413' && at - started < 200 };
  });

const stallBodies = () =>
  withPeer({ bodyTimeoutMs: 1_000 }, async (peer) => {
    const { descriptors } = await peer.held();
    const started = performance.now();
    const sockets = await Promise.all(Array.from({ length: 100 }, () => openBody(peer, ['Content-Length: 100'])));
    await Promise.all(sockets.map((socket) => (socket.write('{'), socket.resume(), once(socket, 'close'))));
    const seconds = (performance.now() - started) / 1000;
    const left = (await untilSame(peer, ({ descriptors: now }) => now <= descriptors)).descriptors - descriptors;
    return { figure: `${seconds.toFixed(1)} s, ${Math.max(0, left)} descriptors`, ok: seconds < 3 && left <= 0 };
  });

const stopReading = (era) =>
  withPeer({}, async (peer) => {
    await peer.open();
    await peer.callTool(era, 'talk', { count: 20 });
    const before = residentBytes(peer.pid);
    const response = await peer.begin(...peer.toCall(era, 'talk', { count: 4_000 }));
    const peak = await watchPeak(peer, before, 1_500);
    let bytes = 0;
    let last = '';
    for await (const chunk of response) {
      bytes += chunk.length;
      last = String(chunk);
    }
    const growth = peak - before;
    const isAnswered = last.includes('"said"');
    return {
      figure: `${inMebibytes(growth)}, then ${inMebibytes(bytes)} were read, ${isAnswered ? 'with the answer' : 'without an answer'}`,
      ok: growth <= 32 * mebibyte && isAnswered,
    };
  });

const stopListening = () =>
  withPeer({}, async (peer) => {
    const uris = Array.from({ length: 1_000 }, (_, step) => `test://${step}/${'x'.repeat(4_000)}`);
    const listen = () =>
      peer.begin(...peer.toRequest('modern', 'subscriptions/listen', { notifications: { resourceSubscriptions: uris } }));
    const streams = await Promise.all(Array.from({ length: 20 }, listen)).catch(() => []);
    const before = (await peer.held(), residentBytes(peer.pid));
    const watched = watchPeak(peer, before, 2_000);
    await peer.callTool('modern', 'change', { count: 1_000 });
    const peak = await watched;
    for (const { request } of streams) request.destroy();
    const growth = peak - before;
    return { figure: `${inMebibytes(growth)} with ${streams.length} listeners`, ok: growth <= 64 * mebibyte && streams.length === 20 };
  });

const abandon = (maxSessionsPerKey) =>
  withPeer({ maxSessionsPerKey }, async (peer) => {
    await peer.open();
    const before = (await peer.held()).rss;
    let refused = 0;
    await inFlight(10_000, 32, async () => {
      if ((await peer.initialize()).status !== 200) refused += 1;
    });
    const next = await peer.initialize();
    const { rss, counts } = await peer.held();
    const growth = rss - before;
    return {
      figure: `${inMebibytes(growth)} with ${counts.sessions} kept, ${refused} refused, the next one: ${next.status}`,
      ok: growth <= 100 * mebibyte && refused === 0 && next.status === 200,
    };
  });

const listenIdly = () =>
  withPeer({}, async (peer) => {
    const open = async (count) => {
      const responses = [];
      await inFlight(count, 32, async () => {
        const [message, headers] = peer.toRequest('modern', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
        const response = await peer.begin(message, headers, false);
        response.resume();
        responses.push(response);
      });
      return responses;
    };
    const warm = await open(50);
    const before = await peer.held();
    const responses = await open(900);
    const after = await peer.held();
    const each = (after.rss - before.rss) / responses.length;
    const heapEach = (after.heapUsed + after.external - before.heapUsed - before.external) / responses.length;
    for (const { request } of [...warm, ...responses]) request.destroy();
    return {
      figure: `${(each / kibibyte).toFixed(1)} KiB each of ${after.counts.streams} (heap ${(heapEach / kibibyte).toFixed(1)})`,
      ok: each <= 40 * kibibyte && after.counts.streams === 950,
    };
  });

const disconnect = (era) =>
  withPeer({}, async (peer) => {
    await peer.open();
    const cutOne = async () => {
      const response = await peer.begin(...peer.toCall(era, 'wait'), false);
      await once(response, 'data');
      response.request.destroy();
    };
    await inFlight(20, 20, cutOne);
    const isQuiet = ({ waiting, counts }) => waiting === 0 && counts.calls <= 1 && counts.streams === 0;
    const before = await untilSame(peer, isQuiet);
    const started = performance.now();
    await inFlight(300, 50, cutOne);
    const after = await untilSame(peer, (held) => isQuiet(held) && held.descriptors <= before.descriptors && held.timers <= before.timers);
    const descriptors = Math.max(0, after.descriptors - before.descriptors);
    const timers = Math.max(0, after.timers - before.timers);
    const aborted = after.aborted - before.aborted;
    // In the legacy era who leaves has not cancelled: its handlers end by themselves.
    const wanted = era === 'modern' ? 300 : 0;
    return {
      figure:
        `${descriptors} descriptors, ${timers} timers, ${after.counts.streams} streams, ${after.waiting} handlers; ` +
        `${aborted} aborted; ${((performance.now() - started) / 1000).toFixed(1)} s`,
      ok: descriptors === 0 && timers === 0 && isQuiet(after) && aborted === wanted,
    };
  });

async function meetHostileServers(sender) {
  const { url, words, child } = await startScript('hostile-server.mjs');
  try {
    const victim = fileURLToPath(new URL('victim.mjs', import.meta.url));
    let worst = { peak: 0, name: '', before: 0 };
    for (const name of words) {
      const { stdout } = await promisify(execFile)(process.execPath, [victim, `${url}${name}`, sender]);
      const { peak, before, outcome } = JSON.parse(stdout);
      if (outcome === 'answered') throw new Error(`${name} was taken for an answer`);
      if (peak > worst.peak) worst = { peak, name, before };
    }
    const figure = `${inMebibytes(worst.peak)} at "${worst.name}", of which Node itself ${inMebibytes(worst.before)}`;
    return { figure, ok: worst.peak <= 150 * mebibyte };
  } finally {
    child.kill('SIGKILL');
  }
}

/** The most memory that a server holds within a time. */
async function watchPeak(peer, before, ms) {
  let peak = before;
  for (const until = performance.now() + ms; performance.now() < until;) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    peak = Math.max(peak, residentBytes(peer.pid));
  }
  return peak;
}

/** Asks what is held until it is as it should be, for at most five seconds. */
async function untilSame(peer, isGood) {
  for (const until = performance.now() + 5_000; ;) {
    const held = await peer.held();
    if (isGood(held) || performance.now() > until) return held;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function residentBytes(pid) {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

const inMebibytes = (bytes) => `${(bytes / mebibyte).toFixed(2)} MiB`;
