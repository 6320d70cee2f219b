import { MemoryReplayStore, MemoryStateStore } from '@mortise/server';
import { replayStoreCases } from '@mortise/transport-testkit/replay-store';
import { stateStoreCases } from '@mortise/transport-testkit/state-store';
import { describeKit } from '@mortise/transport-testkit/vitest';

const close = async (): Promise<void> => undefined;

describeKit('the memory state store', stateStoreCases, { create: async () => ({ store: new MemoryStateStore(), close }) });

describeKit('the memory replay store', replayStoreCases, { create: async () => ({ store: new MemoryReplayStore(), close }) });
