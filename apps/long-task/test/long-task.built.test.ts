/** The client checks every answer itself and exits with 0 only when all were right. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('finishes a report whose server is killed with -9 twice, in both generations, and cancels another', async () => {
  const { stdout } = await run(process.execPath, [fileURLToPath(new URL('../dist/client.js', import.meta.url))]);
  expect(stdout.match(/kill -9 \d+/g)).toHaveLength(4);
  expect(stdout.match(/asked: /g)).toHaveLength(2);
  expect(stdout.trimEnd()).toMatch(/Everything went on where it had stopped\.$/);
});
