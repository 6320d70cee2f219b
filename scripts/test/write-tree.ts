/** Small trees of files for tests of tools. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Writes files below a new folder.
 *
 * @param after What removes the folder: `afterAll` of vitest beside the tests, `onTestFinished` in one.
 * @returns The folder.
 */
export function writeTree(files: Readonly<Record<string, string>>, after: (remove: () => void) => void): string {
  const tree = realpathSync(mkdtempSync(join(tmpdir(), 'mortise-tree-')));
  after(() => rmSync(tree, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, name)), { recursive: true });
    writeFileSync(join(tree, name), text);
  }
  return tree;
}
