/** What differs each time that a session is played: states, cursors, ids and times that the server chooses. */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';

/** Values that the server chooses, and that the client sends back. */
const SENT_BACK: ReadonlySet<string> = new Set(['requestState', 'nextCursor', 'taskId', 'elicitationId']);
/** Members that are not compared. */
const NOT_COMPARED: ReadonlySet<string> = new Set([...SENT_BACK, 'id', '_meta', 'createdAt', 'lastUpdatedAt']);

/** The values of a live session, by those of the recording in whose place they stand. */
export class VolatileValues {
  readonly #live = new Map<string, unknown>();

  /** Learns from the two answers to one request. */
  learn(recorded: unknown, live: unknown): void {
    for (const [key, value] of Object.entries(Object(recorded) as object)) {
      const other = (Object(live) as Readonly<Record<string, unknown>>)[key];
      if (typeof value === 'object') this.learn(value, other);
      else if (SENT_BACK.has(key) && typeof value === 'string' && typeof other === 'string') this.#live.set(value, other);
    }
  }

  toLive(text: string): unknown {
    return this.#live.get(text) ?? text;
  }
}

/** A message of the recorded client, as the live server must get it. */
export const substitute = (message: JsonRpcMessage, values: VolatileValues): JsonRpcMessage =>
  JSON.parse(JSON.stringify(message), (_key, value: unknown) =>
    typeof value === 'string' ? values.toLive(value) : value,
  ) as JsonRpcMessage;

/** An answer, or the params of a request, without what differs each time. */
export const toComparable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? {}, (key, member: unknown) => (NOT_COMPARED.has(key) ? undefined : member)));
