/** The official SDK's own tests of version 1, against `@mortise/compat-v1`, from a checkout that MORTISE_SDK_V1 names. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runNode } from '../run-command.mjs';

const checkout = process.env['MORTISE_SDK_V1'];
if (checkout === undefined) process.stderr.write("SDK v1's own tests: skipped, MORTISE_SDK_V1 names no checkout\n");
const explained = readFileSync(fileURLToPath(new URL('../../docs/decisions/compat-v1-tests.md', import.meta.url)), 'utf8');

it.skipIf(checkout === undefined)("passes v1's own tests, but for those that a page explains", { timeout: 600_000 }, async () => {
  const { output } = await runNode(['scripts/compat-v1-suite.mjs', '--failures']);
  const lines: readonly string[] = output.split('\n');
  process.stdout.write(`${lines.filter((line) => /^\S+: \d+ of/u.test(line)).join('\n')}\n`);
  const failed = lines.filter((line) => line.startsWith('  - ')).map((line) => line.slice(4));
  expect(failed.filter((name) => !explained.includes(`- \`${name}\``))).toEqual([]);
  expect(lines.some((line) => /^all: \d{3,} of/u.test(line))).toBe(true);
});
