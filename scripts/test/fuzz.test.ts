/** 10,000 fuzzed messages a transport (ROBUSTNESS rules 4 and 5). `npm run fuzz` does the same with more of them. */

import { beforeAll, describe, expect, it } from 'vitest';
import { createInMemoryOpener, createWebSocketOpener, type OpenChannel, openStdio } from '../fuzz/fuzz-channel.ts';
import { createHttpOpener } from '../fuzz/http-channel.ts';
import type { Json } from '../fuzz/mutate.ts';
import { recordMessages, type Recording } from '../fuzz/record-messages.ts';
import { runFuzz } from '../fuzz/run-fuzz.ts';

const seed = Number(process.env['MORTISE_FUZZ_SEED'] ?? 1);
const messages = 10_000;
const transports: readonly { name: string; open: OpenChannel }[] = [
  { name: 'in memory', open: createInMemoryOpener() },
  { name: 'over stdio', open: openStdio },
  { name: 'over HTTP', open: createHttpOpener() },
  { name: 'over WebSocket', open: createWebSocketOpener() },
];

let recordings: readonly Recording[];

beforeAll(async () => {
  recordings = await recordMessages();
});

describe('fuzzed messages', () => {
  it.each(transports)(
    `[ROBUSTNESS-4][ROBUSTNESS-5] answers every readable id exactly once and never crashes, ${messages} messages $name`,
    async ({ open }) => {
      const figures = await runFuzz({ seed, messages, messagesPerConnection: 2_500, recordings, open });
      const { unanswered, strays, ignored, crashes, problems } = figures;
      expect({ seed, unanswered, strays, ignored, crashes, problems }).toEqual({
        seed,
        unanswered: 0,
        strays: 0,
        ignored: 0,
        crashes: 0,
        problems: [],
      });
      expect(figures.sent).toBe(messages);
      expect(figures.valid / figures.sent).toBeGreaterThan(0.5);
    },
    300_000,
  );
});

describe('the fuzzer notices', () => {
  const isAnswer = (message: Json): boolean => message !== null && typeof message === 'object' && 'id' in message && !('method' in message);
  const answersNothing = (message: Json): boolean =>
    message !== null && typeof message === 'object' && 'error' in message && !('id' in message && message.id !== null);

  const faults: readonly {
    fault: string;
    figure: 'unanswered' | 'strays' | 'ignored';
    pass: (message: Json, count: number) => readonly Json[];
  }[] = [
    {
      fault: 'an answer that is lost',
      figure: 'unanswered',
      pass: (message, count) => (isAnswer(message) && count === 30 ? [] : [message]),
    },
    {
      fault: 'an answer that comes twice',
      figure: 'strays',
      pass: (message, count) => (isAnswer(message) && count === 30 ? [message, message] : [message]),
    },
    {
      fault: 'an id whose type has changed',
      figure: 'unanswered',
      pass: (message, count) => [count === 30 ? withOtherId(message) : message],
    },
    { fault: 'errors that are not sent', figure: 'ignored', pass: (message) => (answersNothing(message) ? [] : [message]) },
  ];

  const withOtherId = (message: Json): Json =>
    message !== null && typeof message === 'object' && 'id' in message
      ? { ...message, id: typeof message.id === 'string' ? 0 : String(message.id) }
      : message;

  it.each(faults)('$fault', async ({ figure, pass }) => {
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
