/** The states of a task and the ways between them, as data. */

import type { TaskAsk, TaskStatus } from '@mortise/protocol/contracts';

/**
 * Where a task may go from each state.
 *
 * @see 2025-11-25 basic/utilities/tasks#task-status-lifecycle
 */
export const TRANSITIONS: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  working: ['input_required', 'completed', 'failed', 'cancelled'],
  input_required: ['working', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

/** The states of tasks that go on. */
export const OPEN: readonly TaskStatus[] = ['working', 'input_required'];

/** Whether a state is final. */
export function isEnded(status: TaskStatus): boolean {
  return TRANSITIONS[status].length === 0;
}

/** Whether a task may go from one state to another; staying is no transition and always allowed while it goes on. */
export function canMove(from: TaskStatus, to: TaskStatus): boolean {
  return TRANSITIONS[from].includes(to) || (from === to && !isEnded(from));
}

/** Whether a question waits for its answer. */
export function isOutstanding(ask: TaskAsk): boolean {
  return ask.answer === undefined && ask.error === undefined && ask.isWithdrawn !== true;
}

/** The state that the questions of an unfinished task put it into. */
export function statusOf(asks: readonly TaskAsk[]): TaskStatus {
  return asks.some(isOutstanding) ? 'input_required' : 'working';
}
