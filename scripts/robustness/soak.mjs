/**
 * `npm run soak -- --minutes 2` (60 where nothing is said): everything at once over HTTP against one server: calls in both eras, streams that break,
 * clients that leave, sessions that are opened and forgotten, listeners that come and go. Prints memory and descriptors as they go, and
 * fails where an answer is wrong, or where memory or descriptors are more in the last part than in the first.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eras, openSession, Peer } from './peer.mjs';

const mebibyte = 1024 * 1024;
const looks = 40;
/** What a run of a process may drift by without anything being kept. */
const slack = { heapUsed: 2 * mebibyte, rss: 32 * mebibyte, descriptors: 5 };
const show = (key, value) => `${key} ${key === 'descriptors' ? value.toFixed(1) : `${(value / mebibyte).toFixed(1)} MiB`}`;

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, got ${values.minutes}`);
const durationMs = minutes * 60_000;

// Sessions that nobody ends have to go by themselves within the time that is looked at.
const peer = await Peer.start('http', { withEvents: true, sessionIdleMs: Math.max(5_000, durationMs / 20), maxSessionsPerKey: 500 });
const startedAt = performance.now();
const counts = { call: 0, leave: 0, talk: 0, abandon: 0, listen: 0, wrong: 0, error: 0 };

/** What the load is made of, and how long each waits before the next, so that the machine can do other work beside. */
const load = {
  async call(era) {
    const text = `call ${counts.call} ${'x'.repeat(counts.call % 2_000)}`;
    if ((await peer.callTool(era, 'echo', { text })) !== text) counts.wrong += 1;
    await wait(2);
  },
  async leave(era) {
    await peer.postAndLeave(peer.toCall(era, 'wait', { ms: 1_000 }));
    await wait(50);
  },
  /** A stream of half a mebibyte. */
  async talk(era) {
    await peer.callTool(era, 'talk', { count: 8 });
    await wait(20);
  },
  async abandon() {
    await openSession(peer.url);
    await wait(20);
  },
  async listen() {
    await peer.postAndLeave(peer.toRequest('modern', 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
    await wait(20);
  },
};

async function runLane(name, era) {
  while (performance.now() < startedAt + durationMs) {
    counts[name] += 1;
    await load[name](era).catch(() => (counts.error += 1));
  }
}

async function watch() {
  const seen = [];
  for (let look = 1; look <= looks; look += 1) {
    await wait(Math.max(0, startedAt + (look * durationMs) / looks - performance.now() - 200));
    const held = await peer.held();
    seen.push(held);
    const figures = Object.keys(slack).map((key) => show(key, held[key]));
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(`soak ${String(seconds).padStart(5)} s  ${figures.join('  ')}  ${held.counts.sessions} sessions  ${counts.call} calls`);
  }
  return seen;
}

const lanes = eras.flatMap((era) => ['call', 'call', 'leave', 'talk'].map((name) => runLane(name, era)));
const [seen] = await Promise.all([watch(), runLane('abandon'), runLane('listen'), ...lanes]);
await peer.stop();

// The last fifth beside what came between the first tenth and two fifths: by then everything is warm.
const average = (part, key) => part.reduce((sum, held) => sum + held[key], 0) / part.length;
let isFlat = true;
for (const [key, most] of Object.entries(slack)) {
  const growth = average(seen.slice(-looks / 5), key) - average(seen.slice(looks / 10, (2 * looks) / 5), key);
  isFlat &&= growth <= most;
  console.log(`soak growth from the first to the last part: ${show(key, growth)} (goal: at most ${show(key, most)})`);
}
console.log(
  `soak ${Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')}`,
);
const ok = isFlat && counts.wrong === 0 && counts.error === 0;
console.log(`soak ${ok ? 'flat, and no wrong answer' : 'MISSED'}`);
process.exit(ok ? 0 : 1);
