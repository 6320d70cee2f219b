// The rows of `npm run bench` that are about HTTP. Each server is measured from outside: what its process used, a call.
import { fileURLToPath } from 'node:url';
import { withBefore } from './measure/before.mjs';
import { HttpDriver, startHttpServer } from './measure/http-peer.mjs';
import { pump } from './measure/line-peer.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const v1 = 'official v1';
const v2 = 'official v2';

/** The faces of a server, by what a system's name says of them: Node's own, and a fetch handler behind two adapters. */
const faces = { '': {}, ', web face': { face: 'web' }, ', web face by Hono': { face: 'hono' } };
const eras = { legacy: '', modern: ', modern' };
const programs = {
  floor: ['floor/http-server.mjs', 'legacy', 'modern'],
  [v1]: ['official-v1/http-server.mjs', 'legacy'],
  [v2]: ['official-v2/http-server.mjs', 'legacy', 'modern'],
  ours: ['ours/http-server.mjs', 'legacy', 'modern'],
};

/** Every program behind every face in every era that it speaks: what Node's own `Request` and `Response` cost is no server's doing. */
const servers = withBefore(
  Object.fromEntries(
    Object.entries(faces).flatMap(([face, options]) =>
      Object.entries(programs).flatMap(([program, [file, ...spoken]]) =>
        spoken.map((era) => [`${program}${face}${eras[era]}`, [file, era, options]]),
      ),
    ),
  ),
);

/** CPU microseconds a call, spent in the server alone. */
async function serverCpu(name, { connections, warmUp, count, toArgs, check }) {
  const [file, era, options] = servers[name];
  const server = await startHttpServer(here(file), options);
  const driver = new HttpDriver(server.url, era, connections);
  try {
    const send = (index) => driver.call(...toArgs(index));
    await pump(warmUp, connections, send, check);
    const before = await server.usage();
    await pump(count, connections, send, check);
    const after = await server.usage();
    return (after.cpuUs - before.cpuUs) / count;
  } finally {
    driver.close();
    await server.stop();
  }
}

const callAdd = {
  toArgs: (index) => ['add', { a: index, b: 1 }],
  check: ({ result }, index) => {
    if (result.structuredContent?.sum !== index + 1) throw new Error(`wrong answer: ${JSON.stringify(result).slice(0, 300)}`);
  },
};
const bigText = 'x'.repeat(10 * 1024 * 1024 - 1024);
const sendBigBody = {
  toArgs: () => ['measure', { text: bigText }],
  check: ({ result }) => {
    if (result.content?.[0]?.text !== String(bigText.length)) throw new Error('wrong length');
  },
};
const steps = 1000;
const reportProgress = {
  toArgs: () => ['progress', { count: steps }],
  check: ({ text }) => {
    const found = text.split('notifications/progress').length - 1;
    if (found !== steps) throw new Error(`${found} steps of ${steps}`);
  },
};

const serverRow = (settings) => (name) => serverCpu(name, settings);
const webAims = (aim) =>
  Object.fromEntries(['', ' by Hono'].flatMap((by) => ['', ', modern'].map((era) => [`ours, web face${by}${era}`, aim])));

/** Bytes of live heap for each of 1,000 sessions that nobody uses. */
async function sessionHeap(name) {
  const [file] = servers[name];
  const server = await startHttpServer(here(file), { sessions: true }, ['--expose-gc']);
  const driver = new HttpDriver(server.url, 'legacy', 16);
  try {
    const open = () => driver.open();
    await pump(50, 16, open, () => undefined);
    const before = await server.usage();
    await pump(1000, 16, open, () => undefined);
    const after = await server.usage();
    return (after.heapBytes - before.heapBytes) / 1000 / 1024;
  } finally {
    driver.close();
    await server.stop();
  }
}

const clients = withBefore({
  floor: ['floor/http-client.mjs', ['node']],
  'bare fetch': ['floor/http-client.mjs', ['fetch']],
  [v1]: ['official-v1/http-client.mjs', []],
  [v2]: ['official-v2/http-client.mjs', []],
  'ours, fetch': ['ours/http-client.mjs', ['fetch', 'legacy']],
  'ours, fetch, modern': ['ours/http-client.mjs', ['fetch', 'modern']],
  'ours, node:http': ['ours/http-client.mjs', ['node', 'legacy']],
  'ours, node:http, modern': ['ours/http-client.mjs', ['node', 'modern']],
});

/** @param {(file: string, args: readonly string[]) => number} programCpu */
export const httpRows = (programCpu) => [
  ...[1, 16, 64].map((connections) => ({
    name: `HTTP stateless tools/call, ${connections} connection${connections === 1 ? '' : 's'}, server CPU`,
    unit: 'us/call',
    aim: 0.65,
    aims: webAims(0.45),
    systems: Object.keys(servers),
    run: serverRow({ ...callAdd, connections, warmUp: 6000, count: 8000 }),
  })),
  {
    name: 'HTTP, 1,000 progress events over SSE, server CPU',
    unit: 'us/call',
    aim: 0.8,
    systems: Object.keys(servers),
    run: serverRow({ ...reportProgress, connections: 4, warmUp: 20, count: 100 }),
  },
  {
    // The official v2 takes no body over 4 MiB.
    name: 'HTTP, a body of 10 MiB, server CPU',
    unit: 'us/call',
    aim: 0.9,
    systems: Object.keys(servers).filter((name) => !name.startsWith(v2)),
    run: serverRow({ ...sendBigBody, connections: 1, warmUp: 2, count: 8 }),
  },
  {
    name: 'HTTP, client, 16 in flight, CPU',
    unit: 'us/call',
    aim: 0.15,
    aims: { 'ours, node:http': 0.6, 'ours, node:http, modern': 0.6 },
    systems: Object.keys(clients),
    run: (name) => programCpu(clients[name][0], ['8000', ...clients[name][1]]),
  },
  {
    name: 'HTTP, live heap of an idle legacy session, over 1,000',
    unit: 'KiB',
    aimAtMost: 5,
    // The official v2 keeps no sessions here.
    systems: Object.keys(servers).filter((name) => [v1, 'ours', 'before'].includes(name)),
    run: sessionHeap,
  },
];
