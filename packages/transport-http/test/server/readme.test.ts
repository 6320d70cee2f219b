import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

it('the server of the README listens where the README says', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const program = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? '';
  expect(readme).toContain('http://127.0.0.1:3000/mcp');
  const file = join(root, 'node_modules', '.readme-server.mjs');
  const contents = `${program.replace('port: 3000', 'port: 0')}\nprocess.exit(0);\n`;
  const banner = { js: "import { createRequire as toRequire } from 'node:module'; const require = toRequire(import.meta.url);" };
  const built = await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['mortise-source'],
    write: false,
    banner,
  });
  await writeFile(file, built.outputFiles[0]?.text ?? '');
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  await rm(file);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp\n$/);
});
