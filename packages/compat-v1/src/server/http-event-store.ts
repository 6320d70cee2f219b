/** Makes our event store of one that was written for v1. */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { EventStore as OwnStore, StoredEvent } from '@mortise/protocol/contracts';
import type { JSONRPCMessage } from '../types.ts';

export type StreamId = string;
export type EventId = string;

/** Stores the events of streams, so that clients can resume a stream that broke. */
export interface EventStore {
  /** Stores an event. @returns Its id, which must tell which stream it belongs to. */
  storeEvent(streamId: StreamId, message: JSONRPCMessage): Promise<EventId>;
  /** Returns the stream of an event; undefined if the event is unknown. */
  getStreamIdForEventId?(eventId: EventId): Promise<StreamId | undefined>;
  /** Sends the events after the given one, in their order. @returns The stream's id. */
  replayEventsAfter(
    lastEventId: EventId,
    options: { send: (eventId: EventId, message: JSONRPCMessage) => Promise<void> },
  ): Promise<StreamId>;
}

/** An event without data that gives the client an id to resume from. v1 stores an empty object for it. */
const PRIMING = {} as JSONRPCMessage;

/**
 * Returns our store over one of v1. v1's streams have no session: theirs is put into the id of the stream, so that a client cannot replay
 * the events of another session. Events are never deleted, because v1's stores cannot.
 */
export function fromV1EventStore(store: EventStore): OwnStore {
  return {
    append: (sessionId, streamId, message) => store.storeEvent(toKey(sessionId, streamId), (message ?? PRIMING) as JSONRPCMessage),
    replay: async (sessionId, lastEventId) => {
      if (store.getStreamIdForEventId !== undefined) {
        const found = await store.getStreamIdForEventId(lastEventId);
        if (found === undefined || fromKey(sessionId, found) === undefined) return undefined;
      }
      const events: StoredEvent[] = [];
      const send = async (id: EventId, message: JSONRPCMessage): Promise<void> => {
        events.push('jsonrpc' in message ? { id, message: message as JsonRpcMessage } : { id });
      };
      const streamId = fromKey(sessionId, await store.replayEventsAfter(lastEventId, { send }));
      if (streamId === undefined) return undefined;
      // v1's example store mixes up events of one millisecond. A response is the last event of its stream.
      return { streamId, events: events.toSorted((a, b) => Number(isResponse(a)) - Number(isResponse(b))) };
    },
    delete: () => Promise.resolve(),
  };
}

function isResponse({ message }: StoredEvent): boolean {
  return message !== undefined && !('method' in message);
}

/** Stores read the stream's id from an event's id up to the first `_`, as v1's example does: the key has none. */
function toKey(sessionId: string, streamId: string): string {
  return `${streamId}.${encodeURIComponent(sessionId).replaceAll('_', '%5F')}`;
}

function fromKey(sessionId: string, key: string): string | undefined {
  const end = toKey(sessionId, '');
  return key.endsWith(end) ? key.slice(0, -end.length) : undefined;
}
