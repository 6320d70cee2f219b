/** Whether a path lies in a client's roots, by where it really leads. */

import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Root } from '@mortise/protocol';

/**
 * Tells whether a path lies in one of the roots: `await isInRoots((await ctx.listRoots()).roots, path)`.
 *
 * Symbolic links are followed on both sides. A path that does not exist yet lies where the part of it that exists leads. Between this
 * check and the use of a path somebody may put a link there: roots are guidance, not a sandbox.
 *
 * @param path Absolute, or a `file:` URL.
 * @returns False where it leads out of the roots in any way: by `..`, by a symbolic link, because a root has vanished.
 * @throws {TypeError} A relative path.
 * @deprecated since 2026-07-28, with roots: take directories as arguments, resource URIs or configuration. Works in every revision.
 */
export async function isInRoots(roots: readonly Root[], path: string | URL): Promise<boolean> {
  const wanted = toPath(path);
  if (wanted === undefined) return false;
  if (!isAbsolute(wanted)) throw new TypeError('isInRoots needs an absolute path or a file: URL');
  const real = await findEnd(resolve(wanted));
  if (real === undefined) return false;
  for (const { uri } of roots) {
    const root = /^file:/i.test(uri) ? toPath(uri) : undefined;
    const realRoot = root && (await realpath(root).catch(() => undefined));
    if (realRoot !== undefined && isInside(real, realRoot)) return true;
  }
  return false;
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Where a path really leads; undefined where that cannot be known, as for a link to nothing: its target may be made anywhere. */
async function findEnd(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    const isMissing = (error as { readonly code?: unknown }).code === 'ENOENT' && !(await lstat(path).catch(() => undefined));
    const parent = dirname(path);
    if (!isMissing || parent === path) return undefined;
    const end = await findEnd(parent);
    return end && join(end, basename(path));
  }
}

/** Undefined for a URL that is no path of this machine. */
function toPath(path: string | URL): string | undefined {
  const text = String(path);
  if (text.includes('\0')) return undefined;
  if (typeof path === 'string' && !/^file:/i.test(path)) return path;
  try {
    return fileURLToPath(text);
  } catch {
    return undefined;
  }
}
