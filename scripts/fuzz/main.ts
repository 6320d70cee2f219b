/**
 * `npm run fuzz -- --messages 1000000 --seed 1 --only stdio`: fuzzes every transport, or one, and prints the figures. The seed alone says
 * what is sent over each connection.
 */

import { parseArgs } from 'node:util';
import { transports } from './channels.ts';
import { recordMessages } from './record-messages.ts';
import { runFuzz } from './run-fuzz.ts';

const { values } = parseArgs({ options: { messages: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } } });
const messages = Number(values.messages ?? 50_000);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
const chosen = Object.entries(transports).filter(([name]) => values.only === undefined || name === values.only);
// A run of nothing would find nothing, and look as if all were well.
if (!(messages > 0) || Number.isNaN(seed) || chosen.length === 0)
  throw new Error(`--messages and --seed are numbers, --only is one of ${Object.keys(transports).join(', ')}`);

let bad = 0;
const onUncaught = (error: unknown): void => {
  bad += 1;
  console.error('reached an uncaught path:', error);
};
process.on('uncaughtException', onUncaught).on('unhandledRejection', onUncaught);

console.log(`seed ${seed}; repeat with: npm run fuzz -- --seed ${seed} --messages ${messages}`);
const recordings = await recordMessages();
const rows: Record<string, object> = {};
for (const [name, createOpener] of chosen) {
  const started = performance.now();
  const { problems, ...figures } = await runFuzz({ seed, messages, messagesPerConnection: 5_000, recordings, open: createOpener() });
  rows[name] = { ...figures, seconds: Math.round((performance.now() - started) / 1000) };
  for (const problem of problems) console.log(`${name}: ${problem}`);
  bad += figures.unanswered + figures.strays + figures.ignored + figures.crashes;
}
console.table(rows);
process.exit(bad === 0 ? 0 : 1);
