/** Turns a slow tool call into a task while its handler keeps running. See docs/decisions/task-promotion.md. */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import { toError } from '@mortise/jsonrpc-core/transport';
import type { ExtensionCall, NextCall, RunSoFar } from '@mortise/protocol/contracts';
import type { NewTask } from '../engine/task-creator.ts';
import type { TaskEngine } from '../engine/task-engine.ts';
import type { TaskRun } from '../engine/task-run.ts';
import { TaskError } from '../errors.ts';
import { toCreated, toOutcome } from '../wire.ts';

/** How long to wait, in ms, before trying again to make a call a task. The handler must first read the answers sent with the request. */
const RETRY_MS = 250;

/** The options of `promote`: the task that a slow tool call becomes, and when it becomes one. */
export interface PromoteOptions {
  readonly engine: TaskEngine;
  readonly clock: Clock;
  readonly task: NewTask;
  readonly promoteAfterMs: number;
  readonly onPromoted: (run: TaskRun) => void;
}

/** Runs a tool call and returns its result, or a task if the call takes longer than `promoteAfterMs`. */
export async function promote(call: ExtensionCall, next: NextCall, options: PromoteOptions): Promise<JsonObject> {
  const { engine, clock, task, promoteAfterMs } = options;
  const handler = { isDone: false };
  const outcome = next().finally(() => (handler.isDone = true));
  for (let waitMs = promoteAfterMs; ; waitMs = RETRY_MS) {
    await settledWithin(outcome, waitMs, clock);
    if (handler.isDone || call.signal.aborted) return outcome;
    let run: TaskRun;
    try {
      run = await engine.adopt(task);
    } catch {
      // The task could not be created, so this stays an ordinary call.
      return outcome;
    }
    const soFar = handler.isDone || call.signal.aborted ? undefined : call.detach?.(run);
    if (soFar) return goOnAsTask(run, soFar, outcome, options);
    await engine.discard(run);
  }
}

async function goOnAsTask(
  run: TaskRun,
  soFar: RunSoFar,
  outcome: Promise<JsonObject>,
  { engine, task, onPromoted }: PromoteOptions,
): Promise<JsonObject> {
  onPromoted(run);
  void engine.finish(
    run,
    outcome.then((result) => toOutcome(task.generation, result)),
  );
  try {
    await run.takeUp(soFar);
    if (soFar.hasLeft()) throw new TaskError('ERR_TASK_CANCELLED', 'The caller disconnected before it got the task id');
    return toCreated(run.record);
  } catch (error) {
    // No caller gets the task's id, so the task and its handler must stop.
    run.abort(toError(error));
    await engine.discard(run);
    throw error;
  }
}

function settledWithin(promise: Promise<unknown>, delayMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.schedule(resolve, delayMs, { keepAlive: true });
    const onSettled = (): void => {
      timer.cancel();
      resolve();
    };
    promise.then(onSettled, onSettled);
  });
}
