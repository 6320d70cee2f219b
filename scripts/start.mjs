/** Sets up, then runs a program with the words after `--`: `node scripts/start.mjs [--from-source] FILE [WORD ...]`. */

import { runNode } from './run-command.mjs';
import { setUp } from './set-up.mjs';

const words = process.argv.slice(2);
const fromSource = words[0] === '--from-source' && words.shift() !== undefined;
await setUp({ build: !fromSource });
const flags = fromSource ? ['--conditions=mortise-source', '--import', 'tsx'] : [];
process.exitCode = (await runNode([...flags, ...words], { show: true })).code;
