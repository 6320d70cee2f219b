import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['mortise-source'] },
  // As Node resolves: `module` is a bundlers' condition, behind which some packages keep what Node cannot load.
  ssr: { resolve: { conditions: ['mortise-source', 'node'] } },
  test: {
    setupFiles: ['scripts/test/fixed-seed.ts'],
    include: ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts', 'interop/test/**/*.test.ts', 'scripts/test/**/*.test.ts'],
    // Only what stops a test that hangs: on a busy machine a test of real processes may take many times as long as it does alone.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
