/** A Redis of the test's own: a process that listens on a socket file. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EngineProxy } from '../../../scripts/test/engine-proxy.ts';

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

/** A proxy in front of Redis. */
export class RedisProxy extends EngineProxy {
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
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
    if (!log.includes('ready to accept connections')) {
      this.#process = undefined;
      throw new Error(`redis-server ended: ${log}`);
    }
    return this;
  }

  async kill(): Promise<void> {
    if (!this.#process) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
    this.#process = undefined;
  }

  /** Makes the process hang, until `resume`. */
  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async openProxy(delayMs = 0): Promise<RedisProxy> {
    const proxy = new RedisProxy(this.socket, delayMs);
    await proxy.listen();
    this.#proxies.push(proxy);
    return proxy;
  }

  async close(): Promise<void> {
    for (const proxy of this.#proxies) await proxy.close();
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }
}
