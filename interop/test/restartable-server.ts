/** A server in a process of its own that can be killed and started again, behind an address that stays and whose event streams can be cut. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../fixtures/http-server.mjs', import.meta.url));

export class RestartableServer {
  readonly #args: readonly string[];
  readonly #sockets = new Set<Socket>();
  /** Those that are in the middle of an event stream. Others may be cut only where no client is about to use them. */
  readonly #streams = new Set<Socket>();
  readonly #front = createServer((near) => this.#join(near));
  #child: ChildProcess | undefined;
  #port = 0;

  private constructor(args: readonly string[]) {
    this.#args = args;
  }

  /** @param args Those of the fixture `http-server.mjs`. */
  static async start(...args: readonly string[]): Promise<RestartableServer> {
    const server = new RestartableServer(args);
    server.#front.listen(0, '127.0.0.1');
    await once(server.#front, 'listening');
    await server.#start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#front.address() as AddressInfo).port}/mcp`;
  }

  async restart(): Promise<void> {
    await this.#kill();
    await this.#start();
  }

  /** Cuts every event stream. The server runs on. */
  cut(): void {
    for (const socket of this.#streams) socket.destroy();
  }

  async close(): Promise<void> {
    await this.#kill();
    this.#front.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #start(): Promise<void> {
    this.#child = spawn(process.execPath, [program, ...this.#args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    const [url] = (await once(lines, 'line')) as [string];
    this.#port = Number(new URL(url).port);
  }

  async #kill(): Promise<void> {
    if (this.#child === undefined || (this.#child.exitCode ?? this.#child.signalCode) !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #join(near: Socket): void {
    const far = connect(this.#port, '127.0.0.1');
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.#streams.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    far.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      if (/^HTTP[^]*content-type: text\/event-stream/i.test(text)) this.#streams.add(near);
      if (text.endsWith('\r\n0\r\n\r\n')) this.#streams.delete(near);
    });
    near.pipe(far).pipe(near);
  }
}
