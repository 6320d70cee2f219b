/** What extensions do in a request: add members to the handler's context, and turn a slow call into a task. */

import type { HandlerFacts, HandlerRun, RunSoFar } from '@mortise/protocol/contracts';
import type { Context } from './context.ts';

/** Adds the members that extensions provide to a handler's context. Getters stay getters. */
export function addExtensionMembers(context: Context): void {
  const { requestId, taskRun: run } = context;
  const facts: HandlerFacts = requestId === undefined && run ? { run, call: undefined } : { run: context, call: context };
  for (const extension of context.server.extensions) {
    const members = extension.context?.(facts);
    if (members) Object.defineProperties(context, Object.getOwnPropertyDescriptors(members));
  }
}

/**
 * Continues a running handler as a task, see docs/decisions/task-promotion.md.
 *
 * @returns What the handler did so far, or undefined if it cannot become a task now.
 */
export function handOver(context: Context, run: HandlerRun): RunSoFar | undefined {
  const { session, round, server } = context;
  const isBusy = context.openAsks > 0 || round?.isAsking === true;
  if (session || context.taskRun || context.isOver || context.isConcluded || isBusy) return undefined;
  // The task is the response now. The handler's own result goes to the task.
  context.isConcluded = true;
  if (context.deadline) server.deadlines.end(context.deadline);
  context.continueIn(run);
  const { done, running } = context.steps;
  return { steps: done, running, answers: round?.answers ?? new Map(), hasLeft: () => context.call.isCancelled };
}
