import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['mortise-source'] },
  ssr: { resolve: { conditions: ['mortise-source', 'node', 'module'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts', 'interop/test/**/*.test.ts', 'scripts/test/**/*.test.ts'],
    testTimeout: 20_000,
  },
});
