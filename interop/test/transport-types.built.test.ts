/** The declarations that we publish, and `transport-types.test-d.ts` against them, under the compilers and settings that users have. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, runNode } from '../../scripts/run-command.mjs';

const compilers = {
  '5.6': 'tools/typescript/node_modules/typescript-5.6/bin/tsc',
  '6.0': 'tools/typescript/node_modules/typescript-6.0/bin/tsc',
  '7': 'node_modules/typescript/bin/tsc',
};
const settings = '--noEmit --strict --target es2023 --lib es2023 --module nodenext --moduleResolution nodenext --types node'.split(' ');

async function compile(compiler: string, ...args: readonly string[]): Promise<string> {
  const { code, output } = await runNode([compiler, ...settings, ...args]);
  return code === 0 ? 'compiles' : output;
}

describe.each(Object.entries(compilers))('under TypeScript %s', (version, compiler) => {
  it.each(['true', 'false'])('transports of ours and of the official SDKs fit both ways, exactOptionalPropertyTypes %s', async (exact) => {
    const file = 'interop/test/transport-types.test-d.ts';
    // Without `skipLibCheck` the declarations of the SDK v1 fail by themselves: they name `HeadersInit`, which not every @types/node has.
    expect(await compile(compiler, file, '--skipLibCheck', '--exactOptionalPropertyTypes', exact)).toBe('compiles');
  });

  // The declarations of these libraries fail by themselves.
  const FOREIGN = new Set(['ai-sdk.d.ts', 'langchain.d.ts']);
  // What the oldest and the newest read, those in between read too.
  it.skipIf(version === '6.0')('our declarations compile', async () => {
    const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/dist`);
    const entries = folders.flatMap((dist) =>
      readdirSync(join(root, dist)).flatMap((file) => (file.endsWith('.d.ts') && !FOREIGN.has(file) ? `${dist}/${file}` : [])),
    );
    expect(await compile(compiler, ...entries, '--exactOptionalPropertyTypes')).toBe('compiles');
  });
});
