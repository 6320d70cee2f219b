/** `@mortise/transport-testkit/handler-run`: test cases for the guarantees R1 to R3 of a `HandlerRun`. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { Ask, HandlerRun } from '@mortise/protocol/contracts';
import { check, checkEqual, checkRejects, turns, within } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** What the `HandlerRun` cases test: something that runs handlers, and a client that answers their requests, such as elicitation. */
export interface HandlerRunSubject extends KitSubject {
  /**
   * Runs a handler to its end in one call. An implementation that suspends the handler runs it again from the start for each answer of the
   * client.
   *
   * Resolves when the handler has ended, also if it threw.
   */
  call(handler: (run: HandlerRun) => Promise<void>): Promise<void>;
  /** Makes a request that the client answers, such as elicitation. Each `text` gets a different answer. */
  question(text: string): Ask;
  /** Gives the answer that the client sends to the request `question(text)`. */
  answerTo(text: string): JsonObject;
  /** Makes a request that the client does not answer with a result, because it refuses or does not support it. */
  refused(): Ask;
  /** Makes a notification that a handler sends with `report`. @param step Identifies the notification. */
  notification(step: number): JsonRpcNotification;
  /** The `step` numbers of the notifications that reached the client, in order of arrival. */
  told(): readonly number[];
}

/**
 * A test case for one guarantee of a `HandlerRun`. With the trait `suspends`, the client's answer arrives in a later run of the handler.
 */
export type HandlerRunCase = KitCase<HandlerRunSubject>;

const END = 'The call should end';

/** Whether an error is the one that suspends a handler until the client's answer arrives. Handlers must rethrow it. */
function isSuspended(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { readonly code?: unknown }).code === 'ERR_SUSPENDED';
}

