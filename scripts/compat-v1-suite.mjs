/**
 * Runs the official SDK's own tests of version 1 against `@mortise/compat-v1`: every import of the SDK's sources leads to ours where we have
 * the path. MORTISE_SDK_V1 names a checkout of its branch `v1.x`, which is not committed here.
 *
 *     MORTISE_SDK_V1=/path/to/typescript-sdk node scripts/compat-v1-suite.mjs [files] [--failures]
 *
 * Prints the share that passes, file by file, and with `--failures` each test that does not, with its first line of error.
 */

import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVitest } from 'vitest/node';
import { root } from './run-command.mjs';

/** The files that test public behaviour, and of those about HTTP and authorization the ones that need no package of the checkout. */
const FILES = [
  'server/mcp',
  'server/streamableHttp',
  'server/auth/middleware/bearerAuth',
  'server/auth/providers/proxyProvider',
  'server/index',
  'server/elicitation',
  'server/title',
  'server/completable',
  'client/index',
  'client/auth',
  'client/auth-extensions',
  'inMemory',
  'types',
  'types.capabilities',
  'shared/protocol',
  'shared/protocol-transport-handling',
  'shared/toolNameValidation',
  'shared/uriTemplate',
  'shared/stdio',
  'experimental/tasks/task',
  'experimental/tasks/task-listing',
  'experimental/tasks/server-streaming',
  'experimental/tasks/stores/in-memory',
  'issues/test_1277_zod_v4_description',
];

const compat = join(root, 'packages/compat-v1');

/** Leads imports of the SDK's sources to ours, and packages to those that are installed here. */
function toCompat(checkout) {
  return {
    name: 'to-compat',
    enforce: 'pre',
    async resolveId(id, importer) {
      if (!importer?.startsWith(checkout)) return undefined;
      if (id.startsWith('.')) {
        const path = relative(checkout, join(importer, '..', id));
        const ours = join(compat, path.replace(/\.js$/, '.ts'));
        return path.startsWith('src/') && existsSync(ours) ? ours : undefined;
      }
      if (id.startsWith('node:') || id.startsWith('vitest')) return undefined;
      for (const folder of [compat, join(root, 'interop')]) {
        const found = await this.resolve(id, join(folder, 'package.json'), { skipSelf: true });
        if (found) return found;
      }
      return `\0missing:${id}`;
    },
    // A package that single tests use: they alone fail.
    load: (id) => (id.startsWith('\0missing:') ? 'export default undefined;' : undefined),
  };
}

/** @returns {Promise<readonly { file: string, passed: number, failed: readonly { name: string, error: string }[] }[]>} */
export async function runSuite(checkout, files = FILES) {
  const vitest = await startVitest(
    'test',
    [],
    {
      root: checkout,
      config: false,
      watch: false,
      globals: true,
      environment: 'node',
      include: files.map((file) => `test/${file}.test.ts`),
      setupFiles: existsSync(join(checkout, 'vitest.setup.ts')) ? [join(checkout, 'vitest.setup.ts')] : [],
      reporters: [{}],
      testTimeout: 15_000,
      server: { deps: { inline: [/zod/] } },
    },
    {
      plugins: [toCompat(checkout)],
      resolve: { conditions: ['mortise-source'] },
      ssr: { resolve: { conditions: ['mortise-source', 'node'] } },
      server: { fs: { strict: false } },
    },
  );
  const modules = vitest.state.getTestModules();
  const results = modules.map((module) => {
    const tests = [...module.children.allTests()];
    const failed = tests
      .filter((test) => test.result().state === 'failed')
      .map((test) => ({
        name: test.fullName.replace(/^'Zod v\d' > /u, ''),
        error: String(test.result().errors?.[0]?.message ?? '').split('\n', 1)[0],
      }));
    const errors = module.errors().map((error) => ({ name: '(the file)', error: String(error.message).split('\n', 1)[0] }));
    return {
      file: relative(join(checkout, 'test'), module.moduleId),
      passed: tests.filter((test) => test.result().state === 'passed').length,
      failed: [...failed, ...errors],
    };
  });
  await vitest.close();
  return results;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const checkout = process.env.MORTISE_SDK_V1;
  if (!checkout) {
    console.log('MORTISE_SDK_V1 names no checkout of the official SDK (branch v1.x): nothing was run');
    process.exit(0);
  }
  const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const results = await runSuite(checkout, words.length > 0 ? words : undefined);
  let [passed, failed] = [0, 0];
  for (const each of results.toSorted((a, b) => a.file.localeCompare(b.file))) {
    const total = each.passed + each.failed.length;
    passed += each.passed;
    failed += each.failed.length;
    console.log(`${each.file}: ${each.passed} of ${total} (${((100 * each.passed) / Math.max(1, total)).toFixed(1)} %)`);
    if (process.argv.includes('--failures')) for (const { name, error } of each.failed) console.log(`  - ${name}\n      ${error}`);
  }
  console.log(`all: ${passed} of ${passed + failed} (${((100 * passed) / Math.max(1, passed + failed)).toFixed(1)} %)`);
  process.exit(0);
}
