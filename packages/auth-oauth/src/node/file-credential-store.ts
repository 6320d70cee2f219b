/** A `CredentialStore` in one file that its owner alone can read. */

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { checkOptionRules } from '@mortise/jsonrpc-core/transport';
import type { CredentialStore, LockingStore } from '@mortise/protocol/contracts';
import { AuthOptionError, CredentialFileError } from '../errors.ts';
import { isCode, withFileLock } from './file-lock.ts';

/** Where credentials are kept. */
export interface FileCredentialStoreOptions {
  /** Its folder is made where it is missing, for its owner alone. */
  readonly path: string;
  /** A lock that was not touched for this long, in milliseconds, was left by a process that died. @default 15_000 */
  readonly staleLockMs?: number | undefined;
}

type Records = Map<string, Map<string, JsonObject>>;

/**
 * Keeps credentials in a file of mode 0600, whole at every moment: written beside it and moved into its place.
 *
 * Processes share it: each change is made under a lock, and `withLock` holds over all of them. On Windows the folder's own rights
 * decide who reads it. C1 and C2 of `CredentialStore`.
 *
 * @throws {CredentialFileError} from each member: others may read the file, another user owns it, or it holds something else.
 */
export class FileCredentialStore implements CredentialStore, LockingStore {
  readonly #path: string;
  readonly #staleMs: number;

  /** @throws {AuthOptionError} `ERR_AUTH_OPTION`: `staleLockMs` is no number, or there is no such option. */
  constructor(options: FileCredentialStoreOptions) {
    checkOptionRules('FileCredentialStore', options, { path: 'no number', staleLockMs: 1 }, AuthOptionError);
    this.#path = resolve(options.path);
    this.#staleMs = options.staleLockMs ?? 15_000;
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
    return await withFileLock(`${this.#path}.${name}.lock`, fn, { staleMs: this.#staleMs, signal });
  }

  async #change(change: (records: Records) => void): Promise<void> {
    await this.#locked('write', async () => {
      const records = await this.#read();
      change(records);
      await this.#write(records);
    });
  }

  async #read(): Promise<Records> {
    let text: string;
    try {
      const file = await open(this.#path, 'r');
      try {
        assertPrivate(this.#path, await file.stat());
        text = await file.readFile('utf8');
      } finally {
        await file.close();
      }
    } catch (error) {
      if (isCode(error, 'ENOENT')) return new Map();
      throw error;
    }
    return parseRecords(this.#path, text);
  }

  async #write(records: Records): Promise<void> {
    const issuers = Object.fromEntries([...records].map(([issuer, known]) => [issuer, Object.fromEntries(known)]));
    const beside = `${this.#path}.${randomUUID()}.tmp`;
    try {
      const file = await open(beside, 'wx', 0o600);
      try {
        await file.writeFile(JSON.stringify({ version: 1, issuers }));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(beside, this.#path);
    } catch (error) {
      await rm(beside, { force: true });
      throw error;
    }
  }
}

function assertPrivate(path: string, { mode, uid }: { readonly mode: number; readonly uid: number }): void {
  if (process.platform === 'win32') return;
  if ((mode & 0o077) !== 0) throw new CredentialFileError(`Others may read ${path}: make it yours alone with "chmod 600"`);
  if (uid !== process.getuid?.()) throw new CredentialFileError(`${path} belongs to another user: give a path of your own`);
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
    // Told below, without a word of what it holds.
  }
  throw new CredentialFileError(`${path} is no file of credentials of this version: move it away to begin again`);
}
