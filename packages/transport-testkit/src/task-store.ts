/** `@mortise/transport-testkit/task-store`: the promises K1 to K8 of `TaskStore`. */

import { lifetime } from './task-store/lifetime.ts';
import { records } from './task-store/records.ts';
import { sharing } from './task-store/sharing.ts';
import type { TaskStoreCase } from './task-store/subject.ts';

export type { TaskStoreCase, TaskStoreSubject } from './task-store/subject.ts';

/** The promises of `TaskStore`, with one or more cases each. The id of a case begins with the id of its promise. */
export const taskStoreCases: readonly TaskStoreCase[] = [...records, ...sharing, ...lifetime];
