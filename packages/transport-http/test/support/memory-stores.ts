/** The smallest stores that keep the contracts, with every call recorded and with faults on request. */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { EventStore, SessionPut, SessionRecord, SessionStore, StoredEvent } from '@mortise/protocol/contracts';

interface Logged extends StoredEvent {
  readonly sessionId: string;
  readonly streamId: string;
}

export class TestEventStore implements EventStore {
  readonly events: Logged[] = [];
  readonly deleted: string[] = [];
  /** The messages that cannot be appended. */
  failsOn: ((message: JsonRpcMessage) => boolean) | undefined;

  async append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined): Promise<string> {
    await Promise.resolve();
    if (message !== undefined && this.failsOn?.(message) === true) throw new Error('disk full');
    const id = `${streamId}_${this.events.length}`;
    this.events.push({ sessionId, streamId, id, ...(message === undefined ? {} : { message }) });
    return id;
  }

  async replay(
    sessionId: string,
    lastEventId: string,
  ): Promise<{ readonly streamId: string; readonly events: readonly StoredEvent[] } | undefined> {
    await Promise.resolve();
    const at = this.events.findIndex((event) => event.sessionId === sessionId && event.id === lastEventId);
    const from = this.events[at];
    if (from === undefined) return undefined;
    return {
      streamId: from.streamId,
      events: this.events.slice(at + 1).filter((event) => event.sessionId === sessionId && event.streamId === from.streamId),
    };
  }

  async delete(sessionId: string): Promise<void> {
    await Promise.resolve();
    this.deleted.push(sessionId);
  }
}

export class TestSessionStore implements SessionStore {
  readonly records: Map<string, SessionRecord> = new Map();

  async get(id: string, _ttlMs?: number): Promise<SessionRecord | undefined> {
    await Promise.resolve();
    const record = this.records.get(id);
    return record === undefined ? undefined : structuredClone(record);
  }

  async put(record: Omit<SessionRecord, 'version'>, expectedVersion: number, _ttlMs?: number): Promise<SessionPut> {
    await Promise.resolve();
    const present = this.records.get(record.id);
    if ((present?.version ?? 0) !== expectedVersion) return { isWritten: false, ...(present && { present: structuredClone(present) }) };
    this.records.set(record.id, { ...structuredClone(record), version: expectedVersion + 1 });
    return { isWritten: true };
  }

  async delete(id: string): Promise<void> {
    await Promise.resolve();
    this.records.delete(id);
  }
}
