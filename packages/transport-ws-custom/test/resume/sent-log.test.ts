import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import { MemoryEventStore } from '@mortise/protocol/edge';
import { describe, expect, it } from 'vitest';
import { StoredSentLog } from '../../src/resume/sent-log.ts';

describe('what was sent, kept in an event store', () => {
  it('[ROBUSTNESS-7] remembers a bounded number of messages for a peer that acknowledges nothing', async () => {
    const log = new StoredSentLog(new MemoryEventStore({ maxEventsPerStream: 100_000 }), 'a channel');
    const append = (): void => {
      const message: JsonRpcMessage = { jsonrpc: '2.0', method: `message ${log.count + 1}` };
      log.append(JSON.stringify(message), message);
    };
    while (log.count < 10_000) append();
    expect(await log.after(0)).toBeUndefined();
    const methods = async (count: number): Promise<unknown> =>
      (await log.after(count))?.map((text) => (JSON.parse(text) as { method: string }).method);
    expect(await methods(9_998)).toEqual(['message 9999', 'message 10000']);
    expect([log.acknowledge(1), log.acknowledge(9_999), log.acknowledge(9_999), log.acknowledge(9_998)]).toEqual([true, true, true, false]);
    append();
    expect(await methods(9_999)).toEqual(['message 10000', 'message 10001']);
    expect(log.acknowledge(10_001)).toBe(true);
    expect(await methods(10_001)).toEqual([]);
  });
});
