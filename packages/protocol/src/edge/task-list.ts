/** What the task stores of several engines have in common: how much they keep, when a task has ended, and the cursors of lists. */

import type { TaskRecord } from '../contracts/task-store.ts';

/** The limits of one principal's tasks (`each`) and of all tasks: guarantee K9 of `TaskStore`. */
export const TASK_BOUNDS: Readonly<Record<'each' | 'all', { readonly maxEnded: number; readonly maxCharacters: number }>> = {
  each: { maxEnded: 10_000, maxCharacters: 32 * 2 ** 20 },
  all: { maxEnded: 50_000, maxCharacters: 128 * 2 ** 20 },
};

/** Tells whether a task has ended: it is completed, failed or cancelled. */
export function isEnded({ status }: Partial<Pick<TaskRecord, 'status'>>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** The place of a task in a list, which is ordered by creation, then id. */
type TaskPlace = Pick<TaskRecord, 'createdAtMs' | 'id'>;

/** Makes the cursor of the page that begins after a task. */
export function toTaskCursor({ createdAtMs, id }: TaskPlace): string {
  return `${createdAtMs} ${id}`;
}

/** Reads after which task a page begins; undefined for the first page. @throws {RangeError} The cursor is not from `toTaskCursor`. */
export function readTaskCursor(cursor: string | undefined): TaskPlace | undefined {
  if (cursor === undefined) return undefined;
  const at = cursor.indexOf(' ');
  const createdAtMs = Number(cursor.slice(0, at));
  if (at <= 0 || !Number.isFinite(createdAtMs)) throw new RangeError('invalid cursor: it is not from this task store');
  return { createdAtMs, id: cursor.slice(at + 1) };
}
