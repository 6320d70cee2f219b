/** What a side with a task store declares. */

/** Declares every method of tasks for a side that has a task store: it serves them all, and v1 serves them undeclared. */
export function withTaskMethods<C extends { tasks?: object | undefined }>(
  capabilities: C,
  options: { taskStore?: unknown } | undefined,
): C {
  const { tasks } = capabilities;
  return options?.taskStore && tasks ? { ...capabilities, tasks: { list: {}, cancel: {}, ...tasks } } : capabilities;
}
