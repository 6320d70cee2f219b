import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { bundleProgram } from '../../../../scripts/test/bundle-program.ts';

const root = join(import.meta.dirname, '..', '..');

it('the server of the README listens where the README says', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const program = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? '';
  expect(readme).toContain('http://127.0.0.1:3000/mcp');
  const file = join(root, 'node_modules', '.readme-server.mjs');
  const contents = `${program.replace('port: 3000', 'port: 0')}\nprocess.exit(0);\n`;
  onTestFinished(() => rm(file, { force: true }));
  await bundleProgram({ stdin: { contents, resolveDir: root, loader: 'ts' }, outfile: file });
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp\n$/);
});
