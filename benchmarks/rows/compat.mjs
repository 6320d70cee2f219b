// What a program written for SDK v1 costs a call: on v1, on `@mortise/compat-v1` with only its imports changed, and the same on our own API.
import { fileURLToPath } from 'node:url';
import { HttpDriver, startHttpServer } from '../measure/http-peer.mjs';
import { openPeer, pump, startPeer } from '../measure/line-peer.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const onCompat = ['--import', new URL('../measure/compat-imports.mjs', import.meta.url).href];
const systems = { 'official v1': ['official-v1', []], compat: ['official-v1', onCompat], ours: ['ours', []] };

/** CPU microseconds a call, spent in the server alone. */
async function cpuPerCall({ warmUp, count, inFlight }, send, readCpu) {
  const call = async (index) => {
    const result = await send({ a: index, b: 1 });
    if (result?.structuredContent?.sum !== index + 1) throw new Error(`wrong answer: ${JSON.stringify(result).slice(0, 300)}`);
  };
  await pump(warmUp, inFlight, call, () => undefined);
  const before = await readCpu();
  await pump(count, inFlight, call, () => undefined);
  return ((await readCpu()).cpuUs - before.cpuUs) / count;
}

async function overStdio(name) {
  const [folder, nodeArgs] = systems[name];
  const peer = startPeer(here(`../${folder}/stdio-server.mjs`), [], nodeArgs);
  try {
    await openPeer(peer, 'legacy');
    const send = async (args) => (await peer.request('tools/call', { name: 'add', arguments: args })).result;
    return await cpuPerCall({ warmUp: 4000, count: 20_000, inFlight: 16 }, send, () => peer.cpu());
  } finally {
    await peer.stop();
  }
}

async function overHttp(name) {
  const [folder, nodeArgs] = systems[name];
  const server = await startHttpServer(here(`../${folder}/http-server.mjs`), { sessions: true }, nodeArgs);
  const driver = new HttpDriver(server.url, 'legacy', 16);
  try {
    const session = await driver.open();
    const send = async (args) => (await driver.call('add', args, session)).result;
    return await cpuPerCall({ warmUp: 4000, count: 8000, inFlight: 16 }, send, () => server.usage());
  } finally {
    driver.close();
    await server.stop();
  }
}

export const compatRows = [
  {
    name: 'a v1 program over stdio, 16 in flight, server CPU',
    unit: 'us/call',
    systems: Object.keys(systems),
    showsCallsPerSecond: true,
    run: overStdio,
  },
  {
    name: 'a v1 program over HTTP with a session, 16 in flight, server CPU',
    unit: 'us/call',
    systems: Object.keys(systems),
    showsCallsPerSecond: true,
    run: overHttp,
  },
];
