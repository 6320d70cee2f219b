// The rows over WebSocket, beside a bare `ws`. The official SDKs have no server for it.
import { fileURLToPath } from 'node:url';
import { withBefore } from '../measure/before.mjs';
import { callAdd, serverCpu } from '../measure/line-peer.mjs';
import { startWebSocketPeer } from '../measure/ws-peer.mjs';

const servers = withBefore({
  floor: ['../floor/ws-server.mjs', 'legacy'],
  'floor, modern': ['../floor/ws-server.mjs', 'modern'],
  ours: ['../ours/ws-server.mjs', 'legacy'],
  'ours, modern': ['../ours/ws-server.mjs', 'modern'],
});

async function measure(name, settings) {
  const [file, era] = servers[name];
  const peer = await startWebSocketPeer(fileURLToPath(new URL(file, import.meta.url)));
  return serverCpu(peer, { era, ...callAdd, ...settings });
}

export const webSocketRows = [
  {
    name: 'WebSocket pipelined, 100 in flight, server CPU',
    unit: 'us/call',
    systems: Object.keys(servers),
    run: (name) => measure(name, { warmUp: 4000, count: 20_000, inFlight: 100 }),
  },
  {
    name: 'WebSocket sequential round trips, server CPU',
    unit: 'us/call',
    systems: Object.keys(servers),
    run: (name) => measure(name, { warmUp: 4000, count: 8000, inFlight: 1 }),
  },
];
