/** 10,000 fuzzed messages a transport (ROBUSTNESS rules 4 and 5). `npm run fuzz` does the same with more of them. */

import { beforeAll, describe, expect, it } from 'vitest';
import { createInMemoryOpener, type OpenChannel, transports } from '../fuzz/channels.ts';
import type { Json, JsonObject } from '../fuzz/mutate.ts';
import { recordMessages, type Recording } from '../fuzz/record-messages.ts';
import { runFuzz } from '../fuzz/run-fuzz.ts';

const seed = Number(process.env['MORTISE_SEED'] ?? 1);
const messages = 10_000;

let recordings: readonly Recording[];

beforeAll(async () => {
  recordings = await recordMessages();
});

describe('fuzzed messages', () => {
  it.each(Object.entries(transports))(
    `[ROBUSTNESS-4][ROBUSTNESS-5] answers every readable id exactly once and never crashes, ${messages} messages over %s`,
    async (_name, createOpener) => {
      const figures = await runFuzz({ seed, messages, messagesPerConnection: 2_500, recordings, open: createOpener() });
      const { unanswered, strays, ignored, crashes, problems } = figures;
      const nothing = { unanswered: 0, strays: 0, ignored: 0, crashes: 0, problems: [] };
      expect({ seed, unanswered, strays, ignored, crashes, problems }).toEqual({ seed, ...nothing });
      expect(figures.sent).toBe(messages);
      expect(figures.valid / figures.sent).toBeGreaterThan(0.5);
    },
    300_000,
  );
});

describe('the fuzzer notices', () => {
  const toObject = (message: Json): JsonObject =>
    message !== null && typeof message === 'object' && !Array.isArray(message) ? message : {};
  const isResponse = (message: Json): boolean => 'id' in toObject(message) && !('method' in toObject(message));
  const withOtherId = ({ id, ...message }: JsonObject): Json => ({ ...message, id: typeof id === 'string' ? 0 : String(id) });

  type Pass = (message: Json, count: number) => readonly Json[];
  const faults: readonly (readonly [fault: string, figure: 'unanswered' | 'strays' | 'ignored', pass: Pass])[] = [
    ['a response that is lost', 'unanswered', (message, count) => (isResponse(message) && count === 30 ? [] : [message])],
    ['a response that comes twice', 'strays', (message, count) => (isResponse(message) && count === 30 ? [message, message] : [message])],
    ['an id whose type has changed', 'unanswered', (message, count) => [count === 30 ? withOtherId(toObject(message)) : message]],
    [
      'errors that are not sent',
      'ignored',
      (message) => ('error' in toObject(message) && toObject(message)['id'] == null ? [] : [message]),
    ],
  ];

  it.each(faults)('%s', async (_fault, figure, pass) => {
    const open: OpenChannel = (onMessage) => {
      let count = 0;
      return createInMemoryOpener()((message) => {
        count += 1;
        for (const each of pass(message, count)) onMessage(each);
      });
    };
    const figures = await runFuzz({ seed: 3, messages: 500, messagesPerConnection: 500, recordings, open, quietTimeoutMs: 100 });
    expect(figures[figure]).toBeGreaterThan(0);
    expect(figures.problems[0]).toMatch(/seed 3/);
  });
});
