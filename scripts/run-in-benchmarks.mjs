/** `npm run bench`: sets up, then runs the script of that name of benchmarks/, with the words after `--`. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';
import { setUp } from './set-up.mjs';

const [name = 'bench', ...words] = process.argv.slice(2);
await setUp();

const folder = join(root, 'benchmarks');
const line = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).scripts?.[name];
if (line === undefined) {
  console.error(`benchmarks/package.json has no script called ${name}.`);
  process.exit(1);
}
console.log(`\n${name.padEnd(9)} benchmarks: ${line}\n`);
// The shell is what finds the script's program; a word with a space is one word.
const child = spawn(
  line,
  words.map((word) => JSON.stringify(word)),
  { cwd: folder, stdio: 'inherit', shell: true },
);
child.on('close', (code) => {
  process.exitCode = code ?? 1;
});
