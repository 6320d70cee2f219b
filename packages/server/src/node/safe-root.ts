/** A directory that nothing is read outside of, whatever a path says and wherever symbolic links lead. */

import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** A file or directory inside the root. */
export interface SafeEntry {
  /** From the root, with `/`; empty for the root. */
  readonly path: string;
  /** Where it really is: the same, but where a symbolic link stands in the path. */
  readonly realPath: string;
  readonly isDirectory: boolean;
  readonly size: number;
  readonly modifiedAtMs: number;
}

/** Without a follow of the last link, and without waiting for the other end of a pipe. Absent on Windows, where links need rights to make. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Names that Windows takes for devices, whatever follows the first dot. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Error codes of paths that cannot be read. The caller does not learn whether a path is missing, forbidden or outside. */
const NOWHERE: ReadonlySet<unknown> = new Set(['EACCES', 'EINVAL', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'ENXIO', 'EPERM']);

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

  /** What is at a path; undefined where nothing is that may be read. */
  async stat(path: string): Promise<SafeEntry | undefined> {
    const found = await this.#locate(path);
    return found?.entry;
  }

  /** The entries of a directory, by name, looked up as they are asked for. Links, pipes and devices that may not be read are left out. */
  async *list(path: string): AsyncGenerator<SafeEntry, void, undefined> {
    const found = await this.#locate(path);
    if (!found?.entry.isDirectory) return;
    const names = await quietly(() => readdir(found.real));
    for (const name of (names ?? []).sort(byCodePoint)) {
      const entry = await this.stat(path === '' ? name : `${path}/${name}`);
      if (entry !== undefined) yield entry;
    }
  }

  /**
   * Reads a file.
   *
   * @param maxBytes What is longer is not read: `'too large'`.
   */
  async read(path: string, maxBytes: number): Promise<Uint8Array | 'too large' | undefined> {
    const found = await this.#locate(path);
    if (found === undefined || found.entry.isDirectory) return undefined;
    const handle = await quietly(() => open(found.real, OPEN_FLAGS));
    if (handle === undefined) return undefined;
    try {
      return (await this.#isStillThere(handle, found.real)) ? await readBounded(handle, maxBytes) : undefined;
    } finally {
      await handle.close();
    }
  }

  /** Follows a path to where it really ends; undefined where nothing is that may be read. */
  async #locate(path: string): Promise<{ readonly real: string; readonly entry: SafeEntry } | undefined> {
    const segments = toSegments(path);
    if (segments === undefined || !this.#areVisible(segments)) return undefined;
    return quietly(async () => {
      const root = await realpath(this.#root);
      const real = await realpath(join(root, ...segments));
      const realPath = this.#pathInside(real, root);
      if (realPath === undefined) return undefined;
      const stats = await lstat(real);
      if (!stats.isFile() && !stats.isDirectory()) return undefined;
      return {
        real,
        entry: { path: segments.join('/'), realPath, isDirectory: stats.isDirectory(), size: stats.size, modifiedAtMs: stats.mtimeMs },
      };
    });
  }

  /** The path from the root of where a path really ends; undefined where that is outside or hidden. */
  #pathInside(real: string, root: string): string | undefined {
    const inside = relative(root, real).split(sep).join('/');
    const segments = toSegments(inside);
    return segments !== undefined && this.#areVisible(segments) ? inside : undefined;
  }

  #areVisible(segments: readonly string[]): boolean {
    return this.#showsHidden || segments.every((segment) => !segment.startsWith('.'));
  }

  /** A directory on the way may have been swapped for a link between the look and the open: then this is another file. */
  async #isStillThere(handle: FileHandle, real: string): Promise<boolean> {
    const [opened, now] = [await handle.stat(), await quietly(async () => ((await realpath(real)) === real ? lstat(real) : undefined))];
    return opened.isFile() && now !== undefined && opened.ino === now.ino && opened.dev === now.dev;
  }
}

/**
 * The names in a path that goes downwards only; undefined for every other path: absolute ones, `.` and `..`, empty names, NUL and
 * control characters, backslashes, and on Windows drives, streams, devices and names that it would shorten.
 */
function toSegments(path: string): readonly string[] | undefined {
  if (path === '') return [];
  const segments = path.split('/');
  return segments.every(isPlainName) ? segments : undefined;
}

function isPlainName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[\u0000-\u001f\u007f\\]/.test(name)) return false;
  return sep === '/' || !(/[:*?"<>|]|[. ]$/.test(name) || DEVICE_NAME.test(name));
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

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
