import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['mortise-source'] },
  // As Node resolves: `module` is a bundlers' condition, behind which some packages keep what Node cannot load.
  ssr: { resolve: { conditions: ['mortise-source', 'node'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts', 'interop/test/**/*.test.ts', 'scripts/test/**/*.test.ts'],
    testTimeout: 20_000,
  },
});
