/** `@mortise/transport-testkit/task-store`: the promises K1 to K8 of `TaskStore`. */

import { lifetime } from './task-store/lifetime.ts';
import { records } from './task-store/records.ts';
import { sharing } from './task-store/sharing.ts';
import type { TaskStoreCase } from './task-store/subject.ts';

export type { TaskStoreCase, TaskStoreSubject } from './task-store/subject.ts';

/** The promises of `TaskStore`, a case or more each: the id of a case begins with that of its promise. */
export const taskStoreCases: readonly TaskStoreCase[] = [...records, ...sharing, ...lifetime];
