// `node --import` this: a program's imports of the official SDK's version 1 lead to `@mortise/compat-v1`, as the codemod writes them.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Hooks run in a thread of their own, which loads this file again.
if (isMainThread) register(import.meta.url);

export function resolve(specifier, context, next) {
  return next(specifier.replace(/^@modelcontextprotocol\/sdk\//, '@mortise/compat-v1/'), context);
}
