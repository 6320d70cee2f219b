import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findNode } from './find-node.ts';

// npm may have to bring a Node first.
vi.setConfig({ testTimeout: 120_000 });

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = await readFile(path.join(root, 'README.md'), 'utf8');

it('the program of the README prints what the README says', async () => {
  const [, program = '', output = ''] = /```ts run\n(.*?)```\n\n```text output\n(.*?)```/s.exec(readme) ?? [];
  const folder = await mkdtemp(path.join(root, 'test', '.readme-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'program.ts');
  await writeFile(file, program);
  const { stdout } = await promisify(execFile)(await findNode(), ['--conditions', 'mortise-source', '--import', 'tsx', file], {
    cwd: root,
  });
  expect(output).not.toBe('');
  expect(stdout).toBe(output);
});

it('the README is at most 120 lines long', () => {
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});
