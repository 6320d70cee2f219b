/** A `node:http` server on loopback, whose port is known before anything is served. */

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Listening {
  readonly origin: string;
  /** From now on this answers. */
  serve(listener: RequestListener): void;
  close(): Promise<void>;
}

/** The port is taken. */
export class PortError extends Error {}

/**
 * @param port 0 for any that is free.
 * @throws {PortError}
 */
export async function listen(port: number): Promise<Listening> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new PortError(`Cannot listen on 127.0.0.1:${port}: ${error.message}; give another port, or 0 for any that is free`)),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (listener) => void server.on('request', listener),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
