/**
 * The one seam behind `ctx.elicit`, `ctx.sample`, `ctx.listRoots`, `ctx.once`, `ctx.progress` and `ctx.log`: what a run of a
 * handler can do with the world outside. A legacy session, a modern exchange and a task each implement it.
 *
 * R1  `ask` settles with the client's answer, rejects with its refusal, or rejects with `Suspended` where the answer comes in a
 *     later run.
 * R2  `once` runs `fn` at most once for a key along one chain of runs, and resolves to what it gave each time.
 * R3  `report` keeps the order of notifications, and drops them silently once the run has ended.
 */

import type { JsonObject, JsonRpcNotification, JsonValue } from '@mortise/jsonrpc-core';

/** One question to the client. */
export interface Ask {
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`; an extension may add its own. */
  readonly method: string;
  readonly params?: JsonObject;
  /** The author's name for the question, for handlers whose questions depend on something that may change. */
  readonly key?: string;
  readonly signal?: AbortSignal;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeoutMs?: number;
}

/** One run of a handler. */
export interface HandlerRun {
  readonly signal: AbortSignal;
  ask(ask: Ask): Promise<JsonObject>;
  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T>;
  report(notification: JsonRpcNotification): Promise<void>;
}
