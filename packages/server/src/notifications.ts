/** Who is told which notification from clients. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Era } from '@mortise/protocol';
import type { ExtensionCall } from '@mortise/protocol/contracts';

/** What handles a notification. */
export interface NotificationEntry {
  readonly eras: readonly Era[] | undefined;
  readonly run: (params: JsonObject, call: ExtensionCall) => void | Promise<void>;
}

/** Handlers by method; the program's own first. */
export interface NotificationHandlers {
  /** Replaces the program's handler of a method; extensions' stay. */
  set(method: string, entry: NotificationEntry): void;
  delete(method: string): void;
  add(method: string, entry: NotificationEntry): void;
  find(method: string, era: Era): readonly NotificationEntry[];
}

export function createNotificationHandlers(): NotificationHandlers {
  const own = new Map<string, NotificationEntry>();
  const added = new Map<string, NotificationEntry[]>();
  return {
    set: (method, entry) => void own.set(method, entry),
    delete: (method) => void own.delete(method),
    add: (method, entry) => void added.set(method, [...(added.get(method) ?? []), entry]),
    find(method, era) {
      const first = own.get(method);
      const others = (added.get(method) ?? []).filter((entry) => entry.eras?.includes(era) ?? true);
      return first ? [first, ...others] : others;
    },
  };
}
