/** Handlers that ask in every way there is, written once. Each says what it comes to, wherever it runs. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { HandlerContext } from '@mortise/server';
import { inputRequired } from '@mortise/server';
import { z } from 'zod';

/** What a handler did beside its answer. */
export class Effects {
  /** Runs of the handler that began, and that ended in whatever way. */
  begun = 0;
  ended = 0;
  /** What happened in steps, in order. */
  readonly steps: string[] = [];
}

export interface WrittenOnce {
  readonly name: string;
  /** Where it stands. @default 'tool' */
  readonly kind?: 'tool' | 'prompt' | 'resource';
  /** Asks by forms, which revisions before 2025-06-18 do not have. */
  readonly needsForms?: true;
  run(ctx: HandlerContext, effects: Effects): Promise<string>;
  /** Its answer; the same everywhere. */
  readonly answer: string;
  /** How often the handler runs in the modern era: the number of its rounds. */
  readonly modernRuns: number;
  /** How often it runs in the legacy era. @default 1 */
  readonly legacyRuns?: number;
  /** Its steps; the same everywhere. */
  readonly steps?: readonly string[];
}

/** What the tool `effects` tells of a handler. */
export interface ToldEffects {
  readonly begun: number;
  readonly ended: number;
  readonly steps: readonly string[];
}

/** Asks the client's model, which every revision has. It answers with the question in capitals. */
async function ask(ctx: HandlerContext, question: string): Promise<string> {
  const { content } = await ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: question } }], maxTokens: 9 });
  return 'text' in content ? String(content['text']) : '';
}

function step(ctx: HandlerContext, effects: Effects, name: string): Promise<string> {
  return ctx.once(name, () => {
    effects.steps.push(name);
    return `did ${name}`;
  });
}

