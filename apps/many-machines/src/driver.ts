/** Clients that work while machines die, and judge what they were promised. */

import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpClient } from '@mortise/client';
import type { CallToolResult } from '@mortise/protocol';
import type { Tracer } from '@mortise/protocol/contracts';
import { type TaskClient, taskClient } from '@mortise/tasks/client';
import { httpTransport } from '@mortise/transport-http/client';
import { nodeHttpSender } from '@mortise/transport-http/node';
import { uriOf } from './node.ts';
import { ANSWER_KEY, type Balancer, CALL_KEY, type OpenStream, type Passage } from './proxy.ts';

/** A time in which the engine was down, in milliseconds of `performance.now()`. */
export interface Outage {
  readonly fromMs: number;
  toMs: number;
}

/** A call that has ended. */
export interface Sample {
  readonly atMs: number;
  readonly tookMs: number;
  readonly isOk: boolean;
}

export interface DriverOptions {
  readonly url: string;
  readonly balancer: Balancer;
  readonly legacy: number;
  readonly modern: number;
  /** How long each client waits between two calls, in milliseconds. */
  readonly pauseMs: number;
  /** The times in which the engine was down. The caller adds to it. */
  readonly outages: readonly Outage[];
  /** @default nothing is traced */
  readonly tracer?: Tracer | undefined;
  /** By how much all limits of time are longer, on a machine that does other work too. @default 1 */
  readonly patience?: number;
  /** Only calls of `count` to 1 and no changes, to measure what one costs. @default false */
  readonly isPlain?: boolean;
}

interface User {
  readonly name: string;
  readonly uri: string;
  readonly client: McpClient;
  readonly tasks: TaskClient;
  readonly isLegacy: boolean;
  /** When the user heard of a change, or that it must read again. */
  readonly heardMs: number[];
}

/** How long after a death, or the end of an outage, a call may still end. */
const AFTER_DEATH_MS = 10_000;
/** How long a call of this driver takes by itself on a busy machine, in milliseconds. */
const USUAL_MS = 5_000;
const CHANGE_MS = 1_000;
/** How long after a broken stream its user hears that it must read again: the pause before it connects, and the time to find that a machine is dead. */
const REREAD_MS = 15_000;
/** How long tasks may still take when machines live again, in milliseconds. */
const TASKS_MS = 30_000;
const COUNT_TO = 5;

