/** `@mortise/tasks/server`: lets a server run tools as tasks, for clients of 2025-11-25 and with the 2026-07-28 tasks extension. */

import type { TaskContext, TaskToolOptions } from './server/tool-options.ts';

// What programs use.
export { createTasks, type Tasks, type TasksOptions } from './server/create-tasks.ts';
export { createTaskControl, type TaskControl } from './server/task-control.ts';
export type { CreatedTask, CreateTaskOptions, TaskContext, TaskSupport, TaskToolOptions } from './server/tool-options.ts';
export type { TaskLimits } from './engine/task-creator.ts';

declare module '@mortise/protocol/contracts' {
  interface ToolOptions extends TaskToolOptions {}
  interface ContextMembers extends TaskContext {}
}
