/** A Redis and a PostgreSQL of the test's own: processes that listen on a socket file in a temporary folder. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const INSTALLED = '/usr/lib/postgresql';

/** The folder of PostgreSQL's programs; undefined where it is not installed. */
const postgres: string | undefined = (() => {
  const newest = existsSync(INSTALLED) ? readdirSync(INSTALLED).toSorted((a, b) => Number(b) - Number(a))[0] : undefined;
  if (newest !== undefined) return path.join(INSTALLED, newest, 'bin');
  console.warn('not run: the tests of @mortise/tasks that need PostgreSQL (apt-get install postgresql)');
  return undefined;
})();

export const hasPostgres: boolean = postgres !== undefined;

export const hasRedis: boolean = (() => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('not run: the tests of @mortise/tasks that need redis-server (apt-get install redis-server)');
    return false;
  }
})();

/** PostgreSQL refuses to run as root: then it runs as the user that its package made. */
function postgresUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** An engine that was started. */
export class Engine {
  /** The folder of its data and of its socket. */
  readonly folder: string = mkdtempSync(path.join(tmpdir(), 'mortise-tasks-'));
  #process: ChildProcess | undefined;

  async startRedis(): Promise<void> {
    const args = ['--port', '0', '--unixsocket', path.join(this.folder, 'redis.sock'), '--dir', this.folder, '--save', ''];
    await this.#start('redis-server', args, {});
  }

  async startPostgres(): Promise<void> {
    const user = postgresUser();
    if (user.uid !== undefined && user.gid !== undefined) chownSync(this.folder, user.uid, user.gid);
    const data = path.join(this.folder, 'data');
    const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-N', '--no-locale', '-E', 'UTF8'];
    execFileSync(path.join(postgres ?? '', 'initdb'), init, { stdio: 'ignore', ...user });
    await this.#start(path.join(postgres ?? '', 'postgres'), ['-D', data, '-k', this.folder, '-c', 'listen_addresses='], user);
  }

  async close(): Promise<void> {
    if (this.#process?.exitCode === null) {
      const ended = once(this.#process, 'exit');
      // PostgreSQL ends its own processes at SIGQUIT, and leaves them behind at SIGKILL.
      this.#process.kill('SIGQUIT');
      await ended;
    }
    rmSync(this.folder, { recursive: true });
  }

  async #start(command: string, args: readonly string[], user: object): Promise<void> {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...user });
    this.#process = child;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      const read = (bytes: Buffer): void => {
        log += String(bytes);
        if (log.includes('ready to accept connections')) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => reject(new Error(`${command} ended: ${log}`)));
    });
  }
}
