import { describe, expect, it } from 'vitest';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { MemoryReplayStore } from '../../src/server/memory-replay-store.ts';
import { replayStoreCases } from '@mortise/transport-testkit/replay-store';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { describeKit } from '@mortise/transport-testkit/vitest';

const close = async (): Promise<void> => undefined;

describeKit('the memory replay store', replayStoreCases, { create: async () => ({ store: new MemoryReplayStore(systemClock), close }) });

describe('MemoryReplayStore', () => {
  it('lets nothing new be claimed when it is full, until something expires', async () => {
    const clock = new FakeClock();
    const store = new MemoryReplayStore(clock, 2);
    expect([await store.claim('a', clock.now() + 60_000), await store.claim('b', clock.now() + 10)]).toEqual([true, true]);
    expect(await store.claim('c', clock.now() + 10)).toBe(false);
    clock.advance(1_000);
    expect([await store.claim('c', clock.now() + 10), await store.claim('a', clock.now() + 10)]).toEqual([true, false]);
  });
});
