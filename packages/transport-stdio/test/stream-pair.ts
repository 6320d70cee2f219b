/** Two ends that are joined by streams, within one process. */

import { connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { duplexChannel, StreamTransport, type StreamTransportOptions } from '@mortise/transport-stdio';
import { StdioServerTransport } from '@mortise/transport-stdio/server';

export interface StreamPair {
  readonly client: StreamTransport;
  readonly server: StreamTransport;
  readonly toServer: PassThrough;
  readonly toClient: PassThrough;
}

/** A client over plain streams, and a `StdioServerTransport` that was given streams of its own. */
export function createStreamPair(options: StreamTransportOptions = {}): StreamPair {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const client = new StreamTransport(() => ({ input: toClient, output: toServer, release: () => void toServer.end() }), options);
  return { client, server: new StdioServerTransport(toServer, toClient, options), toServer, toClient };
}

export interface SocketPair {
  readonly client: StreamTransport;
  readonly server: StreamTransport;
  close(): Promise<void>;
}

/** A custom transport in its whole: stdio's framing over a socket. The peer may end its half and still be answered. */
export function socketTransport(open: () => Promise<Socket>, options: StreamTransportOptions = {}): StreamTransport {
  return new StreamTransport(async () => duplexChannel(await open()), options);
}

/** Connects to a Unix domain socket. */
export function connectTo(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true }, () => resolve(socket)).once('error', reject);
  });
}

/** Two ends of one connection over a Unix domain socket at `path`. */
export function createSocketPair(path: string, options: StreamTransportOptions = {}): SocketPair {
  const listener = createServer({ allowHalfOpen: true });
  const sockets: Socket[] = [];
  listener.on('connection', (socket) => void sockets.push(socket));
  const accepted = new Promise<Socket>((resolve) => listener.once('connection', resolve));
  listener.listen(path);
  return {
    client: socketTransport(() => connectTo(path), options),
    server: socketTransport(() => accepted, options),
    close: async () => {
      // A socket whose transport was never started is nobody's.
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
