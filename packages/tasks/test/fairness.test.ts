/** What one caller's tasks leave to the others: workers of the queue, and their turn. */

import { describe, expect, it } from 'vitest';
import { MemoryTaskQueue } from '@mortise/tasks';
import { turns } from '@mortise/transport-testkit';
import { countCpuMs } from '../../../scripts/test/cpu-time.ts';
import { MODERN, RawPeer } from './support/raw-peer.ts';
import { createGate, createTaskServer, type Gate } from './support/task-server.ts';

const open = ({ server }: ReturnType<typeof createTaskServer>, principal: string): Promise<RawPeer> =>
  RawPeer.open(server, { version: MODERN, principal });

describe('[ROBUSTNESS-18] a task that waits for its answer', () => {
  it('frees its worker: the task of another caller runs meanwhile, and after the answer it goes on by itself', async () => {
    const served = createTaskServer({ queue: new MemoryTaskQueue({ maxConcurrent: 2 }) });
    const [ann, bob] = [await open(served, 'ann'), await open(served, 'bob')];
    const asking = [await ann.start('asks'), await ann.start('asks')];
    const waiting = await Promise.all(asking.map(({ taskId }) => ann.until(taskId, ({ status }) => status === 'input_required')));
    const { taskId } = await bob.start('quick');
    expect((await bob.until(taskId, ({ status }) => status !== 'working')).status).toBe('completed');
    // Both workers are busy while the answers come.
    for (const principal of ['carl', 'dora']) await (await open(served, principal)).start('wait');
    for (const task of waiting) {
      const [key = ''] = Object.keys(task.inputRequests);
      await ann.call('tasks/update', { taskId: task.taskId, inputResponses: { [key]: { action: 'accept', content: { name: 'Ann' } } } });
      const { result } = await ann.until(task.taskId, ({ status }) => status === 'completed');
      expect(result.content[0].text).toBe('accept Ann');
    }
    served.gate.open();
    await served.server.close();
  });
});

describe('[ROBUSTNESS-18] a queue with few workers', () => {
  it('keeps one for other callers, however many tasks a caller has', async () => {
    const served = createTaskServer({ queue: new MemoryTaskQueue({ maxConcurrent: 10 }) });
    const [ann, bob] = [await open(served, 'ann'), await open(served, 'bob')];
    const waiting = await Promise.all(Array.from({ length: 100 }, () => ann.start('wait')));
    for (let n = 0; n < 3; n++) {
      const { taskId } = await bob.start('quick');
      expect((await bob.until(taskId, ({ status }) => status !== 'working')).status).toBe('completed');
    }
    served.gate.open();
    for (const { taskId } of waiting) expect((await ann.until(taskId, ({ status }) => status !== 'working')).status).toBe('completed');
    await served.server.close();
  });

  it('starts tasks in the order in which they came, but for those of a caller that has all workers but one', async () => {
    const queue = new MemoryTaskQueue({ maxConcurrent: 3 });
    const gates = new Map<string, Gate>();
    const stop = queue.work((id) => {
      const gate = createGate();
      gates.set(id, gate);
      return gate.opened;
    });
    const end = async (id: string): Promise<readonly string[]> => {
      gates.get(id)?.open();
      await turns(1);
      return [...gates.keys()];
    };
    for (const id of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'a5', 'c1']) await queue.enqueue(id, id[0]);
    // Waiting already.
    await queue.enqueue('a4');
    expect([...gates.keys()]).toEqual(['a1', 'a2', 'b1']);
    expect(await end('a2')).toEqual(['a1', 'a2', 'b1', 'a3']);
    expect(await end('b1')).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
    expect(await end('b2')).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'c1']);
    expect(await end('a1')).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'a4']);
    expect(await end('a3')).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'a4', 'a5']);
    for (const gate of gates.values()) gate.open();
    await stop();
  });

  it('keeps the tasks that it held back while no worker is there', async () => {
    const queue = new MemoryTaskQueue({ maxConcurrent: 2 });
    const gate = createGate();
    const stop = queue.work(() => gate.opened);
    for (let n = 0; n < 5; n++) await queue.enqueue(`a${n}`, 'a');
    const stopped = stop();
    gate.open();
    await stopped;
    const seen: string[] = [];
    const stopNext = queue.work(async (id) => void seen.push(id));
    await turns(5);
    expect(seen).toEqual(['a1', 'a2', 'a3', 'a4']);
    await stopNext();
  });

  it('gives out the tasks of a caller as fast beside 100,000 waiting tasks of another as beside none', async () => {
    const cpuMsBeside = async (count: number): Promise<number> => {
      const queue = new MemoryTaskQueue({ maxConcurrent: 2 });
      const [gate, done] = [createGate(), createGate()];
      let left = 2_000;
      queue.work(async (id) => {
        if (id.startsWith('a')) await gate.opened;
        else if (--left === 0) done.open();
      });
      for (let n = 0; n <= count; n++) void queue.enqueue(`a${n}`, 'a');
      const cpuMs = countCpuMs();
      for (let n = 0; n < 2_000; n++) void queue.enqueue(`b${n}`, 'b');
      await done.opened;
      return cpuMs();
    };
    const alone = await cpuMsBeside(0);
    // A look at each waiting task for each one that is given out would be 200,000,000 looks.
    expect(await cpuMsBeside(100_000)).toBeLessThan(20 * alone + 100);
  });
});
