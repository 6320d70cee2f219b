/** `npm run fuzz -- --messages 1000000 --seed 1 --only stdio`: fuzzes every transport and prints the figures. */

import { parseArgs } from 'node:util';
import { createInMemoryOpener, createWebSocketOpener, type OpenChannel, openStdio } from './fuzz-channel.ts';
import { createHttpOpener } from './http-channel.ts';
import { recordMessages } from './record-messages.ts';
import { type FuzzFigures, runFuzz } from './run-fuzz.ts';

const { values } = parseArgs({
  options: { messages: { type: 'string', default: '50000' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed);
const messages = Number(values.messages);

let uncaught = 0;
const onUncaught = (error: unknown): void => {
  uncaught += 1;
  console.error('reached an uncaught path:', error);
};
process.on('uncaughtException', onUncaught).on('unhandledRejection', onUncaught);

console.log(`seed ${seed}; repeat with: npm run fuzz -- --seed ${seed} --messages ${messages}`);
const recordings = await recordMessages();
const transports: Readonly<Record<string, OpenChannel>> = {
  'in memory': createInMemoryOpener(),
  stdio: openStdio,
  http: createHttpOpener(),
  websocket: createWebSocketOpener(),
};

let bad = 0;
for (const [name, open] of Object.entries(transports)) {
  if (values.only !== undefined && values.only !== name) continue;
  const started = performance.now();
  const figures = await runFuzz({ seed, messages, recordings, open, messagesPerConnection: 5_000, onProgress: showProgress(name) });
  bad += printFigures(name, figures, (performance.now() - started) / 1000);
}
process.exitCode = bad + uncaught === 0 ? 0 : 1;

function showProgress(name: string): (sent: number) => void {
  return (sent) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${name}: ${sent} of ${messages}`);
  };
}

function printFigures(name: string, figures: FuzzFigures, seconds: number): number {
  const { sent, valid, malformed, notJson, connections, answers, unanswered, strays, ignored, crashes, problems } = figures;
  console.log(
    [
      `\n${name}: ${sent} messages over ${connections} connections in ${seconds.toFixed(1)} s`,
      `  valid JSON-RPC       ${valid} (${((100 * valid) / sent).toFixed(0)} %)`,
      `  malformed, not JSON  ${malformed}, ${notJson}`,
      `  answers              ${answers}`,
      `  unanswered requests  ${unanswered}`,
      `  answers to nobody    ${strays}`,
      `  unreadable, no error ${ignored}`,
      `  crashes              ${crashes}`,
      `  uncaught so far      ${uncaught}`,
      ...problems.map((problem) => `  ! ${problem}`),
    ].join('\n'),
  );
  return unanswered + strays + ignored + crashes;
}
