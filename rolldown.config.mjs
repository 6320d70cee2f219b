/**
 * How every package is bundled (run in the package's folder, after tsc has written its declarations): one readable ESM file for each file that its
 * `exports` name, with a source map that leads to `src`. Other packages stay imports, so that all share one copy of each class. What
 * entries share lies in few files, for each file costs a start about half a millisecond. See docs/decisions/build.md.
 */

import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const { exports, devDependencies = {}, peerDependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Each built file with its sources: entries that programs load together anyway name the same file as their `default`. */
const sources = new Map();
for (const { 'mortise-source': source, default: file } of Object.values(exports))
  if (source !== undefined && !source.includes('*')) sources.set(file, [...new Set([...(sources.get(file) ?? []), source])]);

/** What is needed to build alone, and is no peer too, is not there when the package runs: it is bundled. */
const isExternal = (id) => {
  const name = /^(?:@[^/]+\/)?[^./][^/]*/.exec(id)?.[0];
  return name !== undefined && (!(name in devDependencies) || name in peerDependencies);
};

const entries = {
  name: 'entries',
  resolveId: (id) => (sources.has(id) ? id : undefined),
  load: (id) =>
    sources
      .get(id)
      ?.map((source) => `export * from '${source.replace('./', `${process.cwd()}/`)}';`)
      .join('\n'),
};

/** The modules that loading the package by its name loads. */
let startModules;
function isLoadedAtStart(id, graph) {
  if (startModules === undefined) {
    startModules = new Set();
    const visit = (each) => {
      if (startModules.has(each)) return;
      startModules.add(each);
      graph.getModuleInfo(each)?.importedIds.forEach(visit);
    };
    visit((exports['.'] ?? Object.values(exports)[0]).default);
  }
  return startModules.has(id);
}

export default defineConfig({
  input: Object.fromEntries([...sources.keys()].map((file) => [file.replace(/^\.\/dist\/|\.js$/g, ''), file])),
  external: isExternal,
  platform: 'neutral',
  treeshake: { moduleSideEffects: false },
  plugins: [entries],
  output: {
    dir: 'dist',
    cleanDir: true,
    chunkFileNames: '[name].js',
    sourcemap: true,
    // The sources are published beside it.
    sourcemapExcludeSources: true,
    // Doc comments stand in the declarations and in `src`; a bundler needs the marks of what has no side effects.
    comments: { legal: true, annotation: true, jsdoc: false },
    minifyInternalExports: false,
    codeSplitting: {
      groups: [{ name: (id, graph) => (isLoadedAtStart(id, graph) ? 'shared' : null), debugName: 'shared', minShareCount: 2 }],
    },
  },
});
