/**
 * Sends fuzzed frames over connection after connection and counts: did the server live, does every request with a readable id
 * have exactly one answer, did anything come that nobody asked for.
 */

import { AnswerCount } from './expected-answers.ts';
import type { FuzzChannel, OpenChannel } from './fuzz-channel.ts';
import { type Message, MessageSource } from './message-source.ts';
import { createRandom, type Random } from './random.ts';
import type { Recording } from './record-messages.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** How many frames to send in all. */
  readonly messages: number;
  /** How many of them over one connection. @default 1_000 */
  readonly messagesPerConnection?: number;
  readonly recordings: readonly Recording[];
  readonly open: OpenChannel;
  /** How long nothing may arrive before what is still owed counts as unanswered. @default 60_000 */
  readonly quietTimeoutMs?: number;
}

export interface FuzzFigures {
  sent: number;
  valid: number;
  malformed: number;
  notJson: number;
  connections: number;
  answers: number;
  unanswered: number;
  strays: number;
  /** Frames that no reader can make sense of and that got no error either. */
  ignored: number;
  crashes: number;
  /** The first few of what went wrong, each with the seed of its connection. */
  readonly problems: string[];
}

const defaultQuietTimeoutMs = 60_000;
const framesAtOnce = 200;
const maxProblems = 20;

/** Runs the fuzzer. Never rejects for what the server does: that is in the figures. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzFigures> {
  const { seed, messages, messagesPerConnection = 1_000 } = options;
  const figures: FuzzFigures = {
    ...{ sent: 0, valid: 0, malformed: 0, notJson: 0, connections: 0 },
    ...{ answers: 0, unanswered: 0, strays: 0, ignored: 0, crashes: 0, problems: [] },
  };
  for (let connection = 0; figures.sent < messages; connection += 1) {
    const count = Math.min(messagesPerConnection, messages - figures.sent);
    await fuzzOneConnection(options, (seed + connection * 7919) >>> 0, count, figures);
  }
  return figures;
}

async function fuzzOneConnection(options: FuzzOptions, seed: number, count: number, figures: FuzzFigures): Promise<void> {
  const { open, recordings, quietTimeoutMs = defaultQuietTimeoutMs } = options;
  const random = createRandom(seed);
  const answers = new AnswerCount();
  const note = (problem: string): void => {
    if (figures.problems.length < maxProblems) figures.problems.push(`connection of seed ${seed}: ${problem}`);
  };
  let arrived = 0;
  const channel = await open((message) => {
    arrived += 1;
    answers.noteArrival(message);
  });
  const isBatchRead = await openSession(channel, answers, recordings, random, quietTimeoutMs);
  const source = new MessageSource(
    recordings.flatMap((recording) => recording.messages),
    random,
  );
  let sent = 0;
  while (sent < count) {
    const frame = source.next();
    if (frame.value === undefined) answers.noteUnreadable();
    else answers.noteFrame(frame.value, isBatchRead && !(Array.isArray(frame.value) && channel.refusesBatch?.(frame.value)));
    if (!(await channel.send(frame))) {
      answers.forgetUnreadable();
      continue;
    }
    sent += 1;
    figures.sent += 1;
    figures[frame.kind === 'not JSON' ? 'notJson' : frame.kind] += 1;
    if (sent % framesAtOnce === 0)
      await untilQuiet(
        quietTimeoutMs,
        () => answers.open < framesAtOnce,
        () => arrived,
      );
  }
  await untilQuiet(
    quietTimeoutMs,
    () => answers.open === 0,
    () => arrived,
  );
  const wrongEnd = await channel.close();
  figures.connections += 1;
  figures.answers += answers.came;
  figures.unanswered += answers.unanswered.length;
  figures.strays += answers.strays.length;
  const ignored = Math.max(0, answers.unreadable.sent - answers.unreadable.answered);
  figures.ignored += ignored;
  if (answers.unanswered.length > 0) note(`no answer to ${answers.unanswered.slice(0, 5).join(', ')}`);
  if (answers.strays.length > 0) note(`an answer that nobody asked for: ${answers.strays[0]}`);
  if (ignored > 0) note(`${ignored} unreadable frames got no error`);
  if (wrongEnd !== undefined) {
    figures.crashes += 1;
    note(wrongEnd);
  }
}

/** A third of the connections are fuzzed before any `initialize`; the others open as a client of some revision does. */
async function openSession(
  channel: FuzzChannel,
  answers: AnswerCount,
  recordings: readonly Recording[],
  random: Random,
  quietTimeoutMs: number,
): Promise<boolean> {
  if (random.chance(0.33)) return false;
  const { opening, readsBatches } = random.pick(recordings);
  for (const message of opening) {
    // Ids of the opening are kept apart from those of the fuzzed frames.
    const value: Message = 'id' in message ? { ...message, id: `opening-${String(message['id'])}` } : message;
    answers.noteFrame(value, false);
    await channel.send({ bytes: new TextEncoder().encode(JSON.stringify(value)), value, kind: 'valid' });
  }
  await untilQuiet(
    quietTimeoutMs,
    () => answers.open === 0,
    () => answers.came,
  );
  return readsBatches && opening.length > 0;
}

/** Waits until `isDone`, or until nothing has arrived for a while. */
async function untilQuiet(quietTimeoutMs: number, isDone: () => boolean, arrived: () => number): Promise<void> {
  let last = arrived();
  let quietSince = performance.now();
  while (!isDone() && performance.now() - quietSince < quietTimeoutMs) {
    await new Promise((resolve) => setImmediate(resolve));
    if (arrived() === last) continue;
    last = arrived();
    quietSince = performance.now();
  }
}
