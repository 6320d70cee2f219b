/**
 * `npm run gate -- lint types`: runs the named gates, or all of them, after installing and, where one of them needs it, building.
 */

import { setUp } from './set-up.mjs';

await setUp({ build: false });
const { gates, runGates } = await import('./gates.mjs');

const names = process.argv.slice(2);
const unknown = names.filter((name) => !gates.some((gate) => gate.name === name));
if (unknown.length > 0) {
  console.error(`No gate is called ${unknown.join(', ')}. There are:`);
  for (const gate of gates) console.error(`  ${gate.name.padEnd(9)} ${gate.what}`);
  process.exit(2);
}

const chosen = names.length === 0 ? gates : gates.filter((gate) => names.includes(gate.name));
if (chosen.some((gate) => gate.needsBuild)) await setUp();

console.log();
const failed = await runGates(chosen);
process.exitCode = failed.length === 0 ? 0 : 1;
