/** `ctx.once`: each step runs once along one chain of runs, and its value is kept. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { AskError, Suspended } from '../errors.ts';

/** The value of a step as it is kept; without an item for a step that gave nothing. */
export type StepValue = readonly [] | readonly [JsonValue];

type StepFn<T> = (idempotencyKey: string) => T | Promise<T>;

/** The steps of one chain. A step that failed did not happen: it may be tried again. */
export class Steps {
  readonly #done: Map<string, StepValue>;
  readonly #running = new Map<string, Promise<StepValue>>();
  #chainId: string | undefined;
  #isClosed = false;

  /** @param done What ran in earlier rounds. */
  constructor(chainId?: string, done: Iterable<readonly [string, StepValue]> = []) {
    this.#chainId = chainId;
    this.#done = new Map(done);
  }

  /** The same in each round of a chain, and in no other chain. */
  get chainId(): string {
    return (this.#chainId ??= crypto.randomUUID());
  }

  get done(): ReadonlyMap<string, StepValue> {
    return this.#done;
  }

  async once<T extends JsonValue>(key: string, fn: StepFn<T>): Promise<T> {
    const value = this.#done.get(key) ?? (await (this.#running.get(key) ?? this.#start(key, fn)));
    // A copy: what the handler does to its value must not change what later rounds get.
    return structuredClone(value[0]) as T;
  }

  /** Those that have not ended. */
  get running(): ReadonlyMap<string, Promise<StepValue>> {
    return this.#running;
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** Resolves when no step runs, those included that begin meanwhile. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values());
  }

  /** From now on no step begins, for it could not be remembered. */
  close(): void {
    this.#isClosed = true;
  }

  #start(key: string, fn: StepFn<JsonValue>): Promise<StepValue> {
    if (this.#isClosed) return Promise.reject(new Suspended(`Step "${key}" did not begin: this round is over, it begins in the next`));
    // Begins a turn later, when it counts as running.
    const running = Promise.resolve()
      .then(() => this.#run(key, fn))
      .finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }

  async #run(key: string, fn: StepFn<JsonValue>): Promise<StepValue> {
    const value: unknown = await fn(`${this.chainId}:${key}`);
    const kept = toKept(key, value);
    this.#done.set(key, kept);
    return kept;
  }
}

/** The value as JSON has it, in the first round too, so that a handler sees the same in each. */
function toKept(key: string, value: unknown): StepValue {
  if (value === undefined) return [];
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text !== undefined) return [JSON.parse(text) as JsonValue];
  } catch (cause) {
    throw new AskError('ERR_INVALID_STEP', `Step "${key}" ran, but what it gave cannot be kept: ctx.once needs a value that JSON has`, {
      cause,
    });
  }
  throw new AskError('ERR_INVALID_STEP', `Step "${key}" ran, but gave a ${typeof value}: ctx.once needs a value that JSON has`);
}
