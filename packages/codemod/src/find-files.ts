/** Lists the files of a folder that a program's author writes. */

import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** Folders with what others wrote, or what a tool makes. */
const SKIPPED = new Set(['node_modules', 'dist', 'build', 'out', 'coverage']);
const SOURCES = new Set(['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx']);
/** Files that may hold imports or name modules, and that are not rewritten. */
const OTHERS = new Set(['.vue', '.svelte', '.astro', '.html', '.mdx', '.json', '.jsonc', '.json5']);
const LOCKFILES = new Set(['package-lock.json', 'npm-shrinkwrap.json', 'deno.lock']);

export type FileKind = 'source' | 'manifest' | 'other';

export interface FoundFile {
  readonly path: string;
  readonly kind: FileKind;
}

/**
 * Finds source files, `package.json` files and files that may name modules. Skips folders of dependencies and builds, folders whose name
 * begins with a dot, and symbolic links.
 */
export async function findFiles(folder: string): Promise<readonly FoundFile[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found: FoundFile[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      // A folder that cannot be read is listed as a file that cannot be read.
      const inside = (): Promise<readonly FoundFile[]> => findFiles(path).catch(() => [{ path, kind: 'other' as const }]);
      if (!SKIPPED.has(entry.name) && !entry.name.startsWith('.')) found.push(...(await inside()));
    } else if (entry.isFile()) {
      const kind = kindOf(entry.name);
      if (kind !== undefined) found.push({ path, kind });
    }
  }
  return found;
}

function kindOf(name: string): FileKind | undefined {
  if (name === 'package.json') return 'manifest';
  if (LOCKFILES.has(name)) return undefined;
  const extension = extname(name);
  if (SOURCES.has(extension)) return 'source';
  return OTHERS.has(extension) ? 'other' : undefined;
}
