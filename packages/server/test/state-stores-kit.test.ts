import { MemoryReplayStore, MemoryStateStore } from '@mortise/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { replayStoreCases } from '@mortise/transport-testkit/replay-store';
import { stateStoreCases } from '@mortise/transport-testkit/state-store';
import { describeKit } from '@mortise/transport-testkit/vitest';

async function create<Store>(open: (clock: FakeClock) => Store) {
  const clock = new FakeClock();
  return { store: open(clock), pass: (ms: number) => clock.advance(ms), close: async () => undefined };
}

describeKit('the memory state store', stateStoreCases, { create: () => create((clock) => new MemoryStateStore({ clock })) });

describeKit('the memory replay store', replayStoreCases, { create: () => create((clock) => new MemoryReplayStore({ clock })) });
