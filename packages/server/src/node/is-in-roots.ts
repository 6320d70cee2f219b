/** Tells whether a path is inside a client's roots, with symbolic links resolved. */

import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Root } from '@mortise/protocol';

/**
 * Tells whether a path is inside one of the roots: `await isInRoots((await ctx.listRoots()).roots, path)`.
 *
 * Symbolic links are followed in both the path and the roots. For a path that does not exist yet, its existing part counts. A link may be created
 * between this check and the use of the path: roots are guidance, not a sandbox.
 *
 * @param path Absolute, or a `file:` URL.
 * @returns False if the path is outside the roots: by `..`, by a symbolic link, or because a root no longer exists.
 * @throws {TypeError} The path is relative.
 * @deprecated since 2026-07-28, with roots: take directories as arguments, resource URIs or configuration. Works in every revision.
 */
export async function isInRoots(roots: readonly Root[], path: string | URL): Promise<boolean> {
  const wanted = toPath(path);
  if (wanted === undefined) return false;
  if (!isAbsolute(wanted)) throw new TypeError('isInRoots(roots, path): "path" must be an absolute path or a file: URL');
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

/** Resolves symbolic links in a path. Undefined if the end is unknown, as for a link to a missing file, which could be created anywhere. */
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

/** Converts a `file:` URL to a path. Undefined for a URL without a path on this machine. */
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
