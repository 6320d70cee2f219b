/** What tasks are called on the wire, in both generations. */

/** The extension of the modern generation. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** `TaskRecord.generation` of tasks of the core's own first generation. */
export const CORE_GENERATION = 'core';

/** `TaskRecord.generation` of tasks of the extension. */
export const EXTENSION_GENERATION = 'extension';

/** The JSON-RPC code of a refusal because a limit was reached: that of HTTP, outside the ranges that JSON-RPC and MCP keep to themselves. */
export const TOO_MANY = 429;
