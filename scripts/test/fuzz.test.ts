/** 50,000 fuzzed messages a transport (ROBUSTNESS rules 4 and 5). `npm run fuzz` does the same with more of them. */

import { beforeAll, describe, expect, it } from 'vitest';
import { createInMemoryOpener, type OpenChannel, openStdio } from '../fuzz/fuzz-channel.ts';
import { recordMessages, type Recording } from '../fuzz/record-messages.ts';
import { runFuzz } from '../fuzz/run-fuzz.ts';

const seed = Number(process.env['MORTISE_FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const messages = 50_000;
const transports: readonly { name: string; open: OpenChannel }[] = [
  { name: 'in memory', open: createInMemoryOpener() },
  { name: 'over stdio', open: openStdio },
];

let recordings: readonly Recording[];

beforeAll(async () => {
  recordings = await recordMessages();
});

describe('rules 4 and 5', () => {
  it.each(transports)(
    `every request with a readable id gets exactly one answer $name, and nothing crashes, over ${messages} fuzzed messages`,
    async ({ open }) => {
      const figures = await runFuzz({ seed, messages, messagesPerConnection: 5_000, recordings, open });
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
