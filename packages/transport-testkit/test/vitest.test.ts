import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { runCases, toKitSetup, transportCases } from '@mortise/transport-testkit';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('lets a case say what is missing where the runner would have given it up before', async () => {
  const config = `{ resolve: { conditions: ['mortise-source'] }, ssr: { resolve: { conditions: ['mortise-source', 'node'] } }, test: { include: ['**/*.kit.ts'] } }`;
  const program = `import { startVitest } from 'vitest/node';
    const vitest = await startVitest('test', ['stuck.kit.ts'], { config: false, watch: false, reporters: ['json'], testTimeout: 50 }, ${config});
    await vitest?.close();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toContain('KitFailure: start should resolve');
  expect(stdout).not.toContain('timed out');
});

it('says what createPair should give', async () => {
  const setup = toKitSetup({
    async createPair() {
      const [client, server] = createInMemoryPair();
      return { client, server } as never;
    },
  });
  const [result] = await runCases(transportCases.slice(0, 1), setup);
  expect(result).toMatchObject({ outcome: 'failed', error: { name: 'KitFailure' } });
  expect(String(result?.error)).toContain('createPair should resolve with { client, server, close }');
});
