/** A directory outside of which nothing is read, whatever a path says and wherever symbolic links lead. */

import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** A file or directory inside the root. */
export interface SafeEntry {
  /** From the root, with `/`; empty for the root. */
  readonly path: string;
  /** The same with every symbolic link on the way followed. */
  readonly realPath: string;
  /** The absolute form of `realPath`. */
  readonly real: string;
  readonly isDirectory: boolean;
  readonly size: number;
  readonly modifiedAtMs: number;
}

/** Does not follow a last link, and does not wait for the other end of a pipe. Absent on Windows, where making links needs rights. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Names that Windows takes for devices, whatever follows the first dot. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Error codes of paths that cannot be read. The caller does not learn whether a path is missing, forbidden or outside. */
const NOWHERE: ReadonlySet<unknown> = new Set(['EACCES', 'EINVAL', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'ENXIO', 'EPERM']);

/** How deep `walk` goes. */
const MAX_DEPTH = 32;

export class SafeRoot {
  readonly #root: string;
  readonly #showsHidden: boolean;

  /**
   * @param root An absolute path. It is looked up at each use: what it is may change.
   * @param showsHidden Whether names that begin with a dot may be read.
   */
  constructor(root: string, showsHidden = false) {
    this.#root = root;
    this.#showsHidden = showsHidden;
  }

  /** What is at a path; undefined where nothing is that may be read. Pipes and devices may not. */
  async find(path: string): Promise<SafeEntry | undefined> {
    if (!this.#isPlain(path)) return undefined;
    return quietly(async () => {
      const root = await realpath(this.#root);
      const real = await realpath(join(root, path));
      const realPath = relative(root, real).split(sep).join('/');
      if (!this.#isPlain(realPath)) return undefined;
      const stats = await lstat(real);
      if (!stats.isFile() && !stats.isDirectory()) return undefined;
      return { path, realPath, real, isDirectory: stats.isDirectory(), size: stats.size, modifiedAtMs: stats.mtimeMs };
    });
  }

  /**
   * The files below the root, level by level, so that those near the root come first. Links to directories are not entered: they could
   * lead in circles.
   *
   * @param isShown Is asked for each file and directory. A directory that is not shown is not entered.
   */
  async *walk(isShown: (entry: SafeEntry) => Promise<boolean>): AsyncGenerator<SafeEntry, void, undefined> {
    let level = [''];
    for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
      const below: string[] = [];
      for (const directory of level) {
        for await (const entry of this.#entriesOf(directory)) {
          if (!(await isShown(entry))) continue;
          if (!entry.isDirectory) yield entry;
          else if (entry.path === entry.realPath) below.push(entry.path);
        }
      }
      level = below;
    }
  }

  async *#entriesOf(directory: string): AsyncGenerator<SafeEntry, void, undefined> {
    const found = await this.find(directory);
    const names = found && (await quietly(() => readdir(found.real)));
    for (const name of names?.sort() ?? []) {
      const entry = await this.find(directory === '' ? name : `${directory}/${name}`);
      if (entry) yield entry;
    }
  }

  /** Reads a file that was found. @param maxBytes A longer one is `'too large'`. */
  async read({ real, isDirectory }: SafeEntry, maxBytes: number): Promise<Uint8Array | 'too large' | undefined> {
    const handle = isDirectory ? undefined : await quietly(() => open(real, OPEN_FLAGS));
    if (!handle) return undefined;
    try {
      return (await isSameFile(handle, real)) ? await readBounded(handle, maxBytes) : undefined;
    } finally {
      await handle.close();
    }
  }

  /**
   * Whether a path only goes downwards: not absolute, no `.` and `..`, no empty names, NUL, control characters or backslashes, and on
   * Windows no drives, streams, devices and names that it would shorten.
   */
  #isPlain(path: string): boolean {
    return path === '' || path.split('/').every((name) => isPlainName(name) && (this.#showsHidden || !name.startsWith('.')));
  }
}

function isPlainName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[\u0000-\u001f\u007f\\]/.test(name)) return false;
  return sep === '/' || !(/[:*?"<>|]|[. ]$/.test(name) || DEVICE_NAME.test(name));
}

/** A directory on the way may have been swapped for a link between the look and the open: then this is another file. */
async function isSameFile(handle: FileHandle, real: string): Promise<boolean> {
  const opened = await handle.stat();
  const now = await quietly(async () => ((await realpath(real)) === real ? lstat(real) : undefined));
  return opened.isFile() && opened.ino === now?.ino && opened.dev === now.dev;
}

async function readBounded(handle: FileHandle, maxBytes: number): Promise<Uint8Array | 'too large'> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // One byte more than the bound is asked for, so that a file which grows while it is read is noticed.
  for await (const chunk of handle.createReadStream({ end: maxBytes, autoClose: false }) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
  }
  return length > maxBytes ? 'too large' : Buffer.concat(chunks, length);
}

/** Turns "there is nothing to be read" into undefined; any other failure stays one. */
async function quietly<T>(fn: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await fn();
  } catch (error) {
    if (NOWHERE.has((error as { readonly code?: unknown }).code)) return undefined;
    throw error;
  }
}
