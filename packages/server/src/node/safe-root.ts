/** Reads files below a directory, and never outside it, whatever a path or a symbolic link says. */

import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** A file or directory inside the root. */
export interface SafeEntry {
  /** The path relative to the root directory, with `/`. Empty for the root itself. */
  readonly path: string;
  /** `path` with every symbolic link resolved, relative to the root. */
  readonly realPath: string;
  /** The absolute path with every symbolic link resolved. */
  readonly real: string;
  readonly isDirectory: boolean;
  readonly size: number;
  readonly modifiedAtMs: number;
}

/**
 * Flags for opening a file: do not follow a symbolic link at the end of the path, and do not block on a pipe. Windows lacks both flags, but
 * creating links there needs privileges.
 */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Names that Windows treats as devices, with or without an extension. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Error codes of paths that cannot be read. All are reported as "not found", so that a caller does not learn whether a forbidden path exists. */
const NOWHERE: ReadonlySet<unknown> = new Set(['EACCES', 'EINVAL', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'ENXIO', 'EPERM']);

/** How many levels of directories `walk` descends. */
const MAX_DEPTH = 32;

export class SafeRoot {
  readonly #root: string;
  readonly #showsHidden: boolean;

  /**
   * @param root An absolute path. Resolved at each use, because the directory may be replaced.
   * @param showsHidden Whether names that begin with a dot may be read.
   */
  constructor(root: string, showsHidden = false) {
    this.#root = root;
    this.#showsHidden = showsHidden;
  }

  /** Finds the file or directory at a path. Undefined if there is none, or if it may not be read. Pipes and devices may not be read. */
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
   * Lists the files below the root level by level, nearest to the root first. Does not enter symbolic links to directories, which may form cycles.
   *
   * @param isShown Called for each file and directory. A directory for which it returns false is not entered.
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

  /** Reads a file that `find` returned. @param maxBytes For a larger file the result is `'too large'`. */
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
   * Tells whether a path is safe: not absolute, no `.`, `..` or empty names, no NUL, control characters or backslashes, and on Windows no drives,
   * streams, devices or names that Windows shortens.
   */
  #isPlain(path: string): boolean {
    return path === '' || path.split('/').every((name) => isPlainName(name) && (this.#showsHidden || !name.startsWith('.')));
  }
}

function isPlainName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[\u0000-\u001f\u007f\\]/.test(name)) return false;
  return sep === '/' || !(/[:*?"<>|]|[. ]$/.test(name) || DEVICE_NAME.test(name));
}

/** Tells whether an opened file is still the one at the checked path. It is not if a link replaced a directory of the path meanwhile. */
async function isSameFile(handle: FileHandle, real: string): Promise<boolean> {
  const opened = await handle.stat();
  const now = await quietly(async () => ((await realpath(real)) === real ? lstat(real) : undefined));
  return opened.isFile() && opened.ino === now?.ino && opened.dev === now.dev;
}

async function readBounded(handle: FileHandle, maxBytes: number): Promise<Uint8Array | 'too large'> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Reads one byte more than the limit, to detect a file that grows while it is read.
  for await (const chunk of handle.createReadStream({ end: maxBytes, autoClose: false }) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
  }
  return length > maxBytes ? 'too large' : Buffer.concat(chunks, length);
}

/** Runs a file operation. Returns undefined if the path cannot be read. Rethrows any other error. */
async function quietly<T>(fn: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await fn();
  } catch (error) {
    if (NOWHERE.has((error as { readonly code?: unknown }).code)) return undefined;
    throw error;
  }
}
