/** The transport that is written here keeps the guarantees that every transport gives. */

import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeTransport } from '@mortise/transport-testkit/vitest';
import { NewlineTransport } from '../src/newline-transport.ts';

let count = 0;

describeTransport('newlines over a Unix domain socket', {
  traits: { bound: true, frames: true, chunks: true, backpressure: true, handles: true },
  async createPair(options) {
    const path = join(tmpdir(), `newlines-${process.pid}-${++count}.sock`);
    const sockets: Socket[] = [];
    let near: Socket | undefined;
    // Nothing is read of a socket whose transport has not started.
    const listener = createServer({ pauseOnConnect: true });
    const accepted = new Promise<Socket>((resolve) => listener.on('connection', (socket) => (sockets.push(socket), resolve(socket))));
    await new Promise<void>((resolve) => listener.listen(path, resolve));
    const open = (): Promise<Socket> =>
      new Promise((resolve, reject) => {
        near = connect(path, () => near && resolve(near)).once('error', reject);
      });
    return {
      client: new NewlineTransport(open, options),
      server: new NewlineTransport(() => accepted, options),
      async injectFrame(to, frame, chunkBytes = Infinity) {
        const bytes = Buffer.concat([frame, Buffer.from('\n')]);
        const socket = to === 'server' ? near : sockets[0];
        for (let from = 0; from < bytes.length; from += chunkBytes)
          socket?.write(bytes.subarray(from, Math.min(from + chunkBytes, bytes.length)));
      },
      close: async () => {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => listener.close(resolve));
      },
    };
  },
});
