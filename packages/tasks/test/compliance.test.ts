import type { Clock } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { MemoryTaskQueue, MemoryTaskStore } from '@mortise/tasks';
import { MemoryTaskHandleStore } from '@mortise/tasks/client';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { taskHandleStoreCases } from '@mortise/transport-testkit/task-handle-store';
import { taskQueueCases } from '@mortise/transport-testkit/task-queue';
import { taskStoreCases } from '@mortise/transport-testkit/task-store';
import { setPatience } from '@mortise/transport-testkit';
import { withDelay } from '@mortise/transport-testkit/wrap';
import { describeKit } from '@mortise/transport-testkit/vitest';

// Reached only where something never happens: a busy machine takes its time.
setPatience(60_000);

for (const delayMs of [0, 50]) {
  describeKit(`the memory task store, ${delayMs} ms away`, taskStoreCases, {
    // Ten thousand tasks would take too long from far away.
    traits: { bounded: delayMs === 0, onOneMachine: true },
    async create() {
      const clock = new FakeClock();
      const real = new MemoryTaskStore({ now: () => clock.now() });
      return { store: withDelay(real, delayMs), pass: (ms: number) => clock.advance(ms), close: () => real.close() };
    },
  });
}

for (const maxConcurrent of [Infinity, 2]) {
  describeKit(`the memory task queue, ${maxConcurrent} tasks at once`, taskQueueCases, {
    async create() {
      // What is given out again comes at once.
      const clock: Clock = { ...systemClock, schedule: (fn) => systemClock.schedule(fn, 0) };
      const queue = new MemoryTaskQueue({ clock, maxConcurrent });
      return { queue, close: () => queue.close() };
    },
  });
}

describeKit('the memory store of task ids', taskHandleStoreCases, {
  create: async () => ({ store: new MemoryTaskHandleStore(), close: async () => undefined }),
});
