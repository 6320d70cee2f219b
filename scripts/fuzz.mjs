/** `npm run fuzz`: sets up, then runs the fuzzer from its sources. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './run-command.mjs';
import { setUp } from './set-up.mjs';

await setUp({ build: false });
const args = ['--conditions=mortise-source', '--import', 'tsx', join(root, 'scripts/fuzz/main.ts'), ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
child.on('close', (code) => {
  process.exitCode = code ?? 1;
});
