import { openPeer, startPeer } from '../measure/line-peer.mjs';
import { floorServer, runClient } from '../measure/client-run.mjs';

const peer = startPeer(floorServer);
const meta = await openPeer(peer, process.argv[3] ?? 'legacy');
await runClient(
  async (a, b) => (await peer.request('tools/call', { name: 'add', arguments: { a, b }, ...(meta && { _meta: meta }) })).result,
);
await peer.stop();
