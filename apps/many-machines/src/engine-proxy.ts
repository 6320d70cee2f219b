/** The network between the machines and the engine, as a thread of its own: the driver is busy, and must not hold up what machines and engine say. */

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** A message to the thread. `cut`: drops everything in both directions and keeps connections open, like a network that is down. `mended`: passes everything on again. */
export type NetworkState = 'cut' | 'mended';

const sockets = new Set<Socket>();
let isCut = false;

const proxy = createServer((client) => {
  const engine = connect(String(workerData));
  for (const [from, to] of [
    [client, engine],
    [engine, client],
  ] as const) {
    sockets.add(from);
    from.on('data', (bytes) => void (isCut || to.write(bytes)));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }
});

parentPort?.on('message', (state: NetworkState) => {
  isCut = state === 'cut';
  // Something is missing in what they carried.
  if (!isCut) for (const socket of sockets) socket.destroy();
});
proxy.listen(0, '127.0.0.1', () => parentPort?.postMessage((proxy.address() as AddressInfo).port));
