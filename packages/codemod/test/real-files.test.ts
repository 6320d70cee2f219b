/** The codemod on files that others wrote: the paths that compat has, and the code of the seed documents. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { migrate } from '../src/index.ts';
import { V1_PATHS } from '../src/v1.ts';

const packages = join(import.meta.dirname, '../..');
const seeds = join(packages, '../../shared/seeds');
const hasSeeds = existsSync(seeds);
if (!hasSeeds) process.stderr.write('codemod on the seeds: skipped, the shared folder is not beside the repository\n');

it('knows each entry of compat, and no other path', () => {
  const { exports } = JSON.parse(readFileSync(join(packages, 'compat-v1/package.json'), 'utf8')) as { exports: Record<string, object> };
  const entries = Object.keys(exports).filter((path) => !path.includes('*') && path !== './package.json');
  expect(entries.map((path) => path.slice(2)).toSorted()).toEqual([...V1_PATHS].toSorted());
});

/** Every code block that imports the official SDK. */
function codeOfSeeds(): readonly string[] {
  const documents = readdirSync(seeds).map((name) => readFileSync(join(seeds, name), 'utf8'));
  const blocks = documents.flatMap((document) => [...document.matchAll(/```(?:typescript|ts|javascript|js)\n([^]*?)\n```/g)]);
  return blocks
    .map(([, code = '']) => code)
    .filter((code) => code.includes("from '@modelcontextprotocol/sdk") || code.includes('from "@modelcontextprotocol/sdk'));
}

it.skipIf(!hasSeeds)('rewrites the imports of every code block of the seeds, and nothing else', async () => {
  const blocks = codeOfSeeds();
  expect(blocks.length).toBeGreaterThan(0);
  const folder = await mkdtemp(join(tmpdir(), 'codemod-seeds-'));
  await Promise.all(blocks.map((code, index) => writeFile(join(folder, `${index}.ts`), code)));
  const { left, changed } = await migrate(folder, { from: 'v1' });
  const parsed = left.filter(({ what }) => !what.includes('could not be parsed'));
  expect(parsed).toEqual([]);
  for (const file of changed) {
    const before = blocks[Number.parseInt(file, 10)] ?? '';
    const after = await readFile(join(folder, file), 'utf8');
    expect(after).toBe(before.replaceAll('@modelcontextprotocol/sdk/', '@mortise/compat-v1/'));
  }
  process.stdout.write(`codemod on the seeds: ${changed.length} of ${blocks.length} code blocks rewritten\n`);
  await rm(folder, { recursive: true });
});
