/** Who is told of the server's notifications, and of what goes wrong beside any request. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';

/** Told the params of a notification. One that is async may fail later, which is reported. */
export type NotificationHandler = (params: JsonObject) => unknown;

export class Listeners {
  readonly #report: (error: unknown) => void;
  readonly #handlers = new Map<string, Set<NotificationHandler>>();
  readonly #watchers = new Set<(notification: JsonRpcNotification) => unknown>();

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  /** @returns Ends it. */
  on(method: string, handler: NotificationHandler): () => void {
    const handlers = this.#handlers.get(method) ?? new Set();
    this.#handlers.set(method, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  /** @returns Ends it. */
  onAny(handler: (notification: JsonRpcNotification) => unknown): () => void {
    this.#watchers.add(handler);
    return () => void this.#watchers.delete(handler);
  }

  tell(notification: JsonRpcNotification): void {
    for (const watcher of this.#watchers) this.#attempt(() => watcher(notification));
    const handlers = this.#handlers.get(notification.method);
    if (handlers) for (const handler of [...handlers]) this.#attempt(() => handler(notification.params ?? {}));
  }

  /** Runs a callback of the program. One that is async may fail later, which must not go unhandled. */
  #attempt(fn: () => unknown): void {
    try {
      const outcome = fn();
      if (outcome instanceof Promise) outcome.catch((error: unknown) => this.#report(error));
    } catch (error) {
      this.#report(error);
    }
  }
}
