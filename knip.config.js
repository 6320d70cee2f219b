/**
 * What knip calls used: the entry points that each package's `exports` name (their sources), tests, and what runs by itself.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The source files behind a package's `exports`. */
function entriesOf(folder) {
  const { exports = {} } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const sources = Object.values(exports).map((target) => target['mortise-source']);
  return sources.filter((source) => source !== undefined && existsSync(`${folder}/${source}`)).map((source) => source.replace('./', ''));
}

const packages = readdirSync('packages').filter((name) => existsSync(`packages/${name}/package.json`));
const testFiles = ['test/**/*.{test,test-d}.ts', 'test/**/{fixtures,peers,servers}/**/*.{ts,mjs,js}'];

/** @type {import('knip').KnipConfig} */
export default {
  workspaces: {
    '.': {
      entry: ['scripts/*.{mjs,ts}', 'scripts/lint/*.mjs', 'scripts/test/*.test.ts', 'scripts/{browser,fuzz,robustness}/*.{ts,mjs}'],
      project: ['scripts/**'],
      // turbo runs through pnpm; fast-check, tsx, zod and the types of Node are used by every package's tests from here.
      ignoreDependencies: ['turbo', 'fast-check', 'zod', '@types/node', '@changesets/cli'],
    },
    ...Object.fromEntries(
      packages.map((name) => [
        `packages/${name}`,
        { entry: [...entriesOf(`packages/${name}`), ...testFiles], project: ['src/**', 'test/**'] },
      ]),
    ),
    'apps/*': { entry: ['src/{server,client}.ts', ...testFiles], project: ['src/**', 'test/**'] },
    benchmarks: { entry: ['*.mjs', '{floor,ours,official-v1,official-v2,types,measure}/*.mjs'] },
    interop: { entry: ['test/**/*.test.ts', 'fixtures/**/*.{mjs,ts}'] },
  },
  ignoreExportsUsedInFile: true,
  // Kept open on purpose: types that implementers of a contract import, from files that an entry point lists.
  includeEntryExports: false,
};
