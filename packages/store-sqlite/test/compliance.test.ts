/** Every kit against the real engine, by both drivers, each on the Nodes that have it. A driver that this Node lacks runs on one that npm brings. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { describe, expect, it } from 'vitest';
import { loads, toolNode } from './find-node.ts';
import { runKits } from './kits.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));
const program = fileURLToPath(new URL('programs/kits.node-test.ts', import.meta.url));

async function runOn(line: string, driver: string, flags: readonly string[] = []): Promise<string> {
  const args = [...flags, '--conditions', 'mortise-source', '--import', 'tsx', '--test-reporter=tap', program];
  const env = { ...process.env, KIT_DRIVER: driver, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' };
  const options = { cwd: folder, env, maxBuffer: 16_777_216 };
  // A test that fails is told in the report; the exit code alone would hide which.
  const { stdout } = await promisify(execFile)(await toolNode(line), args, options).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? String(error),
  }));
  return stdout;
}

const hasNative = await loads('better-sqlite3');
const hasBuiltIn = await loads('node:sqlite');

describe.skipIf(!hasNative)('better-sqlite3', () => runKits(describeKit, 'better-sqlite3'));
describe.skipIf(!hasBuiltIn)('node:sqlite', () => runKits(describeKit, 'node:sqlite'));

describe('node:sqlite of newer Nodes', () => {
  it.each([
    ['22', ['--experimental-sqlite']],
    ['24', []],
  ] as const)('keeps every promise on Node %s', { timeout: 180_000 }, async (line, flags) => {
    const report = await runOn(line, 'node:sqlite', flags);
    const [, passed] = /^# pass (\d+)$/m.exec(report) ?? [];
    expect(report.split('\n').filter((text) => /^\s*not ok/.test(text))).toEqual([]);
    expect(Number(passed)).toBeGreaterThan(45);
    expect(report).toMatch(/^# skipped 0$/m);
  });
});
