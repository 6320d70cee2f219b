/** `npm start`: installs, builds, and runs the main demo, the client of apps/quickstart against its server. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { root } from './run-command.mjs';
import { setUp } from './set-up.mjs';

await setUp();

const folder = join(root, 'apps/quickstart');
const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
console.log(`\ndemo      apps/quickstart: ${scripts.start}\n`);
// `node --run` is not in Node 20, so the line is run as npm would, with the words after `--` handed on.
const child = spawn(scripts.start, process.argv.slice(2), { cwd: folder, stdio: 'inherit', shell: true });
child.on('close', (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 1;
});
