// `npm run bench`: every row of docs/performance in one run, ours beside a bare floor and the official SDKs. CPU per call and
// ratios within the run are what counts; a ratio is performance relative to the floor (1 = as good as the floor).
//
//   node benchmarks/compare.mjs [--rounds N] [--only <part of a row's name>] [--json file] [--before <benchmarks/ of an older checkout, built>]
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { httpRows } from './http-rows.mjs';
import { withBefore } from './measure/before.mjs';
import { compatRows } from './rows/compat.mjs';
import { gatewayRows } from './rows/gateway.mjs';
import { taskRows } from './rows/tasks.mjs';
import { webSocketRows } from './rows/websocket.mjs';
import { callAdd, coldStart, serverCpu, startPeer } from './measure/line-peer.mjs';

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' }, json: { type: 'string' }, before: { type: 'string' } },
});
const rounds = Number(options.rounds);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const median = (values) => values.toSorted((x, y) => x - y)[Math.floor(values.length / 2)];
const say = (text) => process.stderr.write(text);

const listTools = {
  method: 'tools/list',
  makeParams: () => ({}),
  check: (message) => {
    if (!(message.result?.tools?.length >= 1000)) throw new Error(`wrong list: ${JSON.stringify(message).slice(0, 300)}`);
  },
};
// Just under 10 MiB with its envelope: v1 drops longer lines without a word.
const bigText = 'x'.repeat(10 * 1024 * 1024 - 1024);
const sendBigLine = {
  makeParams: () => ({ name: 'measure', arguments: { text: bigText } }),
  check: (message) => {
    if (message.result?.content?.[0]?.text !== String(bigText.length)) throw new Error('wrong length');
  },
};

