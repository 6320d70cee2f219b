/** The demo that `npm start` runs: its client checks every answer itself and exits with 0 only when all were right. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { REVISIONS } from '@mortise/protocol';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('shows everything once in the detected era and once pinned to each older revision', async () => {
  const { stdout } = await run(process.execPath, [fileURLToPath(new URL('../dist/client.js', import.meta.url))]);
  for (const { version } of REVISIONS) expect(stdout).toContain(`speaks ${version}`);
  expect(stdout.match(/cancelled: the user lost patience/g)).toHaveLength(REVISIONS.length);
  // What a search finds does not depend on the revision that asks.
  const searches = stdout.match(/tools\/call search_docs .*/g) ?? [];
  expect(searches).toHaveLength(REVISIONS.length);
  expect(new Set(searches).size).toBe(1);
  expect(stdout.trimEnd()).toMatch(/Everything answered as it should\.$/);
});
