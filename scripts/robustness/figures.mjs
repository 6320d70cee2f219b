/**
 * `npm run robustness`: the figures that need a process of their own to be measured (most of ROBUSTNESS is shown by tests), each beside its goal. Words
 * after `--` choose those whose description has one of them (`HTTP`, `WebSockets`).
 */

import { once } from 'node:events';
import { failEverywhere } from './http-faults.mjs';
import { callOverWebSocket, eras, inFlight, openWebSocket, Peer, startProgram } from './peer.mjs';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const inMebibytes = (bytes) => `${(bytes / mebibyte).toFixed(2)} MiB`;

/** Starts a server for one measurement. */
async function withPeer(transport, options, use) {
  const peer = await Peer.start(transport, options);
  try {
    return await use(peer);
  } finally {
    await peer.stop();
  }
}

const callOnAndOn = (transport, era) =>
  withPeer(transport, {}, async (peer) => {
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
  });

const askAndNotRead = (tool, mostMebibytes) =>
  withPeer('stdio', {}, async (peer) => {
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

const sendOversizedLine = () =>
  withPeer('stdio', {}, async (peer) => {
    await peer.callTool('modern', 'echo', { text: 'warm' });
    const watched = peer.watchGrowth(1_000);
    peer.child.stdin.write(`${JSON.stringify(peer.toCall('modern', 'echo', { text: 'x'.repeat(17 * mebibyte) })[0])}\n`);
    const served = await peer.callTool('modern', 'echo', { text: 'next' });
    const growth = await watched;
    return { figure: `${inMebibytes(growth)}, then ${served}`, ok: served === 'next' && growth <= 48 * mebibyte };
  });

const stopReading = (era) =>
  withPeer('http', {}, async (peer) => {
    await peer.callTool(era, 'talk', { count: 20 });
    const watched = peer.watchGrowth(2_000);
    const response = await peer.post(...peer.toCall(era, 'talk', { count: 4_000 }));
    const growth = await watched;
    const isAnswered = (await response.text()).slice(-1_000).includes('"said"');
    return { figure: `${inMebibytes(growth)}, ${isAnswered ? '' : 'not '}answered`, ok: growth <= 32 * mebibyte && isAnswered };
  });

const listen = (peer, notifications) => peer.post(...peer.toRequest('modern', 'subscriptions/listen', { notifications }));

const stopListening = () =>
  withPeer('http', {}, async (peer) => {
    const uris = Array.from({ length: 1_000 }, (_, step) => `test://${step}/${'x'.repeat(200)}`);
    const streams = await Promise.all(Array.from({ length: 20 }, () => listen(peer, { resourceSubscriptions: uris })));
    const toHeap = ({ heapUsed, external }) => heapUsed + external;
    const before = toHeap(await peer.held());
    await peer.callTool('modern', 'change', { count: 20_000 });
    const growth = toHeap(await peer.held()) - before;
    return { figure: inMebibytes(growth), ok: growth <= 64 * mebibyte && streams.every(({ ok }) => ok) };
  });

const abandon = (maxSessionsPerKey) =>
  withPeer('http', { maxSessionsPerKey }, async (peer) => {
    const before = (await peer.held()).rss;
    let refused = 0;
    await inFlight(10_000, 32, async () => {
      if (!(await peer.openSession()).ok) refused += 1;
    });
    const next = await peer.openSession();
    const { rss, counts } = await peer.held();
    const growth = rss - before;
    return {
      figure: `${inMebibytes(growth)} with ${counts.sessions} kept, ${refused} refused, the next one: ${next.status}`,
      ok: growth <= 100 * mebibyte && refused === 0 && next.ok,
    };
  });

const listenIdly = () =>
  withPeer('http', {}, async (peer) => {
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

const disconnect = (era) =>
  withPeer('http', {}, async (peer) => {
    const cutOne = async () => {
      const leaving = new AbortController();
      const response = await peer.post(...peer.toCall(era, 'wait', { ms: 1_000 }), leaving.signal);
      await response.body.getReader().read();
      leaving.abort();
    };
    const isQuiet = ({ waiting, counts }) => waiting === 0 && counts.calls <= 1 && counts.streams === 0;
    await inFlight(20, 20, cutOne);
    const before = await peer.untilHeld(isQuiet);
    await inFlight(300, 50, cutOne);
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
  const server = startProgram('hostile-server.mjs');
  const [url, ...attacks] = String((await once(server.stdout, 'data'))[0])
    .trim()
    .split(' ');
  let worst = { peak: 0, attack: '' };
  for (const attack of attacks) {
    const victim = startProgram('victim.mjs', `${url}${attack}`, sender);
    const { peak, outcome } = JSON.parse(String((await once(victim.stdout, 'data'))[0]));
    if (outcome === 'answered') throw new Error(`${attack} was taken for an answer`);
    if (peak > worst.peak) worst = { peak, attack };
  }
  server.kill('SIGKILL');
  return { figure: `${inMebibytes(worst.peak)} at "${worst.attack}"`, ok: worst.peak <= 250 * mebibyte };
}

async function openMany(url, count) {
  const sockets = [];
  await inFlight(count, 100, async () => sockets.push(await openWebSocket(url)));
  return sockets;
}

const heldOverWebSocket = async (ws) => JSON.parse((await callOverWebSocket(ws, 'held', [{}])).get(1));

const holdIdle = () =>
  withPeer('websocket', {}, async ({ url }) => {
    const [first] = await openMany(url, 100);
    const before = await heldOverWebSocket(first);
    await openMany(url, 5_000);
    const after = await heldOverWebSocket(first);
    const each = (after.rss - before.rss) / 5_000;
    return { figure: `${Math.round(each / kibibyte)} KiB`, ok: after.counts - before.counts === 5_000 && each <= 60 * kibibyte };
  });

const meetSlowReaders = () =>
  withPeer('websocket', {}, async (peer) => {
    const sockets = await openMany(peer.url, 50);
    const [slow, quick] = [sockets.slice(0, 10), sockets.slice(10)];
    const hundred = Array.from({ length: 100 }, (_, index) => ({ text: `call ${index + 1}` }));
    let wrong = 0;
    const callAll = (rounds) =>
      inFlight(quick.length * rounds, quick.length, async (index) => {
        const answers = await callOverWebSocket(quick[index % quick.length], 'echo', hundred);
        for (const [id, text] of answers) if (text !== `call ${id}`) wrong += 1;
      });
    // What the calls themselves need is there before anyone is slow.
    await callAll(5);
    const watched = peer.watchGrowth(5_000);
    for (const ws of slow) {
      ws.pause();
      // Answers of 64 KiB, far more than the server may keep for one that does not read.
      void callOverWebSocket(ws, 'large', Array(500).fill({}));
    }
    await callAll(25);
    const growth = await watched;
    return { figure: `${inMebibytes(growth)}, ${wrong} wrong`, ok: growth <= 64 * mebibyte && wrong === 0 };
  });

/** @type {readonly { rule: number, what: string, goal: string, measure: () => Promise<{ figure: string, ok: boolean }> }[]} */
const figures = [
  ...['stdio', 'http'].flatMap((transport) =>
    eras.map((era) => ({
      rule: 3,
      what: `${transport === 'http' ? 'HTTP' : transport}: 10,000 calls, 500 in flight, then the heap over 100,000 more, ${era}`,
      goal: 'no wrong answer, under 1 MiB',
      measure: () => callOnAndOn(transport, era),
    })),
  ),
  // 64 MiB of requests may be in flight, and the rest is read to be refused.
  {
    rule: 7,
    what: 'stdio: 500 calls of 1 MiB, no answer is read: growth',
    goal: 'at most 96 MiB',
    measure: () => askAndNotRead('echo', 96),
  },
  {
    rule: 7,
    what: 'stdio: 500 calls of 1 MiB, none is answered: growth',
    goal: 'at most 192 MiB',
    measure: () => askAndNotRead('wait', 192),
  },
  { rule: 7, what: 'stdio: a line of 17 MiB: growth, and the next call', goal: 'at most 48 MiB, served', measure: sendOversizedLine },
  ...eras.map((era) => ({
    rule: 7,
    what: `HTTP: a reader that stops, a call that says 250 MiB, ${era}: growth`,
    goal: 'at most 32 MiB, then the answer',
    measure: () => stopReading(era),
  })),
  { rule: 7, what: 'HTTP: 20 listeners that stop reading, 140 MiB of news: what is kept', goal: 'at most 64 MiB', measure: stopListening },
  ...[10_000, 1_000].map((maxSessionsPerKey) => ({
    rule: 8,
    what: `HTTP: 10,000 abandoned sessions, ${maxSessionsPerKey} of them kept`,
    goal: 'at most 100 MiB, the next one opens',
    measure: () => abandon(maxSessionsPerKey),
  })),
  { rule: 8, what: 'HTTP: 900 idle listen streams', goal: 'at most 40 KiB each', measure: listenIdly },
  ...eras.map((era) => ({
    rule: 9,
    what: `HTTP: 300 disconnects in mid-call, ${era}`,
    goal: '0 descriptors, timers, streams, calls left',
    measure: () => disconnect(era),
  })),
  ...['fetch', 'node:http'].map((sender) => ({
    rule: 7,
    what: `HTTP: hostile servers, the most memory of a client over ${sender}`,
    goal: 'at most 250 MiB in all',
    measure: () => meetHostileServers(sender),
  })),
  {
    rule: 5,
    what: 'HTTP: the n-th write, read, store call or timer fails, for every n of a session in both eras',
    goal: '0 hang, 0 acknowledged sessions lost, 0 calls, streams and sessions left',
    measure: failEverywhere,
  },
  { rule: 8, what: '5,000 idle WebSockets: memory of the server for each', goal: 'at most 60 KiB', measure: holdIdle },
  {
    rule: 7,
    what: '100,000 answers over 40 WebSockets, beside 10 that do not read: growth, wrong answers',
    goal: 'at most 64 MiB, 0',
    measure: meetSlowReaders,
  },
];

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