export class Driver {
  readonly samples: Sample[] = [];
  /** Promises that were broken, as sentences. */
  readonly broken: string[] = [];
  readonly counts = {
    calls: 0,
    failedByDeath: 0,
    resumedStreams: 0,
    messages: 0,
    questions: 0,
    tasks: 0,
    tasksNotBegun: 0,
    changes: 0,
    told: 0,
    toldToReadAgain: 0,
  };
  openTasks = 0;
  readonly #ended: EndedCall[] = [];
  // A thousand clients in one process must take little of it. Connections are kept longer than clients pause: Node accepts one in each turn.
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: Infinity });
  readonly #sender = nodeHttpSender({ agent: this.#agent });
  readonly #options: DriverOptions;
  readonly #patience: number;
  readonly #users: User[] = [];
  readonly #answers = new Map<string, string[]>();
  readonly #changes: { readonly uri: string; readonly fromMs: number; readonly toMs: number }[] = [];
  readonly #loops: Promise<void>[] = [];
  readonly #tasks = new Set<Promise<void>>();
  #isStopping = false;
  #next = 0;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#patience = options.patience ?? 1;
  }

  /** Connects all clients, some at a time. */
  async connect(): Promise<void> {
    const { legacy, modern } = this.#options;
    const waiting = Array.from({ length: legacy + modern }, (_, n) => n);
    const connectSome = async (): Promise<void> => {
      for (let n = waiting.shift(); n !== undefined; n = waiting.shift()) this.#users.push(await this.#open(n, n < legacy));
    };
    await Promise.all(Array.from({ length: 8 }, connectSome));
  }

  start(): void {
    this.#loops.push(...this.#users.map((user) => this.#work(user)));
    if (this.#options.isPlain !== true) this.#loops.push(this.#change());
  }

  /** Stops new work, and waits for what is open: calls, tasks, and word of changes. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#loops);
    const limit = sleep(TASKS_MS * this.#patience, undefined, { ref: false }).then(
      () => this.#tasks.size > 0 && this.#break(`${this.#tasks.size} tasks have not ended`),
    );
    await Promise.race([Promise.all(this.#tasks), limit]);
    await this.#untilHeard();
    this.#judgeCalls();
    this.#judgeChanges();
    await Promise.all(this.#users.map(({ client }) => client.close().catch(() => undefined)));
    this.#agent.destroy();
  }

  // ---- users

  async #open(n: number, isLegacy: boolean): Promise<User> {
    const name = `user-${n}`;
    const tasks = taskClient();
    const transport = httpTransport(this.#options.url, { headers: { authorization: `Bearer ${name}` }, sender: this.#sender });
    const client = await McpClient.connect(
      transport,
      { name, version: '1.0.0' },
      {
        era: isLegacy ? 'legacy' : 'modern',
        extensions: [tasks],
        requestTimeoutMs: 90_000,
        tracer: this.#options.tracer,
        onError: () => undefined,
        elicitation: ({ message }) => {
          const [, call = ''] = /(\d+)\?$/.exec(message) ?? [];
          const text = `${ANSWER_KEY}${call} ${crypto.randomUUID()}`;
          this.#answers.set(message, [...(this.#answers.get(message) ?? []), text]);
          return { action: 'accept', content: { text } };
        },
      },
    );
    const user = { name, uri: uriOf(n), client, tasks, isLegacy, heardMs: [] };
    if (this.#options.isPlain !== true) void this.#listen(user);
    return user;
  }

  async #listen({ client, uri, heardMs }: User): Promise<void> {
    while (!this.#isStopping) {
      try {
        // Each loop begins with word that something may have been missed, unless it is the first.
        for await (const event of client.listen({ resourceSubscriptions: [uri] })) {
          const isUpdate = event.method === 'notifications/resources/updated';
          if (isUpdate || event.method === 'notifications/subscriptions/acknowledged') heardMs.push(performance.now());
        }
      } catch {
        // The machine is gone, or the client was closed.
      }
      await sleep(500);
    }
  }

  async #work(user: User): Promise<void> {
    const { pauseMs, isPlain } = this.#options;
    await sleep(Math.random() * pauseMs);
    while (!this.#isStopping) {
      const kind = isPlain === true ? 0 : Math.random();
      if (kind < 0.6) await this.#count(user);
      else if (kind < 0.8) await this.#ask(user);
      else if (kind < 0.9) this.#startTask(user);
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  }

  // ---- calls

  /** A call that sends five messages. Some connections break in the middle: a client of a legacy session goes on at another machine. */
  async #count(user: User): Promise<void> {
    const { isPlain } = this.#options;
    const [to, everyMs] = isPlain === true ? [1, 0] : [COUNT_TO, 100];
    const got: number[] = [];
    const cuts = isPlain !== true && user.isLegacy && Math.random() < 0.2;
    const result = await this.#call(
      user,
      'count',
      { to, everyMs },
      {
        ...(isPlain !== true && { onProgress: ({ progress }: { readonly progress: number }) => void got.push(progress) }),
        ...(cuts && { cut: '1' }),
      },
    );
    this.counts.messages += got.length;
    if (result && cuts) this.counts.resumedStreams++;
    const isRising = got.every((n, index) => index === 0 || n > (got[index - 1] ?? 0));
    const isWhole = got.length === to || isPlain === true;
    if (!isRising || (result && !isWhole))
      this.#break(`${user.name}: messages ${got.join()} of ${to}${result ? '' : ' (the call failed)'}`);
  }

  async #ask(user: User): Promise<void> {
    const id = String(this.#next++);
    const question = `${user.name} ${id}?`;
    const result = await this.#call(user, 'ask', { question }, { id });
    if (!result) return;
    this.counts.questions++;
    this.#checkAnswer(question, textOf(result));
  }

  #checkAnswer(question: string, answer: string): void {
    if (this.#answers.get(question)?.includes(answer) !== true) this.#break(`the answer to "${question}" arrived as "${answer}"`);
    this.#answers.delete(question);
  }

  /** @returns undefined if the call failed, as it may where its machine died. */
  async #call(user: User, tool: string, args: Record<string, string | number>, how: Calling): Promise<CallToolResult | undefined> {
    const { balancer } = this.#options;
    const id = how.id ?? String(this.#next++);
    const fromMs = performance.now();
    let failure: unknown;
    let result: CallToolResult | undefined;
    try {
      result = await user.client.callTool(tool, args, {
        meta: { [CALL_KEY]: how.cut === undefined ? id : `${id} cut` },
        ...(how.onProgress && { onProgress: how.onProgress }),
      });
      if (result.isError === true) failure = new Error(textOf(result));
    } catch (error) {
      failure = error;
    }
    const toMs = performance.now();
    const passages = balancer.passagesOf.get(id) ?? [];
    balancer.passagesOf.delete(id);
    this.samples.push({ atMs: toMs, tookMs: toMs - fromMs, isOk: failure === undefined });
    this.counts.calls++;
    if (failure !== undefined) this.counts.failedByDeath++;
    this.#ended.push({ title: `${user.name} (${user.isLegacy ? 'legacy' : 'modern'}): ${tool}`, fromMs, toMs, passages, failure });
    return failure === undefined ? result : undefined;
  }

  /** Judged at the end, because the death of a machine is seen a moment after its connections broke. */
  #judgeCalls(): void {
    for (const { title, fromMs, toMs, passages, failure } of this.#ended) {
      const excuseMs = Math.max(...passages.map(lastDeath), ...this.#outagesDuring(fromMs, toMs));
      const way = passages.map((passage) => describePassage(passage, fromMs)).join('; ');
      if (failure !== undefined && excuseMs < fromMs)
        this.#break(`${title} failed after ${seconds(toMs - fromMs)}: ${describe(failure)} (${way})`);
      const limitMs = Math.max(fromMs + USUAL_MS * this.#patience, excuseMs + AFTER_DEATH_MS * this.#patience);
      if (toMs > limitMs) this.#break(`${title} took ${seconds(toMs - fromMs)}, ${seconds(toMs - limitMs)} more than it may (${way})`);
    }
  }

  /** When the outages ended that touch this time. */
  #outagesDuring(fromMs: number, toMs: number, afterMs: number = USUAL_MS): number[] {
    // What the engine did last before it went may be seen a moment later.
    return this.#options.outages
      .filter((outage) => outage.fromMs <= toMs && outage.toMs + afterMs * this.#patience >= fromMs)
      .map((outage) => outage.toMs);
  }

  // ---- tasks

  #startTask(user: User): void {
    const task: Promise<void> = this.#task(user).finally(() => {
      this.#tasks.delete(task);
      this.openTasks--;
    });
    this.openTasks++;
    this.#tasks.add(task);
  }

  async #task({ name, tasks }: User): Promise<void> {
    const key = `${name} task ${this.#next++}`;
    let id: string | undefined;
    try {
      ({ id } = await tasks.start('work', { key }));
    } catch {
      this.counts.tasksNotBegun++;
    }
    if (id === undefined) return;
    for (let tries = 1; ; tries++) {
      try {
        const result = await tasks.resumeTask(id).result();
        const { answer, values } = JSON.parse(textOf(result)) as { readonly answer: string; readonly values: readonly string[] };
        this.counts.tasks++;
        this.#checkAnswer(`${key}?`, answer);
        if (values.length !== 3) this.#break(`${key} ended with ${values.length} steps`);
        return;
      } catch (error) {
        if (tries === 60) return this.#break(`${key}: ${describe(error)}`);
        await sleep(1000);
      }
    }
  }

  // ---- changes

  async #change(): Promise<void> {
    for (let n = 0; !this.#isStopping; n++) {
      const [uri, user] = [uriOf(n), this.#users[n % this.#users.length]];
      const fromMs = performance.now();
      if (user && (await this.#call(user, 'change', { uri }, {}))) this.#changes.push({ uri, fromMs, toMs: performance.now() });
      await sleep(250);
    }
  }

  /** The first time at which the user heard of a change. */
  #heard({ heardMs }: User, fromMs: number): number {
    return heardMs.find((ms) => ms >= fromMs) ?? Infinity;
  }

  async #untilHeard(): Promise<void> {
    const isHeard = (): boolean =>
      this.#changes.every(({ uri, fromMs }) => this.#users.every((user) => user.uri !== uri || this.#heard(user, fromMs) < Infinity));
    const limitMs = performance.now() + REREAD_MS * this.#patience;
    while (!isHeard() && performance.now() < limitMs) await sleep(200);
  }

  #judgeChanges(): void {
    for (const { uri, fromMs, toMs } of this.#changes) {
      this.counts.changes++;
      for (const user of this.#users.filter((each) => each.uri === uri)) {
        const heardMs = this.#heard(user, fromMs);
        const isExcused =
          this.#outagesDuring(fromMs, toMs + CHANGE_MS * this.#patience, AFTER_DEATH_MS).length > 0 ||
          !this.#isConnected(user, fromMs, toMs + CHANGE_MS * this.#patience);
        if (heardMs <= toMs + CHANGE_MS * this.#patience) this.counts.told++;
        else if (isExcused && heardMs < Infinity) this.counts.toldToReadAgain++;
        else
          this.#break(
            `${user.name} (${user.isLegacy ? 'legacy' : 'modern'}) heard of a change ${heardMs === Infinity ? 'never' : `after ${seconds(heardMs - toMs)}`}` +
              `${isExcused ? ' (its stream had broken)' : ''}${this.#sinceOutage(fromMs)}`,
          );
      }
    }
  }

  #sinceOutage(ms: number): string {
    const last = this.#options.outages.findLast(({ toMs }) => toMs < ms);
    return last === undefined ? '' : `, ${seconds(ms - last.toMs)} after the engine was back`;
  }

  #isConnected({ name }: User, fromMs: number, toMs: number): boolean {
    const streams: readonly OpenStream[] = this.#options.balancer.streamsOf.get(name) ?? [];
    return streams.some((stream) => stream.fromMs <= fromMs && stream.toMs >= toMs);
  }

  #break(sentence: string): void {
    this.broken.push(sentence);
  }
}

interface EndedCall {
  readonly title: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** The requests that it was made of. */
  readonly passages: readonly Passage[];
  readonly failure: unknown;
}

interface Calling {
  readonly id?: string;
  readonly cut?: string;
  readonly onProgress?: (progress: { readonly progress: number }) => void;
}

/** When a machine died that had a part of a call: for good with the POST that runs it, otherwise as long as the request was open. */
function lastDeath({ method, target: { diedAtMs }, toMs }: Passage): number {
  // A machine is seen to be dead a moment after its connections broke.
  return diedAtMs !== undefined && (method === 'POST' || toMs > diedAtMs - 500) ? diedAtMs : -Infinity;
}

function describePassage({ method, target, fromMs, toMs, status }: Passage, startMs: number): string {
  const end = toMs === Infinity ? 'open' : seconds(toMs - startMs);
  const death = target.diedAtMs === undefined ? '' : `, died at ${seconds(target.diedAtMs - startMs)}`;
  return `${method} ${seconds(fromMs - startMs)} to ${end} at ${target.port}${death}: ${status ?? 'no answer'}`;
}

function textOf({ content }: CallToolResult): string {
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.message} ${String((error as { code?: unknown }).code ?? '')}`.slice(0, 200) : String(error);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
