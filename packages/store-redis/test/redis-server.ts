/** A Redis of the test's own: a process that listens on a socket file, and proxies in front of it that delay, cut off, and come back. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Whether `redis-server` is installed here. */
export const hasRedis: boolean = (() => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('not run: the tests of @mortise/store-redis that need redis-server (apt-get install redis-server)');
    return false;
  }
})();

/** A TCP port of loopback that leads to Redis. */
export class RedisProxy {
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

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
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
    const redis = connect(this.#target);
    for (const [from, to] of [
      [client, redis],
      [redis, client],
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

/** A `redis-server` process. */
export class RedisServer {
  readonly folder: string = mkdtempSync(path.join(tmpdir(), 'mortise-redis-'));
  /** The file of the socket that it listens on. */
  readonly socket: string = path.join(this.folder, 'redis.sock');
  readonly #args: readonly string[];
  readonly #proxies: RedisProxy[] = [];
  #process: ChildProcess | undefined;

  constructor(args: readonly string[] = []) {
    this.#args = args;
  }

  /** Starts the process. With `--appendonly yes` what was written before it was killed is there again. */
  async start(): Promise<this> {
    const args = ['--port', '0', '--unixsocket', this.socket, '--dir', this.folder, '--save', '', '--appendfsync', 'always'];
    const child = spawn('redis-server', [...args, ...this.#args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    let log = '';
    for await (const bytes of child.stdout) {
      log += String(bytes);
      if (log.includes('ready to accept connections')) break;
    }
    if (child.exitCode !== null) throw new Error(`redis-server ended: ${log}`);
    return this;
  }

  async kill(): Promise<void> {
    if (!this.#process) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
    this.#process = undefined;
  }

  async openProxy(delayMs = 0): Promise<RedisProxy> {
    const proxy = await new RedisProxy(this.socket, delayMs).listen();
    this.#proxies.push(proxy);
    return proxy;
  }

  async close(): Promise<void> {
    for (const proxy of this.#proxies) await proxy.close();
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }
}