export const handlers: readonly WrittenOnce[] = [
  {
    name: 'asks nothing',
    run: () => Promise.resolve('nothing'),
    answer: 'nothing',
    modernRuns: 1,
  },
  {
    name: 'sequential',
    run: async (ctx) => `${await ask(ctx, 'a')} ${await ask(ctx, 'b')} ${await ask(ctx, 'c')}`,
    answer: 'A B C',
    modernRuns: 4,
  },
  {
    name: 'parallel',
    run: async (ctx) => (await Promise.all([ask(ctx, 'a'), ask(ctx, 'b'), ctx.listRoots().then(({ roots }) => roots[0]?.uri)])).join(' '),
    answer: 'A B file:///home/ann',
    modernRuns: 2,
  },
  {
    name: 'parallel branches of different lengths',
    async run(ctx) {
      const branch = async (name: string, length: number): Promise<string> => {
        let told = name;
        for (let n = 0; n < length; n++) told = await ask(ctx, `${told}${n}`);
        return told;
      };
      return (await Promise.all([branch('a', 1), branch('b', 3), branch('c', 2)])).join(' ');
    },
    answer: 'A0 B012 C01',
    modernRuns: 4,
  },
  {
    name: 'conditional',
    run: async (ctx) => ((await ask(ctx, 'yes')) === 'YES' ? ask(ctx, 'then') : ask(ctx, 'else')),
    answer: 'THEN',
    modernRuns: 3,
  },
  {
    name: 'looped',
    async run(ctx) {
      let told = '';
      while (told.length < 4) told += await ask(ctx, `after "${told}" x`).then((text) => text.at(-1));
      return told;
    },
    answer: 'XXXX',
    modernRuns: 5,
  },
  {
    name: 'the same question again and again',
    async run(ctx) {
      const told: string[] = [];
      for (let n = 0; n < 3; n++) told.push(await ask(ctx, 'again'));
      return told.join(' ');
    },
    answer: 'AGAIN AGAIN AGAIN',
    modernRuns: 4,
  },
  {
    name: 'try/finally',
    async run(ctx) {
      let isOpen = true;
      try {
        const first = await ask(ctx, 'a');
        try {
          return `${first} ${await ask(ctx, 'b')}`;
        } finally {
          await sleep(1);
          isOpen = false;
        }
      } finally {
        await sleep(1);
        if (!isOpen) isOpen = true;
      }
    },
    answer: 'A B',
    modernRuns: 3,
  },
  {
    name: 'Promise.allSettled',
    async run(ctx) {
      const settled = await Promise.allSettled([ask(ctx, 'a'), ask(ctx, 'b'), Promise.reject(new Error('c'))]);
      return settled.map((each) => (each.status === 'fulfilled' ? each.value : String((each.reason as Error).message))).join(' ');
    },
    answer: 'A B c',
    modernRuns: 2,
  },
  {
    name: 'Promise.race',
    run: (ctx) => Promise.race([ask(ctx, 'a'), new Promise<string>(() => undefined)]),
    answer: 'A',
    modernRuns: 2,
  },
  {
    name: 'after I/O',
    async run(ctx) {
      await sleep(5);
      const first = await ask(ctx, 'a');
      await sleep(5);
      return `${first} ${await ask(ctx, 'b')}`;
    },
    answer: 'A B',
    modernRuns: 3,
  },
  {
    name: 'awaited out of order',
    async run(ctx) {
      const first = ctx.listRoots();
      const second = ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'b' } }], maxTokens: 9 });
      const { model } = await second;
      return `${model} ${(await first).roots.length}`;
    },
    answer: 'scripted 1',
    modernRuns: 2,
  },
  {
    name: 'catches everything',
    async run(ctx) {
      const told: string[] = [];
      for (const question of ['a', 'b']) {
        try {
          told.push(await ask(ctx, question));
        } catch {
          told.push('caught');
        }
      }
      return told.join(' ');
    },
    answer: 'A B',
    modernRuns: 3,
  },
  {
    name: 'three steps over three rounds',
    async run(ctx, effects) {
      const one = await step(ctx, effects, 'one');
      const a = await ask(ctx, 'a');
      const two = await step(ctx, effects, 'two');
      const b = await ask(ctx, 'b');
      return [one, a, two, b, await step(ctx, effects, 'three')].join(', ');
    },
    answer: 'did one, A, did two, B, did three',
    modernRuns: 3,
    steps: ['one', 'two', 'three'],
  },
  {
    name: 'steps beside questions',
    async run(ctx, effects) {
      const told = await Promise.all([ask(ctx, 'a'), step(ctx, effects, 'one'), sleep(2).then(() => step(ctx, effects, 'two'))]);
      return told.join(', ');
    },
    answer: 'A, did one, did two',
    modernRuns: 2,
    steps: ['one', 'two'],
  },
  {
    name: 'a question inside a step',
    async run(ctx, effects) {
      const told = await ctx.once('asking', async () => {
        const answer = await ask(ctx, 'a');
        effects.steps.push('asking');
        return answer;
      });
      return `${told} ${await ask(ctx, 'b')}`;
    },
    answer: 'A B',
    modernRuns: 3,
    steps: ['asking'],
  },
  {
    name: 'throws after an answer',
    async run(ctx) {
      throw new Error(`failed with ${await ask(ctx, 'a')}`);
    },
    answer: 'failed with A',
    modernRuns: 2,
  },
  {
    name: 'by hand',
    async run(ctx) {
      const answer = ctx.inputResponses?.['roots'];
      if (answer) return `${JSON.stringify(ctx.requestState)} ${JSON.stringify(answer['roots'])}`;
      return inputRequired({ inputRequests: { roots: { method: 'roots/list' } }, requestState: { at: 1 } }) as unknown as string;
    },
    answer: '{"at":1} [{"uri":"file:///home/ann"}]',
    modernRuns: 2,
    legacyRuns: 2,
  },
  {
    name: 'a typed form with a default, and a refusal',
    needsForms: true,
    async run(ctx) {
      const first = await ctx.elicit({ message: 'Who?', requestedSchema: { name: z.string(), age: z.number().default(30) } });
      const second = await ctx.elicit({ message: 'refuse this', requestedSchema: { name: z.string() } });
      return `${first.action === 'accept' ? `${first.content.name} ${first.content.age + 1}` : first.action} ${second.action}`;
    },
    answer: 'Ann 31 decline',
    modernRuns: 3,
  },
  {
    name: 'every kind of question at once',
    needsForms: true,
    async run(ctx) {
      const [{ action }, told, { roots }] = await Promise.all([
        ctx.elicit({ message: 'Who?', requestedSchema: { name: z.string() } }),
        ask(ctx, 'a'),
        ctx.listRoots(),
      ]);
      return `${action} ${told} ${roots.length}`;
    },
    answer: 'accept A 1',
    modernRuns: 2,
  },
  {
    name: 'a prompt',
    kind: 'prompt',
    run: async (ctx) => `${await ask(ctx, 'a')} ${await ask(ctx, 'b')}`,
    answer: 'A B',
    modernRuns: 3,
  },
  {
    name: 'a resource',
    kind: 'resource',
    run: async (ctx, effects) => `${await step(ctx, effects, 'open')} ${await ask(ctx, 'a')}`,
    answer: 'did open A',
    modernRuns: 2,
    steps: ['open'],
  },
];
