/** A slow call becomes a task: its handler goes on as the run of the task. See docs/decisions/task-promotion.md. */

import type { HandlerRun, RunSoFar } from '@mortise/protocol/contracts';
import type { Context } from './context.ts';

/** Lets a handler go on as a task's run. @returns What it did until now; undefined where that cannot be done at the moment. */
export function handOver(context: Context, run: HandlerRun): RunSoFar | undefined {
  const { session, round, server } = context;
  const isBusy = context.openAsks > 0 || round?.isAsking === true;
  if (session || context.taskRun || context.isOver || context.isConcluded || isBusy) return undefined;
  // What the handler gives now is no longer the answer to this request.
  context.isConcluded = true;
  if (context.deadline) server.deadlines.end(context.deadline);
  context.continueIn(run);
  const { done, running } = context.steps;
  return { steps: done, running, answers: round?.answers ?? new Map(), hasLeft: () => context.call.isCancelled };
}
