import { openPeer, startPeer } from '../measure/line-peer.mjs';
import { floorServer, runClient } from '../measure/client-run.mjs';

const peer = startPeer(floorServer);
await openPeer(peer, 'legacy');
await runClient(async (a, b) => (await peer.request('tools/call', { name: 'add', arguments: { a, b } })).result);
await peer.stop();