/** Runs a program that prints one JSON line, and gives its `cpuUsPerCall`. */
function programCpu(file, args) {
  const out = execFileSync(process.execPath, [here(file), ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return JSON.parse(out.trim().split('\n').at(-1)).cpuUsPerCall;
}

const v1 = 'official v1';
const v2 = 'official v2';
const servers = withBefore({
  floor: ['floor/stdio-server.mjs', 'legacy'],
  'floor, modern': ['floor/stdio-server.mjs', 'modern'],
  [v1]: ['official-v1/stdio-server.mjs', 'legacy'],
  [v2]: ['official-v2/stdio-server.mjs', 'legacy'],
  [`${v2}, modern`]: ['official-v2/stdio-server.mjs', 'modern'],
  ours: ['ours/stdio-server.mjs', 'legacy'],
  'ours, modern': ['ours/stdio-server.mjs', 'modern'],
});
const serverRow =
  ({ args, ...settings }) =>
  (name) => {
    const [file, era] = servers[name];
    return serverCpu(startPeer(here(file), args), { era, ...settings });
  };
const clients = withBefore({
  floor: ['floor/stdio-client.mjs', ['legacy']],
  'floor, modern': ['floor/stdio-client.mjs', ['modern']],
  [v1]: ['official-v1/stdio-client.mjs', []],
  [v2]: ['official-v2/stdio-client.mjs', []],
  ours: ['ours/stdio-client.mjs', ['legacy']],
  'ours, modern': ['ours/stdio-client.mjs', ['modern']],
});
const inMemory = withBefore({
  [v1]: ['official-v1/in-memory.mjs', []],
  [v2]: ['official-v2/in-memory.mjs', []],
  ours: ['ours/in-memory.mjs', ['legacy']],
  'ours, modern': ['ours/in-memory.mjs', ['modern']],
});
const starts = withBefore({
  floor: ['floor/stdio-server.mjs', 'legacy'],
  [v1]: ['official-v1/stdio-server.mjs', 'legacy'],
  [v2]: ['official-v2/stdio-server.mjs', 'legacy'],
  ours: ['ours/stdio-server.mjs', 'legacy'],
  'ours, modern': ['ours/stdio-server.mjs', 'modern'],
  'ours, without zod': ['ours/stdio-server-without-zod.mjs', 'legacy'],
});

const rows = [
  {
    name: 'stdio pipelined, 100 in flight, server CPU',
    unit: 'us/call',
    aim: 0.9,
    systems: Object.keys(servers),
    run: serverRow({ ...callAdd, warmUp: 4000, count: 20_000, inFlight: 100 }),
  },
  {
    name: 'stdio sequential round trips, server CPU',
    unit: 'us/call',
    aim: 0.85,
    systems: Object.keys(servers),
    run: serverRow({ ...callAdd, warmUp: 8000, count: 12_000, inFlight: 1 }),
  },
  {
    name: 'client over stdio, 16 in flight, CPU',
    unit: 'us/call',
    aim: 0.7,
    systems: Object.keys(clients),
    run: (name) => programCpu(clients[name][0], ['20000', ...clients[name][1]]),
  },
  {
    name: 'cold start, spawn to first tools/list',
    unit: 'ms',
    aim: 0.55,
    aims: { 'ours, without zod': 0.8 },
    systems: Object.keys(starts),
    repeat: 3,
    run: (name) => coldStart(here(starts[name][0]), starts[name][1]),
  },
  {
    name: 'tools/list with 1,000 tools, server CPU',
    unit: 'us/call',
    aim: 1.5,
    systems: Object.keys(servers),
    run: serverRow({ ...listTools, args: ['1000'], warmUp: 10, count: 60, inFlight: 4 }),
  },
  {
    name: '10 MiB line over stdio, server CPU',
    unit: 'us/call',
    aim: 0.95,
    systems: Object.keys(servers),
    run: serverRow({ ...sendBigLine, warmUp: 2, count: 8, inFlight: 1 }),
  },
  {
    name: 'in-memory calls, client and server in one process',
    unit: 'us/call',
    systems: Object.keys(inMemory),
    aimCallsPerSecond: 500_000,
    run: (name) => programCpu(...inMemory[name]),
  },
  ...httpRows(programCpu),
  ...webSocketRows,
  ...compatRows,
  ...taskRows(programCpu),
  ...gatewayRows(programCpu),
].filter((row) => !options.only || row.name.includes(options.only));

const report = [];
for (const row of rows) {
  say(`${row.name}\n`);
  const samples = new Map(row.systems.map((name) => [name, []]));
  for (let round = 0; round < rounds * (row.repeat ?? 1); round++) {
    for (const name of row.systems) {
      try {
        samples.get(name).push(await row.run(name));
      } catch (error) {
        samples.get(name).push(NaN);
        say(`  ${name}: ${error.message.split('\n')[0].slice(0, 160)}\n`);
      }
    }
    say(`  round ${round + 1} of ${rounds * (row.repeat ?? 1)}\r`);
  }
  say('\n');
  const figures = Object.fromEntries([...samples].map(([name, values]) => [name, median(values)]));
  const { name, unit, aim, aims, aimCallsPerSecond, aimAtMost, showsCallsPerSecond } = row;
  report.push({ name, unit, aim, aims, aimCallsPerSecond, aimAtMost, showsCallsPerSecond, figures });
}

const eraOf = (name) => (name.endsWith('modern') ? ', modern' : '');

/** What aims are about: bare `node:http`, `ws` or a line loop. A modern request is twice as long, so its floor does the same with the same. */
function floorOf(name, figures) {
  return figures[`floor${eraOf(name)}`] ?? figures.floor;
}

/** What a bare fetch handler behind the same adapter needs: what the platform's own objects cost is no server's doing. */
function bareFetchOf(name, figures) {
  if (!name.includes('web face') || name.startsWith('floor')) return undefined;
  return figures[`floor, web face${name.includes('by Hono') ? ' by Hono' : ''}${eraOf(name)}`];
}

const wordFor = (isHeld, isNear) => (isHeld ? 'holds' : isNear ? 'within a quarter' : 'MISSES');

/** Whether a figure of ours holds its aim. Where nothing behind the adapter could, that is said. */
function verdict(name, { figures, aim }) {
  const floor = floorOf(name, figures);
  const ratio = floor / figures[name];
  if (aim === undefined || !Number.isFinite(ratio)) return '';
  const found = wordFor(ratio >= aim, ratio >= aim * 0.75);
  const bare = bareFetchOf(name, figures);
  if (bare === undefined || ratio >= aim || floor / bare >= aim) return found;
  return `${found}; a bare fetch handler is ${(floor / bare).toFixed(2)} of the floor itself, ours ${(bare / figures[name]).toFixed(2)} of that`;
}

/** How today's figure compares with the one of the older checkout: below 1 is less than before. */
function toBefore(name, figures) {
  const before = figures[name.replace('ours', 'before')];
  return name.startsWith('ours') && before !== undefined ? (figures[name] / before).toFixed(2) : '';
}

/** The cells after the figure: the ratio or the rate, the one to a bare fetch handler, the aim, and what that comes to. */
function cellsOf(name, { row, value }) {
  const { figures, aimAtMost, aimCallsPerSecond } = row;
  const isOurs = name.startsWith('ours');
  if (aimAtMost !== undefined)
    return isOurs ? ['', '', `at most ${aimAtMost}`, wordFor(value <= aimAtMost, value <= aimAtMost * 1.25)] : ['', '', '', ''];
  if (aimCallsPerSecond !== undefined || row.showsCallsPerSecond) {
    const perSecond = 1e6 / value;
    const rate = `${(perSecond / 1000).toFixed(perSecond < 10_000 ? 1 : 0)} k/s`;
    if (aimCallsPerSecond === undefined || !isOurs) return [rate, '', '', ''];
    const found = wordFor(perSecond >= aimCallsPerSecond, perSecond >= aimCallsPerSecond * 0.75);
    return [rate, '', `${aimCallsPerSecond / 1000} k/s`, found];
  }
  const bare = bareFetchOf(name, figures);
  const aim = isOurs ? (row.aims?.[name] ?? row.aim) : undefined;
  const ratios = [(floorOf(name, figures) / value).toFixed(2), bare === undefined ? '' : (bare / value).toFixed(2)];
  return [...ratios, aim ?? '', verdict(name, { figures, aim })];
}

const faceOf = (name) => /, web face( by Hono)?/.exec(name)?.[0];

/** Each face is compared with the same one of the official SDKs. */
function isWorseThanOfficial(name, figures) {
  if (!name.startsWith('ours')) return false;
  const peers = Object.keys(figures).filter((peer) => peer.startsWith('official') && faceOf(peer) === faceOf(name));
  return peers.some((peer) => figures[peer] < figures[name]);
}

const out = [`# Benchmarks, Node ${process.version}, medians of ${rounds} rounds\n`];
for (const row of report) {
  out.push(`## ${row.name}\n`);
  out.push(
    `| system | ${row.unit} | relative to the floor | to a bare fetch handler | aim | | of before |`,
    '|---|---|---|---|---|---|---|',
  );
  for (const [name, value] of Object.entries(row.figures))
    out.push(
      `| ${[name, value.toFixed(value > 1000 ? 0 : 2), ...cellsOf(name, { row, value }), toBefore(name, row.figures)].join(' | ')} |`,
    );
  const worse = Object.keys(row.figures).filter((name) => isWorseThanOfficial(name, row.figures));
  if (worse.length > 0) out.push(`\nWorse than the better official SDK behind the same face: ${worse.join(', ')}.`);
  out.push('');
}
process.stdout.write(`${out.join('\n')}\n`);
if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
if (!existsSync(here('../packages/server/dist/index.js'))) say('The packages are not built: run `npm run build` first.\n');
