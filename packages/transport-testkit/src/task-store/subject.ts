/** The object that the `TaskStore` cases test, and helpers that make task records. */

import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { check } from '../check.ts';
import { HOUR_MS, type KitCase, type TimedSubject } from '../kit-case.ts';

/** The object that the `TaskStore` cases test: an empty store. */
export interface TaskStoreSubject extends TimedSubject {
  readonly store: TaskStore;
  /** For implementations that declare the trait `shared`: another store over the same data, as another machine or process would open it. */
  readonly other?: TaskStore;
  /** For implementations that declare the trait `reopens`: closes `store`, and opens its data as the next process would. */
  reopen?(): Promise<TaskStore>;
}

/** A test case for one guarantee of a `TaskStore`. */
export type TaskStoreCase = KitCase<TaskStoreSubject>;

export type NewRecord = Omit<TaskRecord, 'version'>;

/** The time of creation of the records, in milliseconds since the epoch. Stores do not compare it with their own time. */
export const CREATED_AT_MS: number = 1_700_000_000_000;

export function record(id: string, more: Partial<NewRecord> = {}): NewRecord {
  return {
    id,
    principal: 'issuer|ada',
    generation: 'one',
    status: 'working',
    driver: 'engine',
    resumable: true,
    asks: [],
    createdAtMs: CREATED_AT_MS,
    updatedAtMs: CREATED_AT_MS,
    ttlMs: null,
    ...more,
  };
}

/** Creates a task. @param leaseMs How long it is no orphan. @throws {KitFailure} The store refuses it. */
export async function create(store: TaskStore, id: string, more: Partial<NewRecord> = {}, leaseMs: number = HOUR_MS): Promise<TaskRecord> {
  const created = await store.create(record(id, more), { leaseMs });
  check(created !== undefined, 'A task should be created where no limit is given');
  return created;
}

export async function idsOf(store: TaskStore, limit: number): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list('issuer|ada', { limit, ...(cursor !== undefined && { cursor }) });
    pages.push(page.tasks.map(({ id }) => id));
    cursor = page.nextCursor;
    check(pages.length < 100, 'The pages of a list should come to an end');
  } while (cursor !== undefined);
  return pages;
}

/** Gives 20 stores for concurrent calls: the tested store, alternating with `other` if there is one. */
export function callers(subject: TaskStoreSubject): readonly TaskStore[] {
  return Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? subject.store : (subject.other ?? subject.store)));
}
