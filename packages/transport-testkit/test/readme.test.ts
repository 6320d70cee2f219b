import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { transportCases } from '@mortise/transport-testkit';
import { expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = await readFile(path.join(root, 'README.md'), 'utf8');

it('the program of the README prints what the README says', async () => {
  const [, program = '', output = ''] = /```ts run\n(.*?)```\n\n```text output\n(.*?)```/s.exec(readme) ?? [];
  // Beside the package, so that its own name and the tools are found.
  const folder = await mkdtemp(path.join(root, 'test', '.readme-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'program.ts');
  await writeFile(file, program);
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions', 'mortise-source', '--import', 'tsx', file], {
    cwd: root,
  });
  expect(output).not.toBe('');
  expect(stdout).toBe(output);
});

it('the README names every promise and is at most 120 lines long', () => {
  for (const { id } of transportCases) expect(readme).toMatch(new RegExp(`\\| ${id.split('.')[0]} \\|`));
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});
