/** Every choice of the flag, in both eras: the client checks all answers itself. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const client = fileURLToPath(new URL('../dist/client.js', import.meta.url));

const choices = ['stdio', 'http', 'websocket', 'memory', 'newlines'].flatMap((transport) => [
  { transport, era: 'modern' },
  { transport, era: 'legacy' },
]);

it.each(choices)('answers as it should over $transport, $era', async ({ transport, era }) => {
  const { stdout } = await promisify(execFile)(process.execPath, [client, `--transport=${transport}`, `--era=${era}`]);
  expect(stdout).toBe(`${transport}, ${era}: every answer was right\n`);
});
