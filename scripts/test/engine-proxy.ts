/** Proxies in front of a database or Redis that delay, cut off, and come back. */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP port of loopback that leads to an engine, which listens on a socket file. */
export class EngineProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: string;
  readonly #delayMs: number;
  #isCut = false;

  constructor(target: string, delayMs: number) {
    this.#target = target;
    this.#delayMs = delayMs;
    this.#server = createServer((client) => this.#accept(client));
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks all connections, and accepts none until `mend`. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  /** Resolves when nobody is connected. */
  async idle(): Promise<void> {
    for (const socket of this.#sockets) if (!socket.destroyed) await once(socket, 'close');
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    if (this.#isCut) return void client.destroy();
    const engine = connect(this.#target);
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (bytes) => this.#later(() => to.write(bytes)));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        this.#later(() => to.destroy());
      });
    }
  }

  #later(fn: () => void): void {
    if (this.#delayMs === 0) fn();
    else setTimeout(fn, this.#delayMs / 2);
  }
}