/** Runs `work` as the handler of a new call. Resolves with the result of the run in which `work` reached its end. */
async function inCall<T>(subject: HandlerRunSubject, work: (run: HandlerRun) => Promise<T>): Promise<T> {
  let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  const handler = async (run: HandlerRun): Promise<void> => {
    outcome = undefined;
    try {
      outcome = { value: await work(run) };
    } catch (error) {
      if (isSuspended(error)) throw error;
      outcome = { error };
    }
  };
  await within(subject.call(handler), END);
  check(outcome !== undefined, 'The handler should have ended before the call');
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

function answersTo(subject: HandlerRunSubject, texts: readonly string[]): readonly JsonObject[] {
  return texts.map((text) => subject.answerTo(text));
}

/** Test cases for the guarantees R1 to R3 of a `HandlerRun`. Run them with `describeKit` or `runCases`. */
export const handlerRunCases: readonly HandlerRunCase[] = [
  {
    id: 'R1.1',
    title: "gives each of several consecutive questions the client's answer",
    async run(subject) {
      const answers = await inCall(subject, async (run) => [
        await run.ask(subject.question('one')),
        await run.ask(subject.question('two')),
        await run.ask(subject.question('three')),
      ]);
      checkEqual(answers, answersTo(subject, ['one', 'two', 'three']), 'What the questions resolved to');
    },
  },
  {
    id: 'R1.2',
    title: 'gives each of several questions asked together its own answer',
    async run(subject) {
      const texts = ['b', 'a', 'c'];
      const answers = await inCall(subject, (run) => Promise.all(texts.map((text) => run.ask(subject.question(text)))));
      checkEqual(answers, answersTo(subject, texts), 'What the questions resolved to');
    },
  },
  {
    id: 'R1.3',
    title: 'rejects a question without an answer, and continues',
    async run(subject) {
      const { isRejected, answer } = await inCall(subject, async (run) => {
        const isRejected = await run.ask(subject.refused()).then(
          () => false,
          (error: unknown) => {
            if (isSuspended(error)) throw error;
            return true;
          },
        );
        return { isRejected, answer: await run.ask(subject.question('after')) };
      });
      checkEqual(isRejected, true, 'Whether the question is rejected');
      checkEqual(answer, subject.answerTo('after'), 'What the next question resolved to');
    },
  },
  {
    id: 'R1.4',
    title: 'rejects with Suspended if the answer arrives in a later run',
    needs: ['suspends'],
    async run(subject) {
      const outcomes: string[] = [];
      const handler = async (run: HandlerRun): Promise<void> => {
        try {
          await run.ask(subject.question('one'));
          outcomes.push('answered');
        } catch (error) {
          outcomes.push(isSuspended(error) ? 'suspended' : String(error));
          throw error;
        }
      };
      await within(subject.call(handler), END);
      checkEqual(outcomes, ['suspended', 'answered'], 'The outcome of the question in each run');
    },
  },
  {
    id: 'R2.1',
    title: 'runs a step once even if the handler reaches it again, and gives its result',
    async run(subject) {
      let count = 0;
      const values = await inCall(subject, async (run) => {
        const first = await run.once('step', () => ++count);
        await run.ask(subject.question('between'));
        return [first, await run.once('step', () => ++count)];
      });
      checkEqual(count, 1, 'How often the step ran');
      checkEqual(values, [1, 1], 'What the step gave');
    },
  },
  {
    id: 'R2.2',
    title: 'runs a step once for two concurrent callers',
    async run(subject) {
      let count = 0;
      const step = async (): Promise<number> => {
        await turns(1);
        return ++count;
      };
      const values = await inCall(subject, (run) => Promise.all([run.once('step', step), run.once('step', step)]));
      checkEqual(count, 1, 'How often the step ran');
      checkEqual(values, [1, 1], 'What the step gave');
    },
  },
  {
    id: 'R2.3',
    title: 'gives the original result of a step, even if the handler has changed the object',
    async run(subject) {
      const later = await inCall(subject, async (run) => {
        const value = await run.once('step', (): JsonObject & { list: number[] } => ({ list: [1] }));
        value.list.push(2);
        await run.ask(subject.question('between'));
        return await run.once('step', (): JsonObject => ({ list: [3] }));
      });
      checkEqual(later, { list: [1] }, 'What the step gave later');
    },
  },
  {
    id: 'R2.4',
    title: 'separates steps by key, and gives each its own idempotency key',
    async run(subject) {
      const keys: string[] = [];
      const step = (value: string) => (idempotencyKey: string) => {
        keys.push(idempotencyKey);
        return value;
      };
      const work = async (run: HandlerRun): Promise<readonly string[]> => [await run.once('a', step('A')), await run.once('b', step('B'))];
      checkEqual(await inCall(subject, work), ['A', 'B'], 'What the steps gave');
      checkEqual(await inCall(subject, work), ['A', 'B'], 'What the steps of another call gave');
      checkEqual(new Set(keys).size, 4, 'How many idempotency keys the four steps were given');
    },
  },
  {
    id: 'R2.5',
    title: 'rejects with the error that a step threw',
    async run(subject) {
      const thrown = new Error('The test makes this step fail');
      const error = await inCall(subject, (run) =>
        checkRejects(
          run.once('step', () => {
            throw thrown;
          }),
          'A step that throws',
        ),
      );
      checkEqual(error instanceof Error && error.message, thrown.message, 'What it rejects with');
    },
  },
  {
    id: 'R3.1',
    title: 'keeps the order of reports, awaited or not',
    async run(subject) {
      const steps = Array.from({ length: 50 }, (_, step) => step);
      await inCall(subject, async (run) => {
        const reports: Promise<void>[] = [];
        for (const step of steps) {
          const report = run.report(subject.notification(step));
          if (step % 7 === 0) await report;
          else reports.push(report);
        }
        await Promise.all(reports);
      });
      await turns(2);
      checkEqual(subject.told(), steps, 'The notifications that reached the client');
    },
  },
  {
    id: 'R3.2',
    title: 'silently drops reports after the run has ended',
    async run(subject) {
      let ended: HandlerRun | undefined;
      await inCall(subject, async (run) => {
        ended = run;
        await run.report(subject.notification(1));
      });
      await turns(2);
      await within(ended?.report(subject.notification(2)) ?? Promise.resolve(), 'A report after the end should settle');
      await turns(2);
      checkEqual(subject.told(), [1], 'The notifications that reached the client');
    },
  },
];
