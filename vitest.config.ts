import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const tests = '**/test/**/*.test.ts';
/** Tests that run what is built: apps as programs, packages from a registry. All others run from the sources. */
const testsOfBuilt = '**/test/**/*.built.test.ts';
/** Tests that need a process of their own: they put another module in the place of one of ours (`vi.mock`), or count what the process holds. */
const testsAlone = [
  'packages/client/test/completer.test.ts',
  'packages/client/test/node/folder-roots.test.ts',
  'packages/server/test/files-swapped.test.ts',
  'packages/transport-http/test/broken-streams.test.ts',
  'packages/transport-http/test/server/limits.test.ts',
  'packages/transport-http/test/server/trickle.test.ts',
  'packages/transport-stdio/test/client-process.test.ts',
  'packages/transport-stdio/test/line-reader.test.ts',
  'scripts/test/sixth-revision.test.ts',
];
const exclude = [...configDefaults.exclude, '**/dist/**'];

export default defineConfig({
  test: {
    setupFiles: ['scripts/test/fixed-seed.ts'],
    // A process runs one file after the other and loads each module once: loading them anew for each file took a third of the CPU time.
    isolate: false,
    // By itself vitest leaves one core free, and runs one file at a time on a machine with two.
    maxWorkers: availableParallelism(),
    projects: [
      { extends: true, test: { name: 'sources', include: [tests], exclude: [...exclude, testsOfBuilt, ...testsAlone] } },
      { extends: true, test: { name: 'alone', include: testsAlone, exclude, isolate: true } },
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
