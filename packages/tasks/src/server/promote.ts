/** Slow calls become tasks: the handler that runs already goes on as the task's run. See docs/decisions/task-promotion.md. */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import { toError } from '@mortise/jsonrpc-core/transport';
import type { ExtensionCall, NextCall } from '@mortise/protocol/contracts';
import type { NewTask } from '../engine/task-creator.ts';
import type { TaskEngine } from '../engine/task-engine.ts';
import type { TaskRun } from '../engine/task-run.ts';
import { TaskCancelledError } from '../errors.ts';
import { toCreated, toFailure, toOutcome } from '../wire.ts';

/** How a call is promoted. */
export interface PromoteOptions {
  readonly engine: TaskEngine;
  readonly clock: Clock;
  readonly task: NewTask;
  readonly promoteAfterMs: number;
  readonly onPromoted: (run: TaskRun) => void;
}

/** Runs a call; where it takes long it is answered by a task. */
export async function promote(call: ExtensionCall, next: NextCall, options: PromoteOptions): Promise<JsonObject> {
  const { clock, promoteAfterMs } = options;
  let isSettled = false;
  const outcome = next().finally(() => (isSettled = true));
  outcome.catch(() => undefined);
  const late = new Promise<'late'>((resolve) => {
    const timer = clock.schedule(() => resolve('late'), promoteAfterMs, { keepAlive: true });
    outcome.catch(() => undefined).finally(() => timer.cancel());
  });
  if ((await Promise.race([outcome, late])) !== 'late') return outcome;
  return (await toTask(call, outcome, () => isSettled, options)) ?? outcome;
}

/** @returns undefined where the call stays an ordinary one. */
async function toTask(
  call: ExtensionCall,
  outcome: Promise<JsonObject>,
  isSettled: () => boolean,
  options: PromoteOptions,
): Promise<JsonObject | undefined> {
  const { engine, task, onPromoted } = options;
  // A question whose answer the client gave before, and which is only being read, is no reason to stay: another one ends the call.
  await Promise.race([call.asking, outcome.catch(() => undefined)]);
  if (isSettled()) return undefined;
  let run: TaskRun;
  try {
    run = await engine.adopt(task);
  } catch {
    // Too many tasks, or no store: the caller waits as in any call.
    return undefined;
  }
  const isOver = isSettled() || call.signal.aborted;
  const soFar = isOver ? undefined : call.detach?.(run);
  if (!soFar) {
    const mayLater = !isOver && call.asking !== undefined;
    await engine.discard(run);
    return mayLater ? toTask(call, outcome, isSettled, options) : undefined;
  }
  onPromoted(run);
  outcome.then(
    (result) => engine.finish(run, toOutcome(task.generation, result)),
    (error: unknown) => engine.finish(run, toFailure(error)),
  );
  try {
    await run.takeUp(soFar);
    if (soFar.hasLeft()) throw new TaskCancelledError('The caller left before it knew of the task');
    return toCreated(run.record);
  } catch (error) {
    // Its id is told to nobody: neither it nor its work may go on.
    run.abort(toError(error));
    await engine.discard(run);
    throw error;
  }
}
