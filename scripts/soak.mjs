/**
 * `npm run soak`: an hour of everything at once over HTTP, against one server: calls in both eras, streams that break, clients that
 * leave, sessions that are opened and forgotten, listeners that come and go. Prints memory and descriptors as they go.
 *
 *   npm run soak -- --minutes 2
 *
 * Fails where an answer is wrong, or where memory or descriptors are more in the last part than in the first.
 */

import { parseArgs } from 'node:util';
import { setUp } from './set-up.mjs';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, got ${values.minutes}`);

await setUp();
const { soak } = await import('./robustness/soak.mjs');
const { ok, lines } = await soak(minutes * 60_000);
for (const line of lines) console.log(line);
process.exit(ok ? 0 : 1);
