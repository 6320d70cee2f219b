/**
 * `npm run robustness`: takes the figures that stdio, HTTP and WebSocket can show and prints each beside its goal. Words after `--`
 * choose those whose description has one of them (`HTTP`, `WebSockets`).
 */

import { figures as stdioFigures } from './robustness/figures.mjs';
import { httpFigures } from './robustness/http-figures.mjs';
import { webSocketFigures } from './robustness/web-socket-figures.mjs';

const figures = [...stdioFigures, ...httpFigures, ...webSocketFigures];

const words = process.argv.slice(2);
const chosen = words.length === 0 ? figures : figures.filter(({ what }) => words.some((word) => what.includes(word)));
if (chosen.length === 0) throw new Error(`No figure is described by ${words.join(' or ')}`);
console.log(`\nNode ${process.versions.node}`);
const figureTimeoutMs = 300_000;
let missed = 0;
for (const { rule, what, goal, measure } of chosen) {
  const { figure, ok } = await bounded(measure()).catch((error) => ({ figure: `failed: ${error.message}`, ok: false }));
  if (!ok) missed += 1;
  console.log(`${ok ? 'ok    ' : 'MISSED'} rule ${rule.padEnd(2)} ${what}: ${figure} (goal: ${goal})`);
}
// A server that hung is still a child of this process, and would keep it alive.
process.exit(missed === 0 ? 0 : 1);

async function bounded(promise) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing after ${figureTimeoutMs / 1000} s`)), figureTimeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
