/** What knip calls used: the entry points that each package's `exports` name (it finds their sources), tests, and what runs by itself. */

const testFiles = 'test/**/*.{test,test-d}.ts';
/** Programs that tests start, and servers that they talk to. */
const testPrograms = 'test/**/{fixtures,peers,platforms,programs,servers}/**/*.{ts,mjs,js}';

/** Modules that are loaded by a computed path, or whose exports are used under a parameter's name. */
const lazyModules = ['src/asks/asking.ts', '{src,test}/revisions/*/index.ts'];

/** @type {import('knip').KnipConfig} */
export default {
  workspaces: {
    '.': {
      entry: ['scripts/*.{mjs,ts}', 'scripts/lint/*.mjs', 'scripts/test/*.test.ts', 'scripts/{docs,edge,facts,fuzz,robustness}/*.{ts,mjs}'],
      project: ['scripts/**'],
      // Run by their path from scripts/, by pnpm, or used by the tests of packages, which find them here.
      ignoreDependencies: ['turbo', 'oxlint', 'tsx', 'workerd', 'fast-check', 'zod', 'zod-to-json-schema', '@changesets/config'],
    },
    'packages/*': {
      entry: [testFiles, testPrograms, ...lazyModules],
      project: ['src/**', 'test/**'],
      ignoreDependencies: ['tsx', 'esbuild', 'bun', 'deno', '@mortise/transport-testkit'],
    },
    'packages/inspector': {
      entry: [testFiles, testPrograms, 'src/page/main.tsx', 'page.config.mjs'],
      project: ['src/**', 'test/**'],
      ignoreDependencies: ['tsx'],
    },
    'packages/codemod': {
      entry: [testFiles, testPrograms],
      project: ['src/**', 'test/**'],
      // What the programs that its tests rewrite import.
      ignoreDependencies: [/^@mortise\//, 'zod'],
    },
    'packages/openapi': {
      entry: [testFiles],
      project: ['src/**', 'test/**'],
      // Documents of real APIs, which its tests read as files.
      ignoreDependencies: ['@blockfrost/openapi', '@digdir/dialogporten-schema', '@directus/specs', '@scalar/galaxy'],
    },
    'apps/*': {
      entry: ['src/{server,client,gateway,run-sql}.ts', testFiles, testPrograms],
      project: ['src/**', 'test/**'],
      // Started as programs.
      ignoreDependencies: [/^@modelcontextprotocol\/server-/],
    },
    benchmarks: {
      entry: ['*.mjs', '{floor,ours,official-v1,official-v2,one-tool,types,measure}/*.mjs'],
      ignoreDependencies: ['esbuild', '@mortise/compat-v1'],
    },
    interop: {
      entry: ['test/**/*.test.ts', 'fixtures/**/*.{mjs,ts}'],
      // Found by their path, started as programs, or imported by the seed's code alone.
      ignoreDependencies: [
        'tsx',
        'ajv',
        'cors',
        'hono',
        '@hono/node-server',
        'express-rate-limit',
        '@mortise/compat-v1',
        '@mortise/quickstart',
        '@mortise/http-calculator',
        '@modelcontextprotocol/server-everything',
      ],
    },
  },
  ignoreBinaries: ['mkfifo', 'redis-server', 'redis-cli'],
  ignoreExportsUsedInFile: true,
};
