import { beforeAll, describe, expect, it } from 'vitest';
import { readTarball } from '../check-packages.mjs';
import { findBrokenLinks } from '../find-broken-links.mjs';
import { packPackages } from '../pack-packages.mjs';

type Tarball = Parameters<typeof findBrokenLinks>[0][number];

/** Every package as it would be published. */
let tarballs: Tarball[];
beforeAll(async () => {
  tarballs = (await packPackages()).map(readTarball);
}, 120_000);

function packed(name: string): Tarball {
  const found = tarballs.find((tarball) => tarball.name === name);
  if (found === undefined) throw new Error(`${name} was not packed`);
  return found;
}

/** The package with some files changed, or taken out where there is no text. */
function changed(name: string, files: Readonly<Record<string, string | undefined>>): Tarball {
  const tarball = packed(name);
  const all = new Map(tarball.files);
  for (const [file, text] of Object.entries(files)) {
    if (text === undefined) all.delete(file);
    else all.set(file, () => text);
  }
  return { ...tarball, files: all };
}

describe('links of the packed packages', () => {
  it('lead somewhere, each of them', () => {
    expect(tarballs.length).toBeGreaterThan(8);
    expect(findBrokenLinks(tarballs)).toEqual([]);
  });

  it('are broken when a chunk is not packed', () => {
    const { files } = packed('@mortise/server');
    const chunk = [...files.keys()].find((file) => file.startsWith('dist/chunk-')) ?? '';
    expect(chunk).not.toBe('');
    const found = findBrokenLinks([changed('@mortise/server', { [chunk]: undefined })]);
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((line) => line.includes(chunk.replace('dist/', './')))).toBe(true);
  });

  it('are broken when an export has no file or no types', () => {
    const files = { 'dist/express.d.ts': undefined, 'dist/hono.js': undefined };
    expect(findBrokenLinks([changed('@mortise/transport-http', files)])).toEqual([
      '@mortise/transport-http: exports["./express"]["types"] names ./dist/express.d.ts, which the tarball has not',
      '@mortise/transport-http: exports["./hono"]["default"] names ./dist/hono.js, which the tarball has not',
    ]);
  });

  const cases: readonly [string, string, string][] = [
    ['a file that is not there', 'dist/new.js', 'import{a}from"./gone.js";'],
    ['a file that is loaded when it is needed', 'dist/new.js', "const load = () => import('./gone.js');"],
    ['a file for its effect', 'dist/new.js', "import './gone.js';"],
    ['a declaration that is not there', 'dist/new.d.ts', "export type { Gone } from './gone.ts';"],
    ['a type written in place', 'dist/new.d.ts', "export declare const gone: import('./gone.ts').Gone;"],
    ['a package that is not among the dependencies', 'dist/new.js', "export { gone } from 'gone';"],
    ['an entry that a sibling does not have', 'dist/new.js', "import { gone } from '@mortise/protocol/gone';"],
  ];
  it.each(cases)('are broken by an import of %s', (_what, file, text) => {
    const found = findBrokenLinks([changed('@mortise/server', { [file]: text }), packed('@mortise/protocol')]);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^@mortise/server: ${file} imports ".*gone`));
  });

  it('are whole where a comment shows an import, and where Node or a dependency is imported', () => {
    const text = "/**\n * import { a } from './example.js';\n */\nimport 'node:fs';\nimport { Revision } from '@mortise/protocol';\n";
    expect(findBrokenLinks([changed('@mortise/server', { 'dist/new.js': text }), packed('@mortise/protocol')])).toEqual([]);
  });
});
