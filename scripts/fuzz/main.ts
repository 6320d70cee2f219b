/**
 * `npm run fuzz -- --messages 1000000 --seed 1 --only stdio --jobs 2`: fuzzes every transport and prints the figures. Long runs are shared
 * out over as many processes as the machine has cores, by connection: the seed alone says what is sent over each.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createInMemoryOpener, createWebSocketOpener, type OpenChannel, openStdio } from './fuzz-channel.ts';
import { createHttpOpener } from './http-channel.ts';
import { recordMessages } from './record-messages.ts';
import { addFigures, type FuzzFigures, noFigures, runFuzz } from './run-fuzz.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '50000' },
    seed: { type: 'string' },
    only: { type: 'string' },
    jobs: { type: 'string' },
    // Which of the processes this is, given to those that this program starts.
    job: { type: 'string' },
  },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : toCount('seed', values.seed, 0);
const messages = toCount('messages', values.messages, 1);
/** Below that, starting more processes costs more than they save. */
const LONG = 200_000;
const jobs = values.jobs === undefined ? (messages < LONG ? 1 : Math.min(8, availableParallelism())) : toCount('jobs', values.jobs, 1);

/** Made once by each process that sends. */
let recordings: ReturnType<typeof recordMessages> | undefined;
let uncaught = 0;
const onUncaught = (error: unknown): void => {
  uncaught += 1;
  console.error('reached an uncaught path:', error);
};
process.on('uncaughtException', onUncaught).on('unhandledRejection', onUncaught);

const transports: Readonly<Record<string, () => OpenChannel>> = {
  'in memory': createInMemoryOpener,
  stdio: () => openStdio,
  http: createHttpOpener,
  websocket: createWebSocketOpener,
};
if (values.only !== undefined && !(values.only in transports))
  throw new Error(`--only ${values.only}: there are ${Object.keys(transports).join(', ')}`);

/** What one process tells the one that started it. */
interface Told {
  readonly figures: FuzzFigures;
  readonly uncaught: number;
}

if (values.job === undefined) await fuzzAll();
else await beOneJob(Number(values.job), values.only ?? '');

/** A run of nothing would find nothing, and look as if all were well. */
function toCount(flag: string, text: string, least: number): number {
  const count = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(count) && count >= least) return count;
  throw new Error(`--${flag} must be a whole number, ${least} or more, got "${text}"`);
}

async function fuzzAll(): Promise<void> {
  console.log(`seed ${seed}; repeat with: npm run fuzz -- --seed ${seed} --messages ${messages}`);
  let bad = 0;
  for (const name of Object.keys(transports)) {
    if (values.only !== undefined && values.only !== name) continue;
    const started = performance.now();
    const figures = jobs === 1 ? await fuzzHere(name, 0, showProgress(name)) : await fuzzInJobs(name);
    bad += printFigures(name, figures, (performance.now() - started) / 1000);
  }
  process.exitCode = bad + uncaught === 0 ? 0 : 1;
}

async function fuzzHere(name: string, job: number, onProgress?: (sent: number) => void): Promise<FuzzFigures> {
  const open = transports[name]?.();
  if (open === undefined) throw new Error(`There is no transport "${name}"`);
  const options = { seed, messages, recordings: await (recordings ??= recordMessages()), open, share: { job, jobs } };
  return runFuzz({ ...options, messagesPerConnection: 5_000, ...(onProgress && { onProgress }) });
}

async function fuzzInJobs(name: string): Promise<FuzzFigures> {
  const told = await Promise.all(Array.from({ length: jobs }, (_, job) => startJob(name, job)));
  for (const each of told) uncaught += each.uncaught;
  return told.map(({ figures }) => figures).reduce(addFigures);
}

/** A process that ends without a word has crashed. */
async function startJob(name: string, job: number): Promise<Told> {
  const args = ['--seed', String(seed), '--messages', String(messages), '--jobs', String(jobs), '--only', name, '--job', String(job)];
  const child = fork(import.meta.filename, args);
  let told: Told | undefined;
  child.on('message', (message) => (told = message as Told));
  const [code] = (await once(child, 'close')) as [number | null];
  if (told !== undefined && code === 0) return told;
  return { figures: { ...noFigures(), crashes: 1, problems: [`the process of job ${job} ended with ${code}`] }, uncaught: 0 };
}

async function beOneJob(job: number, name: string): Promise<void> {
  const figures = await fuzzHere(name, job);
  const told: Told = { figures, uncaught };
  await new Promise<void>((resolve, reject) => process.send?.(told, (error: Error | null) => (error === null ? resolve() : reject(error))));
  process.disconnect?.();
}

function showProgress(name: string): (sent: number) => void {
  return (sent) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${name}: ${sent} of ${messages}`);
  };
}

function printFigures(name: string, figures: FuzzFigures, seconds: number): number {
  const { sent, valid, malformed, notJson, connections, answers, unanswered, strays, ignored, crashes, problems } = figures;
  const by = jobs === 1 ? '' : `, in ${jobs} processes`;
  console.log(
    [
      `\n${name}: ${sent} messages over ${connections} connections in ${seconds.toFixed(1)} s${by}`,
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
