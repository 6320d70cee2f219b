/** The client checks every answer itself and exits with 0 only when all were right. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { REVISIONS } from '@mortise/protocol';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('calculates with sessions, without and over HTTP+SSE, in every revision', async () => {
  const { stdout } = await run(process.execPath, [fileURLToPath(new URL('../dist/client.js', import.meta.url))]);
  for (const { version } of REVISIONS) expect(stdout).toContain(`${version} (`);
  expect(stdout).toContain('https://evil.example gets 403');
  expect(stdout.trimEnd()).toMatch(/Everything answered as it should\.$/);
});
