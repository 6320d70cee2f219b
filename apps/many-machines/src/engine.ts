/** Redis or PostgreSQL as a process that can be killed and started again, behind a network that can be cut. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { NetworkState } from './engine-proxy.ts';

export type EngineName = 'redis' | 'postgres';

interface Kind {
  readonly command: string;
  readonly args: readonly string[];
  /** The socket file that it listens on. */
  readonly socket: string;
  /** What ends it as a crash does. PostgreSQL ends its own processes at SIGQUIT, and leaves them behind at SIGKILL. */
  readonly signal: NodeJS.Signals;
  readonly user: { readonly uid?: number; readonly gid?: number };
  url(port: number): string;
}

export class Engine {
  readonly #folder: string = mkdtempSync(path.join(tmpdir(), 'mortise-engine-'));
  readonly #kind: Kind;
  #proxy: Worker | undefined;
  #port = 0;
  #process: ChildProcess | undefined;

  constructor(name: EngineName) {
    this.#kind = name === 'redis' ? redis(this.#folder) : postgres(this.#folder);
  }

  /** The URL of the engine, through the proxy. */
  get url(): string {
    return this.#kind.url(this.#port);
  }

  async open(): Promise<void> {
    await this.start();
    // A thread runs what is built, also where a test runs the sources.
    this.#proxy = new Worker(new URL('../dist/engine-proxy.js', import.meta.url), { workerData: this.#kind.socket });
    [this.#port] = (await once(this.#proxy, 'message')) as [number];
  }

  async start(): Promise<void> {
    const { command, args, user } = this.#kind;
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...user });
    this.#process = child;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      const read = (bytes: Buffer): void => {
        log = (log + String(bytes)).slice(-10_000);
        if (log.includes('ready to accept connections')) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`${command} ended: ${log}`)));
    });
  }

  async kill(): Promise<void> {
    if (this.#process?.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill(this.#kind.signal);
    await ended;
  }

  /** Cuts the network between the machines and the engine, or mends it. */
  setNetwork(state: NetworkState): void {
    this.#proxy?.postMessage(state);
  }

  async close(): Promise<void> {
    await this.#proxy?.terminate();
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function redis(folder: string): Kind {
  const socket = path.join(folder, 'redis.sock');
  const disk = ['--dir', folder, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  return {
    command: 'redis-server',
    args: ['--port', '0', '--unixsocket', socket, ...disk],
    socket,
    signal: 'SIGKILL',
    user: {},
    url: (port) => `redis://127.0.0.1:${port}`,
  };
}

const POSTGRES = '/usr/lib/postgresql';

function postgres(folder: string): Kind {
  const newest = existsSync(POSTGRES) ? readdirSync(POSTGRES).toSorted((a, b) => Number(b) - Number(a))[0] : undefined;
  const programs = newest === undefined ? '' : path.join(POSTGRES, newest, 'bin');
  const user = process.getuid?.() === 0 ? postgresUser() : undefined;
  if (user) chownSync(folder, user.uid, user.gid);
  const data = path.join(folder, 'data');
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-locale', '-E', 'UTF8'];
  execFileSync(path.join(programs, 'initdb'), init, { stdio: 'ignore', ...user });
  return {
    command: path.join(programs, 'postgres'),
    args: ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'max_connections=200'],
    socket: path.join(folder, '.s.PGSQL.5432'),
    signal: 'SIGQUIT',
    user: user ?? {},
    url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
  };
}

/** PostgreSQL refuses to run as root: then it runs as the user that its package made. */
function postgresUser(): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
