// What a program written for SDK v1 costs a call: on v1, on `@mortise/compat-v1` with only its imports changed, and the same on our own API.
import { fileURLToPath } from 'node:url';
import { HttpDriver, startHttpServer } from '../measure/http-peer.mjs';
import { callAdd, pump, serverCpu, startPeer } from '../measure/line-peer.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const onCompat = ['--import', new URL('../measure/compat-imports.mjs', import.meta.url).href];
const systems = { 'official v1': ['official-v1', []], compat: ['official-v1', onCompat], ours: ['ours', []] };

function overStdio(name) {
  const [folder, nodeArgs] = systems[name];
  const peer = startPeer(here(`../${folder}/stdio-server.mjs`), [], nodeArgs);
  return serverCpu(peer, { era: 'legacy', ...callAdd, warmUp: 4000, count: 20_000, inFlight: 16 });
}

async function overHttp(name) {
  const [folder, nodeArgs] = systems[name];
  const server = await startHttpServer(here(`../${folder}/http-server.mjs`), { sessions: true }, nodeArgs);
  const driver = new HttpDriver(server.url, 'legacy', 16);
  try {
    const session = await driver.open();
    const send = (index) => driver.call('add', { a: index, b: 1 }, session);
    await pump(4000, 16, send, callAdd.check);
    const before = await server.usage();
    await pump(8000, 16, send, callAdd.check);
    return ((await server.usage()).cpuUs - before.cpuUs) / 8000;
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
