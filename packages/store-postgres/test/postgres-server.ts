/** A PostgreSQL of the test's own: a cluster in a temporary folder, whose processes listen on a socket file. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EngineProxy } from '../../../scripts/test/engine-proxy.ts';

/** The folder of the newest PostgreSQL's programs. Debian has them outside of the `PATH`. */
const programs: string | undefined = (() => {
  try {
    const versions = readdirSync('/usr/lib/postgresql').toSorted((one, other) => Number(other) - Number(one));
    return path.join('/usr/lib/postgresql', String(versions[0]), 'bin');
  } catch {
    try {
      return path.dirname(execFileSync('sh', ['-c', 'command -v initdb'], { encoding: 'utf8' }));
    } catch {
      console.warn('not run: the tests of @mortise/store-postgres that need PostgreSQL (apt-get install postgresql)');
      return undefined;
    }
  }
})();

/** Whether PostgreSQL is installed here. */
export const hasPostgres: boolean = programs !== undefined;

/** The user that PostgreSQL runs as: it refuses to run as root. */
function findUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres']));
  return { uid: id('-u'), gid: id('-g') };
}

function childrenOf(pid: number): readonly number[] {
  return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);
}

/** A proxy in front of PostgreSQL. */
export class PostgresProxy extends EngineProxy {
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }
}

/** A PostgreSQL whose data lasts until `close`. */
export class PostgresServer {
  readonly #folder: string = mkdtempSync(path.join(tmpdir(), 'mortise-pg-'));
  readonly #user = findUser();
  readonly #proxies: PostgresProxy[] = [];
  #process: ChildProcess | undefined;

  /** A URL without a proxy. */
  get url(): string {
    return `postgres://postgres@localhost/postgres?host=${this.#folder}`;
  }

  /** Starts it. What was committed before it was killed is there again. */
  async start(): Promise<this> {
    const data = path.join(this.#folder, 'data');
    if (!this.#process && !readdirSync(this.#folder).includes('data')) this.#initialize(data);
    // Not flushed: no test takes the power away. Each test case has pools of its own.
    const settings = ['listen_addresses=', `unix_socket_directories=${this.#folder}`, 'fsync=off', 'max_connections=400'];
    const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
    // A group of its own, so that all of its processes can be killed at once.
    const child = spawn(this.#program('postgres'), args, { ...this.#user, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    this.#process = child;
    let log = '';
    for await (const bytes of child.stderr.iterator({ destroyOnReturn: false }) as AsyncIterable<unknown>) {
      log += String(bytes);
      if (log.includes('ready to accept connections')) break;
    }
    if (!log.includes('ready to accept connections')) {
      this.#process = undefined;
      throw new Error(`PostgreSQL ended: ${log}`);
    }
    child.stderr.resume();
    return this;
  }

  async kill(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await ended;
    this.#process = undefined;
  }

  /** Makes its processes hang, until `resume`. */
  pause(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid;
    // Each connection has a process in a group of its own, all of the same parent.
    for (const each of pid === undefined ? [] : [pid, ...childrenOf(pid)]) {
      try {
        process.kill(each, signal);
      } catch (error) {
        // It has ended since it was listed.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  async openProxy(delayMs = 0): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(path.join(this.#folder, '.s.PGSQL.5432'), delayMs);
    await proxy.listen();
    this.#proxies.push(proxy);
    return proxy;
  }

  async close(): Promise<void> {
    for (const proxy of this.#proxies) await proxy.close();
    await this.kill();
    rmSync(this.#folder, { recursive: true });
  }

  #initialize(data: string): void {
    if (this.#user) chownSync(this.#folder, this.#user.uid, this.#user.gid);
    const args = ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'];
    execFileSync(this.#program('initdb'), args, { ...this.#user, stdio: 'ignore' });
  }

  #program(name: string): string {
    return path.join(programs ?? '', name);
  }
}
