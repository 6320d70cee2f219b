/** `@mortise/tasks/server`: a server's half of tasks. */

export {};
