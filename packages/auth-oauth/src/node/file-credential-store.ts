/**
 * A `CredentialStore` in one file that only its owner can read, with a lock between processes.
 *
 * The lock is a file that only one process can create. The process that holds the lock updates the time of the file every few seconds.
 * A lock file with an old time belongs to a process that died; another process removes it, under a second lock so that only one does.
 */

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CredentialStore, LockingStore } from '@mortise/protocol/contracts';
import { AuthError } from '../errors.ts';

/** The stored credentials and tokens, by issuer and then by key. */
type Records = Map<string, Map<string, JsonObject>>;

/**
 * Stores credentials in a file of mode 0600. Each write creates a new file and renames it, so the file is always complete.
 *
 * Several processes may share the file: writes and `withLock` use a lock file. On Windows the permissions of the folder decide who can
 * read it. Gives the guarantees C1 and C2 of `CredentialStore` and `LockingStore`.
 *
 * @throws {AuthError} `ERR_CREDENTIAL_FILE`, from each method: other users may read the file or own it, or its content is invalid.
 */
export class FileCredentialStore implements CredentialStore, LockingStore {
  readonly #path: string;

  /** @param path The file to store credentials in. A missing folder is created with access for its owner only. */
  constructor(path: string) {
    this.#path = resolve(path);
  }

  async get(issuer: string, key: string): Promise<JsonObject | undefined> {
    return (await this.#read()).get(issuer)?.get(key);
  }

  async put(issuer: string, key: string, value: JsonObject): Promise<void> {
    await this.#change((records) => {
      const known = records.get(issuer) ?? new Map<string, JsonObject>();
      records.set(issuer, known.set(key, value));
    });
  }

  async delete(issuer: string, key?: string): Promise<void> {
    await this.#change((records) => {
      if (key === undefined) records.delete(issuer);
      else records.get(issuer)?.delete(key);
    });
  }

  async withLock<T>(name: string, fn: () => Promise<T>, { signal }: { readonly signal?: AbortSignal } = {}): Promise<T> {
    const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
    return await this.#locked(digest, fn, signal);
  }

  async #locked<T>(name: string, fn: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    return await withFileLock(`${this.#path}.${name}.lock`, fn, signal);
  }

  async #change(change: (records: Records) => void): Promise<void> {
    await this.#locked('write', async () => {
      const records = await this.#read();
      change(records);
      await this.#write(records);
    });
  }

  async #read(): Promise<Records> {
    try {
      const file = await open(this.#path, 'r');
      try {
        assertPrivate(this.#path, await file.stat());
        return parseRecords(this.#path, await readFile(file, 'utf8'));
      } finally {
        await file.close();
      }
    } catch (error) {
      if (isCode(error, 'ENOENT')) return new Map();
      throw error;
    }
  }

  async #write(records: Records): Promise<void> {
    const issuers = Object.fromEntries([...records].map(([issuer, known]) => [issuer, Object.fromEntries(known)]));
    const beside = `${this.#path}.${randomUUID()}.tmp`;
    try {
      await writeFile(beside, JSON.stringify({ version: 1, issuers }), { flag: 'wx', mode: 0o600, flush: true });
      await rename(beside, this.#path);
    } catch (error) {
      await rm(beside, { force: true });
      throw error;
    }
  }
}

function assertPrivate(path: string, { mode, uid }: { readonly mode: number; readonly uid: number }): void {
  if (process.platform === 'win32') return;
  if ((mode & 0o077) !== 0) throw new AuthError('ERR_CREDENTIAL_FILE', `Other users may read ${path}: run "chmod 600" on it`);
  if (uid !== process.getuid?.()) throw new AuthError('ERR_CREDENTIAL_FILE', `${path} belongs to another user: use a file of your own`);
}

function parseRecords(path: string, text: string): Records {
  try {
    const { version, issuers } = JSON.parse(text) as {
      readonly version?: unknown;
      readonly issuers?: Readonly<Record<string, Record<string, JsonObject>>>;
    };
    if (version === 1 && typeof issuers === 'object' && issuers !== null) {
      return new Map(Object.entries(issuers).map(([issuer, known]) => [issuer, new Map(Object.entries(known))]));
    }
  } catch {
    // The error below must not contain the file's content.
  }
  throw new AuthError('ERR_CREDENTIAL_FILE', `${path} is not a credential file of this version: move it away to start with an empty one`);
}

const TOUCH_MS = 3_000;
const STALE_MS = 15_000;

/** Runs one `fn` at a time across all processes that use `path`. Releases the lock when `fn` has ended. @param signal Ends the wait. */
async function withFileLock<T>(path: string, fn: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const owner = randomUUID();
  while (!(await tryCreate(path, owner))) {
    if (!(await removeStale(path)))
      await sleep(20 + Math.random() * 60, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
  }
  const touch = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), TOUCH_MS);
  touch.unref();
  try {
    signal?.throwIfAborted();
    return await fn();
  } finally {
    clearInterval(touch);
    const holder = await readFile(path, 'utf8').catch(() => undefined);
    if (holder === owner) await rm(path, { force: true });
  }
}

async function tryCreate(path: string, owner: string): Promise<boolean> {
  try {
    await writeFile(path, owner, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Removes the lock file of a process that died. @returns Whether the lock may be free now. */
async function removeStale(path: string): Promise<boolean> {
  if (!(await isStale(path))) return false;
  const guard = `${path}.takeover`;
  if (!(await tryCreate(guard, ''))) {
    if (await isStale(guard)) await rm(guard, { force: true });
    return false;
  }
  try {
    if (await isStale(path)) await rm(path, { force: true });
    return true;
  } finally {
    await rm(guard, { force: true });
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > STALE_MS;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Tells whether an error is a system error with this code, such as `ENOENT`. */
function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
