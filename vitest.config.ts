import { configDefaults, defineConfig } from 'vitest/config';

const tests = '**/test/**/*.test.ts';
/** Tests that run what is built: apps as programs, packages from a registry. All others run from the sources. */
const testsOfBuilt = '**/test/**/*.built.test.ts';
const exclude = [...configDefaults.exclude, '**/dist/**'];

export default defineConfig({
  test: {
    setupFiles: ['scripts/test/fixed-seed.ts'],
    projects: [
      { extends: true, test: { name: 'sources', include: [tests], exclude: [...exclude, testsOfBuilt] } },
      { extends: true, test: { name: 'built', include: [testsOfBuilt], exclude, globalSetup: './scripts/test/build-first.ts' } },
    ],
    // Only what stops a test that hangs: on a busy machine a test of real processes may take many times as long as it does alone.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
  resolve: { conditions: ['mortise-source'] },
  // As Node resolves: `module` is a bundlers' condition, behind which some packages keep what Node cannot load.
  ssr: { resolve: { conditions: ['mortise-source', 'node'] } },
});
