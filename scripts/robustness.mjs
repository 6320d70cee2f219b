/** `npm run robustness`: sets up, then takes the figures that stdio can show and prints each beside its goal. */

import { setUp } from './set-up.mjs';

await setUp();
const { figures } = await import('./robustness/figures.mjs');

const words = process.argv.slice(2);
const chosen = words.length === 0 ? figures : figures.filter(({ what }) => words.some((word) => what.includes(word)));
console.log(`\nNode ${process.versions.node}`);
let missed = 0;
for (const { rule, what, goal, measure } of chosen) {
  const { figure, ok } = await measure().catch((error) => ({ figure: `failed: ${error.message}`, ok: false }));
  if (!ok) missed += 1;
  console.log(`${ok ? 'ok    ' : 'MISSED'} rule ${rule.padEnd(2)} ${what}: ${figure} (goal: ${goal})`);
}
process.exitCode = missed === 0 ? 0 : 1;
