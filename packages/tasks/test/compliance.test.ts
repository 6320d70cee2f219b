import { MemoryTaskQueue, MemoryTaskStore } from '@mortise/tasks';
import { taskQueueCases } from '@mortise/transport-testkit/task-queue';
import { taskStoreCases } from '@mortise/transport-testkit/task-store';
import { describeKit } from '@mortise/transport-testkit/vitest';

describeKit('the memory task store', taskStoreCases, {
  async create() {
    const store = new MemoryTaskStore();
    return { store, close: () => store.close() };
  },
});

describeKit('the memory task queue', taskQueueCases, {
  async create() {
    const queue = new MemoryTaskQueue({ retryDelayMs: 20 });
    return { queue, close: () => queue.close() };
  },
});
