/** What extensions do with a request: they add members to the context of its handler, and turn a slow call into a task. */

import type { HandlerFacts, HandlerRun, RunSoFar } from '@mortise/protocol/contracts';
import type { Context } from './context.ts';

/** Adds the members of extensions to a context. Their getters stay getters. */
export function addExtensionMembers(context: Context): void {
  const { requestId, taskRun: run } = context;
  const facts: HandlerFacts = requestId === undefined && run ? { run, call: undefined } : { run: context, call: context };
  for (const extension of context.server.extensions) {
    const members = extension.context?.(facts);
    if (members) Object.defineProperties(context, Object.getOwnPropertyDescriptors(members));
  }
}

/** Lets a handler go on as the run of a task, see docs/decisions/task-promotion.md. @returns What it did until now; undefined where that cannot be done at the moment. */
export function handOver(context: Context, run: HandlerRun): RunSoFar | undefined {
  const { session, round, server } = context;
  const isBusy = context.openAsks > 0 || round?.isAsking === true;
  if (session || context.taskRun || context.isOver || context.isConcluded || isBusy) return undefined;
  // The task is the response now, and not what the handler gives.
  context.isConcluded = true;
  if (context.deadline) server.deadlines.end(context.deadline);
  context.continueIn(run);
  const { done, running } = context.steps;
  return { steps: done, running, answers: round?.answers ?? new Map(), hasLeft: () => context.call.isCancelled };
}
