import type { Clock } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { MemoryTaskQueue, MemoryTaskStore } from '@mortise/tasks';
import { MemoryTaskHandleStore } from '@mortise/tasks/client';
import { taskHandleStoreCases } from '@mortise/transport-testkit/task-handle-store';
import { taskQueueCases } from '@mortise/transport-testkit/task-queue';
import { taskStoreCases } from '@mortise/transport-testkit/task-store';
import { setPatience } from '@mortise/transport-testkit';
import { describeKit } from '@mortise/transport-testkit/vitest';

// Reached only where something never happens: a busy machine takes its time.
setPatience(60_000);

describeKit('the memory task store', taskStoreCases, {
  traits: { bounded: true },
  async create() {
    const store = new MemoryTaskStore();
    return { store, close: () => store.close() };
  },
});

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
