/** Runs of handlers that break one promise each, which the kit must fail by its id. */

import type { JsonObject, JsonRpcNotification, JsonValue } from '@mortise/jsonrpc-core';
import type { Ask, HandlerRun } from '@mortise/protocol/contracts';
import { runCases, setPatience } from '@mortise/transport-testkit';
import { handlerRunCases, type HandlerRunSubject } from '@mortise/transport-testkit/handler-run';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { describe, expect, it } from 'vitest';

type Step = (idempotencyKey: string) => JsonValue | Promise<JsonValue>;

const answerTo = (text: string): JsonObject => ({ answer: text });

function stepOf({ params }: JsonRpcNotification): number {
  return Number((params as JsonObject | undefined)?.['step']);
}

let chains = 0;

/** What outlives one run of a call. */
class Chain {
  readonly id: string = `chain ${++chains}`;
  readonly steps = new Map<string, Promise<JsonValue>>();
  readonly answers = new Map<string, JsonObject>();
  readonly told: number[];

  constructor(told: number[]) {
    this.told = told;
  }
}

/** Waits for its answers. */
class SmallRun implements HandlerRun {
  readonly signal: AbortSignal = new AbortController().signal;
  readonly chain: Chain;
  isOver = false;

  constructor(chain: Chain) {
    this.chain = chain;
  }

  async ask({ params }: Ask): Promise<JsonObject> {
    const text = String(params?.['text']);
    if (text === 'refused') throw new Error('no');
    return await this.answer(text);
  }

  async answer(text: string): Promise<JsonObject> {
    return answerTo(text);
  }

  async once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    const { steps, id } = this.chain;
    const step = steps.get(key) ?? this.begin(fn, `${id} ${key}`);
    steps.set(key, step);
    return structuredClone(await step) as T;
  }

  async begin(fn: Step, idempotencyKey: string): Promise<JsonValue> {
    return await fn(idempotencyKey);
  }

  async report(notification: JsonRpcNotification): Promise<void> {
    if (!this.isOver) this.chain.told.push(stepOf(notification));
  }
}

/** Gets its answers in its next run. */
class SuspendingRun extends SmallRun {
  override async answer(text: string): Promise<JsonObject> {
    const answer = this.chain.answers.get(text);
    if (answer) return answer;
    this.chain.answers.set(text, answerTo(text));
    throw Object.assign(new Error('the answer comes later'), { code: 'ERR_SUSPENDED' });
  }
}

/** A class whose methods need their object, as an implementer's may. */
class Subject implements HandlerRunSubject {
  readonly #create: (chain: Chain) => SmallRun;
  readonly #told: number[] = [];

  constructor(create: (chain: Chain) => SmallRun) {
    this.#create = create;
  }

