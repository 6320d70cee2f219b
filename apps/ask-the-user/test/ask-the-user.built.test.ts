/** The demo: its client checks every answer itself and exits with 0 only when all were right. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { REVISIONS } from '@mortise/protocol';
import { expect, it } from 'vitest';

it('plans the same trip in every revision, over stdio, over HTTP, and on two machines by turns', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(new URL('../dist/client.js', import.meta.url))]);
  const ways = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/ {2,}.*/, ''));
  expect(ways.filter((way) => way.startsWith('stdio'))).toHaveLength(REVISIONS.length);
  expect(ways.filter((way) => way.startsWith('HTTP'))).toHaveLength(REVISIONS.length);
  expect(ways.filter((way) => way.startsWith('two machines'))).toHaveLength(1);
  expect(ways.at(-1)).toBe('Every answer was right');
});
