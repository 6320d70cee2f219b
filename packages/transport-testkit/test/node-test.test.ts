import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { transportCases } from '@mortise/transport-testkit';
import { expect, it } from 'vitest';

it("shows the cases as tests of Node's own runner, and those whose traits are lacking as skipped", async () => {
  const file = fileURLToPath(new URL('./fixtures/in-memory.node-test.ts', import.meta.url));
  const run = ['--import', 'tsx', '--conditions=mortise-source', '--test-reporter=tap', file];
  const { stdout } = await promisify(execFile)(process.execPath, run, { maxBuffer: 1e8 });
  const skipped = transportCases.filter((transportCase) => transportCase.needs);
  expect(/^# fail (\d+)$/m.exec(stdout)?.[1]).toBe('0');
  expect(/^# skipped (\d+)$/m.exec(stdout)?.[1]).toBe(String(skipped.length));
  expect(/^# pass (\d+)$/m.exec(stdout)?.[1]).toBe(String(transportCases.length - skipped.length));
  expect(stdout).toContain('T4.1 calls onclose once on both ends when the client closes');
  expect(stdout).toContain('# SKIP needs backpressure');
});
