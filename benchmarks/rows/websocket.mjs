// The rows over WebSocket, beside a bare `ws`. The official SDKs have no server for it.
import { fileURLToPath } from 'node:url';
import { withBefore } from '../measure/before.mjs';
import { openPeer, pump } from '../measure/line-peer.mjs';
import { startWebSocketPeer } from '../measure/ws-peer.mjs';

const servers = withBefore({
  floor: ['../floor/ws-server.mjs', 'legacy'],
  'floor, modern': ['../floor/ws-server.mjs', 'modern'],
  ours: ['../ours/ws-server.mjs', 'legacy'],
  'ours, modern': ['../ours/ws-server.mjs', 'modern'],
});

/** CPU microseconds a call, spent in the server alone. */
async function serverCpu(name, { warmUp, count, inFlight }) {
  const [file, era] = servers[name];
  const peer = await startWebSocketPeer(fileURLToPath(new URL(file, import.meta.url)));
  try {
    const meta = await openPeer(peer, era);
    const send = (index) => peer.request('tools/call', { name: 'add', arguments: { a: index, b: 1 }, ...(meta && { _meta: meta }) });
    const check = (message, index) => {
      if (message.result?.structuredContent?.sum !== index + 1) throw new Error(`wrong answer: ${JSON.stringify(message).slice(0, 300)}`);
    };
    await pump(warmUp, inFlight, send, check);
    const before = await peer.cpu();
    await pump(count, inFlight, send, check);
    return ((await peer.cpu()).cpuUs - before.cpuUs) / count;
  } finally {
    await peer.stop();
  }
}

export const webSocketRows = [
  {
    name: 'WebSocket pipelined, 100 in flight, server CPU',
    unit: 'us/call',
    systems: Object.keys(servers),
    run: (name) => serverCpu(name, { warmUp: 4000, count: 20_000, inFlight: 100 }),
  },
  {
    name: 'WebSocket sequential round trips, server CPU',
    unit: 'us/call',
    systems: Object.keys(servers),
    run: (name) => serverCpu(name, { warmUp: 4000, count: 8000, inFlight: 1 }),
  },
];
