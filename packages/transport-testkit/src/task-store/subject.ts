/** The object that the `TaskStore` cases test, and helpers that make task records. */

import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { check } from '../check.ts';
import type { KitCase, KitSubject } from '../kit-case.ts';

/** The object that the `TaskStore` cases test: an empty store. */
export interface TaskStoreSubject extends KitSubject {
  readonly store: TaskStore;
  /** For implementations that declare the trait `shared`: another store over the same data, as another machine or process would open it. */
  readonly other?: TaskStore;
  /** Gives the current time of the store's clock, in milliseconds since the epoch. @default Date.now */
  now?(): number;
}

/** A test case for one guarantee of a `TaskStore`. */
export type TaskStoreCase = KitCase<TaskStoreSubject>;

export type NewRecord = Omit<TaskRecord, 'version'>;

export const HOUR_MS: number = 3_600_000;

export function nowOf(subject: TaskStoreSubject): number {
  return subject.now?.() ?? Date.now();
}

export function record(subject: TaskStoreSubject, id: string, more: Partial<NewRecord> = {}): NewRecord {
  const now = nowOf(subject);
  return {
    id,
    principal: 'issuer|ada',
    generation: 'one',
    status: 'working',
    driver: 'engine',
    resumable: true,
    asks: [],
    createdAtMs: now,
    updatedAtMs: now,
    ttlMs: null,
    expiresAtMs: null,
    ...more,
  };
}

/** Makes a task record that has already expired by the store's clock. */
export function expired(subject: TaskStoreSubject, id: string, more: Partial<NewRecord> = {}): NewRecord {
  const now = nowOf(subject);
  return record(subject, id, { createdAtMs: now - 2 * HOUR_MS, ttlMs: HOUR_MS, expiresAtMs: now - HOUR_MS, ...more });
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
