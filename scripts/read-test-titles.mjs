/** Reads the titles that begin with a ledger row from the test files themselves: for where no run has been reported. */

import { readdirSync, readFileSync } from 'node:fs';
import { sep } from 'node:path';
import { root } from './run-command.mjs';

/** A string literal that begins with rows in brackets, as only titles do; written on one line. */
const titleOfRows = /(['"`])((?:\[[A-Z][A-Z0-9]*-\d+\])+(?:\\.|(?!\1)[^\\\n])*)\1/g;

/**
 * @returns {readonly { title: string, file: string }[]} In the order of the files' names. A title of `it.each` stands as it is
 *   written, once. Nothing here says that a test passes.
 */
export function readTestTitles() {
  return testFiles().flatMap((file) =>
    [...readFileSync(root + file, 'utf8').matchAll(titleOfRows)].map(([, , title]) => ({ title, file })),
  );
}

function testFiles() {
  const folders = [
    ...['packages', 'apps'].flatMap((parent) =>
      readdirSync(root + parent, { withFileTypes: true })
        .filter((each) => each.isDirectory())
        .map((each) => `${parent}/${each.name}`),
    ),
    'interop',
    'scripts',
  ];
  return folders.flatMap((folder) => filesBelow(`${folder}/test`).filter((file) => file.endsWith('.test.ts'))).sort();
}

function filesBelow(folder) {
  let entries;
  try {
    entries = readdirSync(root + folder, { recursive: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
  return entries.map((entry) => `${folder}/${entry.split(sep).join('/')}`);
}
