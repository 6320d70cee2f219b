/** Sets up, then runs a program with the words after `--`: `node scripts/start.mjs [--from-source] FILE [WORD ...]`. */

import { spawn } from 'node:child_process';
import { root } from './run-command.mjs';
import { setUp } from './set-up.mjs';

const words = process.argv.slice(2);
const fromSource = words[0] === '--from-source' && words.shift() !== undefined;
await setUp({ build: !fromSource });
const flags = fromSource ? ['--conditions=mortise-source', '--import', 'tsx'] : [];
spawn(process.execPath, [...flags, ...words], { cwd: root, stdio: 'inherit' }).on('close', (code) => {
  process.exitCode = code ?? 1;
});
