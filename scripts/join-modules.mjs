/**
 * The second half of a package's build, after tsc has written its declarations: joins the package's own modules into one file
 * an entry (what entries share goes into a chunk). Everything from other packages stays an import, so that all packages share one
 * copy of each. See docs/decisions/joined-modules.md for what this saves at start-up.
 */

import { readdir, readFile, rm } from 'node:fs/promises';
import { build } from 'esbuild';

const { exports } = JSON.parse(await readFile('package.json', 'utf8'));
const entryPoints = Object.values(exports)
  .map((entry) => entry['mortise-source'])
  .filter((source) => source !== undefined);

// What an earlier build left would be published: files whose module is joined now, chunks of another name.
for (const file of await readdir('dist', { recursive: true })) {
  if (/\.js(?:\.map)?$/.test(file)) await rm(`dist/${file}`);
}

await build({
  entryPoints,
  outdir: 'dist',
  outbase: 'src',
  bundle: true,
  splitting: true,
  packages: 'external',
  external: ['node:*'],
  format: 'esm',
  platform: 'neutral',
  target: 'es2023',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});
