/** `@mortise/tasks/client`: a client's half of tasks. */

export {};
