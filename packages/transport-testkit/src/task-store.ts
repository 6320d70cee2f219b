/** `@mortise/transport-testkit/task-store`: test cases for the guarantees K1 to K9 of a `TaskStore`. */

import { bounds } from './task-store/bounds.ts';
import { lifetime } from './task-store/lifetime.ts';
import { records } from './task-store/records.ts';
import { sharing } from './task-store/sharing.ts';
import type { TaskStoreCase } from './task-store/subject.ts';

export type { TaskStoreCase, TaskStoreSubject } from './task-store/subject.ts';

/**
 * Test cases for the guarantees of a `TaskStore`. The id of a case, such as K1.1, begins with the id of its guarantee.
 *
 * Traits that add cases: `reopens` (the subject has `reopen`), `shared` (it has `other`), `bounded` (the store has exactly the bounds of K9),
 * and `onOneMachine` (also those for all principals). With `shared`, cases of concurrent calls use both stores: leave it out for a store
 * that one process alone may use.
 */
export const taskStoreCases: readonly TaskStoreCase[] = [...records, ...sharing, ...lifetime, ...bounds];
