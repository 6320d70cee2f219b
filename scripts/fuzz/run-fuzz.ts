/**
 * Sends fuzzed frames over connection after connection and counts: did the server live, does every request with a readable id
 * have exactly one response, did anything come that no request asked for.
 */

import type { FuzzChannel, OpenChannel } from './channels.ts';
import { ResponseCount } from './expected-responses.ts';
import { MessageSource, toFrame } from './message-source.ts';
import { Random } from './mutate.ts';
import type { Recording } from './record-messages.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** How many frames to send in all. */
  readonly messages: number;
  /** How many of them over one connection. */
  readonly messagesPerConnection: number;
  readonly recordings: readonly Recording[];
  readonly open: OpenChannel;
  /** How long nothing may arrive before what is still owed counts as unanswered. @default 60_000 */
  readonly quietTimeoutMs?: number;
}

const framesAtOnce = 200;
const maxProblems = 20;

/** What a run starts with. Frames that no reader can make sense of and that got no error are `ignored`; `problems` name the first seeds. */
const noFigures = {
  ...{ sent: 0, valid: 0, malformed: 0, notJson: 0, connections: 0 },
  ...{ responses: 0, unanswered: 0, strays: 0, ignored: 0, crashes: 0 },
};
export type FuzzFigures = typeof noFigures & { readonly problems: string[] };

/** Runs the fuzzer. Never rejects for what the server does: that is in the figures. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzFigures> {
  const { seed, messages, messagesPerConnection } = options;
  const figures: FuzzFigures = { ...noFigures, problems: [] };
  for (; figures.sent < messages; figures.connections += 1) {
    const count = Math.min(messagesPerConnection, messages - figures.sent);
    await fuzzOneConnection(options, (seed + figures.connections * 7919) >>> 0, count, figures);
  }
  return figures;
}

async function fuzzOneConnection(options: FuzzOptions, seed: number, count: number, figures: FuzzFigures): Promise<void> {
  const { open, recordings, quietTimeoutMs = 60_000 } = options;
  const random = new Random(seed);
  const responses = new ResponseCount();
  let onArrival = (): void => undefined;
  const channel = await open((message) => {
    responses.noteArrival(message);
    onArrival();
  });
  /** Waits until at most `owed` responses are owed, or until nothing has arrived for a while. */
  const untilOwed = async (owed: number): Promise<void> => {
    let isQuiet = false;
    while (responses.unanswered.size > owed && !isQuiet)
      isQuiet = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(resolve, quietTimeoutMs, true);
        onArrival = () => {
          clearTimeout(timer);
          resolve(false);
        };
      });
  };
  const isBatchRead = await openSession(channel, responses, recordings, random);
  await untilOwed(0);
  const source = new MessageSource(
    recordings.flatMap((recording) => recording.messages),
    random,
  );
  for (let sent = 0; sent < count;) {
    const frame = source.next();
    const { value, kind } = frame;
    if (value !== undefined) responses.noteFrame(value, isBatchRead && !(Array.isArray(value) && channel.refusesBatch?.(value)));
    if (!(await channel.send(frame))) continue;
    if (value === undefined) responses.unreadable += 1;
    sent += 1;
    figures.sent += 1;
    figures[kind] += 1;
    if (sent % framesAtOnce === 0) await untilOwed(framesAtOnce);
  }
  await untilOwed(0);
  addUp(figures, seed, responses, await channel.close());
}

function addUp(figures: FuzzFigures, seed: number, responses: ResponseCount, wrongEnd: string | undefined): void {
  const { came, unanswered, strays, unreadable, withoutId } = responses;
  const ignored = Math.max(0, unreadable - withoutId);
  figures.responses += came;
  figures.unanswered += unanswered.size;
  figures.strays += strays.length;
  figures.ignored += ignored;
  figures.crashes += wrongEnd === undefined ? 0 : 1;
  const problems = [
    unanswered.size > 0 && `no response to ${[...unanswered].slice(0, 5).join(', ')}`,
    strays.length > 0 && `a response without a request: ${strays[0]}`,
    ignored > 0 && `${ignored} unreadable frames got no error`,
    wrongEnd,
  ].filter((problem) => typeof problem === 'string');
  figures.problems.push(...problems.map((problem) => `connection of seed ${seed}: ${problem}`));
  figures.problems.splice(maxProblems);
}

/** A third of the connections are fuzzed before any `initialize`; the others open as a client of some revision does. */
async function openSession(
  channel: FuzzChannel,
  responses: ResponseCount,
  recordings: readonly Recording[],
  random: Random,
): Promise<boolean> {
  if (random.chance(0.33)) return false;
  const { opening, readsBatches } = random.pick(recordings);
  for (const message of opening) {
    // Ids of the opening are kept apart from those of the fuzzed frames.
    const value = 'id' in message ? { ...message, id: `opening-${String(message['id'])}` } : message;
    responses.noteFrame(value, false);
    await channel.send(toFrame(value));
  }
  return readsBatches && opening.length > 0;
}
