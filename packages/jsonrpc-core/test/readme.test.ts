import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

it('the program of the README prints what the README says', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, program] = /```ts run\n(.*?)```/s.exec(readme) ?? [];
  const [, output] = /```text output\n(.*?)```/s.exec(readme) ?? [];
  if (program === undefined || output === undefined) throw new Error('The README has no program with its output');
  // Beside the package, so that its own name and the tools are found.
  const folder = mkdtempSync(join(root, 'test', '.readme-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'program.ts');
  writeFileSync(file, program);
  const args = ['--conditions', 'mortise-source', '--import', 'tsx', file];
  expect(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', timeout: 60_000 })).toBe(output);
});

it('the README is at most 120 lines long', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(121);
});
