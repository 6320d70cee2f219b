/** `@mortise/transport-testkit/task-store`: test cases for the guarantees K1 to K9 of a `TaskStore`. */

import { bounds } from './task-store/bounds.ts';
import { lifetime } from './task-store/lifetime.ts';
import { records } from './task-store/records.ts';
import { sharing } from './task-store/sharing.ts';
import type { TaskStoreCase } from './task-store/subject.ts';

export type { TaskStoreCase, TaskStoreSubject } from './task-store/subject.ts';

/** Test cases for the guarantees of a `TaskStore`. The id of a case, such as K1.1, begins with the id of its guarantee. */
export const taskStoreCases: readonly TaskStoreCase[] = [...records, ...sharing, ...lifetime, ...bounds];