  async call(handler: (run: HandlerRun) => Promise<void>): Promise<void> {
    const chain = new Chain(this.#told);
    for (let round = 0; round < 10; round++) {
      const asked = chain.answers.size;
      const run = this.#create(chain);
      await handler(run).catch(() => undefined);
      run.isOver = true;
      if (chain.answers.size === asked) return;
    }
  }

  question(text: string): Ask {
    return { method: 'ask', params: { text } };
  }

  answerTo(text: string): JsonObject {
    return answerTo(text);
  }

  refused(): Ask {
    return this.question('refused');
  }

  notification(step: number): JsonRpcNotification {
    return { jsonrpc: '2.0', method: 'notifications/step', params: { step } };
  }

  told(): readonly number[] {
    return this.#told;
  }

  async close(): Promise<void> {
    this.#told.length = 0;
  }
}

describeKit('a small run', handlerRunCases, { create: async () => new Subject((chain) => new SmallRun(chain)) });
describeKit('a small run that suspends', handlerRunCases, {
  create: async () => new Subject((chain) => new SuspendingRun(chain)),
  traits: { suspends: true },
});

class Mixing extends SmallRun {
  #last: string | undefined;
  override async answer(text: string): Promise<JsonObject> {
    return answerTo((this.#last ??= text));
  }
}
class Crossing extends SmallRun {
  #waiting: ((answer: JsonObject) => void)[] = [];
  override async answer(text: string): Promise<JsonObject> {
    const answered = new Promise<JsonObject>((resolve) => this.#waiting.push(resolve));
    await Promise.resolve();
    this.#waiting.pop()?.(answerTo(text));
    return await answered;
  }
}
class Obliging extends SmallRun {
  override async ask({ params }: Ask): Promise<JsonObject> {
    return answerTo(String(params?.['text']));
  }
}
class Hanging extends SmallRun {
  override async ask(ask: Ask): Promise<JsonObject> {
    return await super.ask(ask).catch(() => new Promise<never>(() => undefined));
  }
}
class Waiting extends SuspendingRun {
  override async answer(text: string): Promise<JsonObject> {
    return answerTo(text);
  }
}
class Forgetting extends SmallRun {
  override async once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    return await fn(`${this.chain.id} ${key}`);
  }
}
/** Keeps its steps for one run alone. */
class Restarting extends SuspendingRun {
  constructor(chain: Chain) {
    super(chain);
    chain.steps.clear();
  }
}
class Racing extends SmallRun {
  readonly #done = new Map<string, JsonValue>();
  override async once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    if (!this.#done.has(key)) this.#done.set(key, await fn(`${this.chain.id} ${key}`));
    return structuredClone(this.#done.get(key)) as T;
  }
}
class Sharing extends SmallRun {
  override async once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    const step = this.chain.steps.get(key) ?? this.begin(fn, `${this.chain.id} ${key}`);
    this.chain.steps.set(key, step);
    return (await step) as T;
  }
}
class SameKeys extends SmallRun {
  override async begin(fn: Step): Promise<JsonValue> {
    return await fn('key');
  }
}
class SameChains extends SmallRun {
  override async once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    return await super.once(key, () => fn(key));
  }
}
class Swallowing extends SmallRun {
  override async begin(fn: Step, key: string): Promise<JsonValue> {
    return await super.begin(fn, key).catch(() => null);
  }
}
class Overtaking extends SmallRun {
  override async report(notification: JsonRpcNotification): Promise<void> {
    if (stepOf(notification) % 3 === 1) await new Promise((resolve) => setTimeout(resolve, 0));
    await super.report(notification);
  }
}
class Chatting extends SmallRun {
  override async report(notification: JsonRpcNotification): Promise<void> {
    this.chain.told.push(stepOf(notification));
  }
}
class Complaining extends SmallRun {
  override async report(notification: JsonRpcNotification): Promise<void> {
    if (this.isOver) throw new Error('the run has ended');
    await super.report(notification);
  }
}

describe('the kit of HandlerRun fails', () => {
  it.each([
    { id: 'R1.1', what: 'the first answer for every question', create: (chain: Chain) => new Mixing(chain) },
    { id: 'R1.2', what: 'answers that are crossed', create: (chain: Chain) => new Crossing(chain) },
    { id: 'R1.3', what: 'an answer that nobody gave', create: (chain: Chain) => new Obliging(chain) },
    { id: 'R1.3', what: 'a refusal that hangs', create: (chain: Chain) => new Hanging(chain) },
    { id: 'R1.4', what: 'a wait where it says that it suspends', create: (chain: Chain) => new Waiting(chain) },
    { id: 'R2.1', what: 'steps that run each time', create: (chain: Chain) => new Forgetting(chain) },
    { id: 'R2.1', what: 'steps that run again in the next run', create: (chain: Chain) => new Restarting(chain) },
    { id: 'R2.2', what: 'steps that run twice at once', create: (chain: Chain) => new Racing(chain) },
    { id: 'R2.3', what: 'values that handlers share', create: (chain: Chain) => new Sharing(chain) },
    { id: 'R2.4', what: 'one idempotency key for all', create: (chain: Chain) => new SameKeys(chain) },
    { id: 'R2.4', what: 'idempotency keys that calls share', create: (chain: Chain) => new SameChains(chain) },
    { id: 'R2.5', what: 'errors of steps that are swallowed', create: (chain: Chain) => new Swallowing(chain) },
    { id: 'R3.1', what: 'reports that overtake others', create: (chain: Chain) => new Overtaking(chain) },
    { id: 'R3.2', what: 'reports after the end', create: (chain: Chain) => new Chatting(chain) },
    { id: 'R3.2', what: 'an error for reports after the end', create: (chain: Chain) => new Complaining(chain) },
  ])('$what, by $id', async ({ id, create }) => {
    setPatience(200);
    const results = await runCases(handlerRunCases, { create: async () => new Subject(create), traits: { suspends: true } });
    setPatience(5000);
    expect(results.filter(({ outcome }) => outcome === 'failed').map((result) => result.id)).toContain(id);
  });
});
