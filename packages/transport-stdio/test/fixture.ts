/** Programs that the tests run as processes of their own. */

import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../../../scripts/test/bundle-program.ts';

/** Bundles `fixtures/<name>.ts` into a folder of its own, and gives the paths of the bundles. */
export async function buildFixtures<Name extends string>(...names: readonly Name[]): Promise<Readonly<Record<Name, string>>> {
  const folder = makeFolder();
  await bundleProgram({
    entryPoints: names.map((name) => fileURLToPath(new URL(`./fixtures/${name}.ts`, import.meta.url))),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
  });
  return Object.fromEntries(names.map((name) => [name, path.join(folder, `${name}.mjs`)])) as Record<Name, string>;
}

const folders: string[] = [];

/** Makes a folder that `removeFolders` removes. */
export function makeFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mortise-stdio-'));
  folders.push(folder);
  return folder;
}

export async function removeFolders(): Promise<void> {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
}
