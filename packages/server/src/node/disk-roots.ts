/** Whether paths lie in a client's roots, by where they really lead. */

import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Root } from '@mortise/protocol';

/** Tells whether a path lies in one of some places. */
export interface RootGuard {
  /**
   * @param path Absolute, or a `file:` URL. It need not exist yet.
   * @returns False where it leads out of them in any way: by `..`, by a symbolic link, because a root has vanished.
   */
  contains(roots: readonly Root[], path: string | URL): Promise<boolean>;
}

/**
 * Makes a guard of paths: `await diskRoots().contains((await ctx.listRoots()).roots, path)`.
 *
 * Symbolic links are followed on both sides. A path that does not exist yet lies where the part of it that exists leads. Between the
 * look and the use of a path somebody may put a link there: roots are guidance, not a sandbox.
 *
 * @deprecated since 2026-07-28, with roots: take directories as arguments, resource URIs or configuration. Works in every revision.
 */
export function diskRoots(): RootGuard {
  return { contains };
}

/** @throws {TypeError} A path that is relative: nobody knows to what. */
async function contains(roots: readonly Root[], path: string | URL): Promise<boolean> {
  const wanted = toPath(path);
  if (wanted === undefined) return false;
  if (!isAbsolute(wanted)) throw new TypeError('diskRoots().contains needs an absolute path or a file: URL');
  const real = await findEnd(resolve(wanted));
  if (real === undefined) return false;
  const ends = await Promise.all(roots.map(({ uri }) => findRoot(uri)));
  return ends.some((root) => root !== undefined && isInside(real, root));
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Undefined for a root that has vanished, or is no file. */
async function findRoot(uri: string): Promise<string | undefined> {
  const path = /^file:/i.test(uri) ? toPath(uri) : undefined;
  return path === undefined ? undefined : realpath(path).catch(() => undefined);
}

/** Where a path really leads; undefined where that cannot be found out. */
async function findEnd(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ENOENT' || (await isLink(path))) return undefined;
    const parent = dirname(path);
    if (parent === path) return undefined;
    const end = await findEnd(parent);
    return end && join(end, basename(path));
  }
}

/** A link that leads nowhere may lead anywhere once its target is made. */
async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
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
