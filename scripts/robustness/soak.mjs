/**
 * `npm run soak -- --minutes 2` (60 where nothing is said): everything at once over HTTP against one server: calls in both eras, streams that break,
 * clients that leave, sessions that are opened and forgotten, listeners that come and go. Prints memory and descriptors as they go, and
 * fails where an answer is wrong, or where memory or descriptors are more in the last part than in the first.
 */

import { parseArgs } from 'node:util';
import { eras, Peer } from './peer.mjs';

const mebibyte = 1024 * 1024;
const looks = 40;
/** What a run of a process may drift by without anything being kept. */
const heapSlackBytes = 2 * mebibyte;
const residentSlackBytes = 32 * mebibyte;
/** Calls a second and lane, so that the machine can do other work beside. */
const pauseMs = 2;

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, got ${values.minutes}`);

/** @returns {Promise<{ ok: boolean, lines: readonly string[] }>} */
async function soak(durationMs) {
  // Sessions that nobody ends have to go by themselves within the time that is looked at.
  const peer = await Peer.start('http', { withEvents: true, sessionIdleMs: Math.max(5_000, durationMs / 20), maxSessionsPerKey: 500 });
  try {
    const load = new Load(peer, performance.now() + durationMs);
    const lanes = [
      ...eras.flatMap((era) => [load.call(era), load.call(era), load.leave(era), load.talk(era)]),
      load.abandon(),
      load.listen(),
    ];
    const watched = watch(peer, load, durationMs);
    await Promise.all(lanes);
    return judge(await watched, load);
  } finally {
    await peer.stop();
  }
}

class Load {
  counts = { calls: 0, wrong: 0, left: 0, talks: 0, sessions: 0, listens: 0, errors: 0 };
  #peer;
  #untilMs;

  constructor(peer, untilMs) {
    this.#peer = peer;
    this.#untilMs = untilMs;
  }

  get isOver() {
    return performance.now() >= this.#untilMs;
  }

  call = (era) =>
    this.#repeat(async () => {
      const text = `call ${++this.counts.calls} ${'x'.repeat(this.counts.calls % 2_000)}`;
      if ((await this.#peer.callTool(era, 'echo', { text })) !== text) this.counts.wrong += 1;
    });

  /** Leaves in the middle of a call. */
  leave = (era) =>
    this.#repeat(async () => {
      await this.#beginAndLeave(this.#peer.toCall(era, 'wait', { ms: 1_000 }));
      this.counts.left += 1;
    }, 50);

  /** A stream of half a mebibyte. */
  talk = (era) =>
    this.#repeat(async () => {
      await this.#peer.callTool(era, 'talk', { count: 8 });
      this.counts.talks += 1;
    }, 20);

  abandon = () =>
    this.#repeat(async () => {
      await this.#peer.openSession();
      this.counts.sessions += 1;
    }, 20);

  listen = () =>
    this.#repeat(async () => {
      await this.#beginAndLeave(this.#peer.toRequest('modern', 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
      this.counts.listens += 1;
    }, 20);

  async #beginAndLeave([message, headers]) {
    const leaving = new AbortController();
    const response = await this.#peer.post(message, headers, leaving.signal);
    await response.body.getReader().read();
    leaving.abort();
  }

  async #repeat(once, everyMs = pauseMs) {
    while (!this.isOver) {
      await once().catch(() => (this.counts.errors += 1));
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }
}

async function watch(peer, load, durationMs) {
  const seen = [];
  const startedAt = performance.now();
  for (let look = 1; look <= looks; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedAt + (look * durationMs) / looks - performance.now() - 200)));
    const { heapUsed, rss, descriptors, counts } = await peer.held();
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    seen.push({ seconds, heapUsed, rss, descriptors, sessions: counts.sessions });
    console.log(
      `soak      ${String(seconds).padStart(5)} s  heap ${inMebibytes(heapUsed)}  resident ${inMebibytes(rss)}  ` +
        `${descriptors} descriptors  ${counts.sessions} sessions  ${load.counts.calls} calls`,
    );
  }
  return seen;
}

/** Compares the last fifth with what came between the first tenth and two fifths: by then everything is warm. */
function judge(seen, { counts }) {
  const early = average(seen.slice(looks / 10, (2 * looks) / 5));
  const late = average(seen.slice(-looks / 5));
  const growth = {
    heap: late.heapUsed - early.heapUsed,
    resident: late.rss - early.rss,
    descriptors: late.descriptors - early.descriptors,
  };
  const isFlat = growth.heap <= heapSlackBytes && growth.resident <= residentSlackBytes && growth.descriptors <= 5;
  const ok = isFlat && counts.wrong === 0 && counts.errors === 0;
  return {
    ok,
    lines: [
      `soak      ${Object.entries(counts)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ')}`,
      `soak      growth from the first to the last part: heap ${inMebibytes(growth.heap)}, resident ${inMebibytes(growth.resident)}, ` +
        `${growth.descriptors.toFixed(1)} descriptors (goals: ${inMebibytes(heapSlackBytes)}, ${inMebibytes(residentSlackBytes)}, 5)`,
      `soak      ${ok ? 'flat, and no wrong answer' : 'MISSED'}`,
    ],
  };
}

function average(seen) {
  const of = (key) => seen.reduce((sum, one) => sum + one[key], 0) / seen.length;
  return { heapUsed: of('heapUsed'), rss: of('rss'), descriptors: of('descriptors') };
}

const inMebibytes = (bytes) => `${(bytes / mebibyte).toFixed(1)} MiB`;

const { ok, lines } = await soak(minutes * 60_000);
for (const line of lines) console.log(line);
process.exit(ok ? 0 : 1);
