/** Waits for its turn, then becomes the program: `node take-turn.mjs PORT PROGRAM [ARGUMENT ...]`. The port is that of turns.mjs. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [port, program, ...args] = process.argv.slice(2);
const turn = connect(Number(port), '127.0.0.1');
await once(turn, 'data');
// Held open to the program's end, and no reason for it to go on.
turn.unref();
process.argv = [process.execPath, resolve(program), ...args];
await import(pathToFileURL(process.argv[1]).href);
