/** Two processes over one SQLite file: the file itself counts leases and runs. */

import { setTimeout as sleep } from 'node:timers/promises';
import { McpClient } from '@mortise/client';
import { type TaskClient, taskClient } from '@mortise/tasks/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { expect, it, onTestFinished } from 'vitest';
import { type CrashSite, prepareCrashSite, randomFrom } from './crashing-process.ts';

const STEPS = 4;

interface Worker {
  readonly client: McpClient;
  readonly tasks: TaskClient;
  /** Of the process; never undefined once it is connected. */
  readonly pid: number;
}

/** @param mayDecline Called for each question of the server, which is declined once the returned promise resolves. */
async function startWorker(site: CrashSite, stepMs: number, leaseMs?: number, mayDecline?: () => Promise<void>): Promise<Worker> {
  const transport = stdioTransport({ command: site.command, args: [...site.args(stepMs, leaseMs)], stderr: 'ignore' });
  const tasks = taskClient();
  const elicitation = async (): Promise<{ action: 'decline' }> => {
    await mayDecline?.();
    return { action: 'decline' };
  };
  const info = { name: 'two-processes', version: '1.0.0' };
  const client = await McpClient.connect(transport, info, { era: 'modern', extensions: [tasks], elicitation });
  const { pid } = transport;
  if (pid === undefined) throw new Error('a process that answers has an id');
  return { client, tasks, pid };
}

/** Starts tasks at each worker in turn, and waits for every result. @param from The number of the first task. */
async function runTasks(workers: readonly Worker[], count: number, from = 0): Promise<void> {
  const calls = Array.from({ length: count }, async (_, index) => {
    const n = from + index;
    const task = await workers[n % workers.length]?.tasks.start('work', { n, steps: STEPS });
    const { structuredContent } = (await task?.result()) ?? {};
    expect(structuredContent).toEqual({ n, values: Array.from({ length: STEPS }, (_value, step) => n * 100 + step) });
  });
  await Promise.all(calls);
}

it('never runs a task twice at once where two processes share a file', async () => {
  const site = await prepareCrashSite();
  onTestFinished(() => site.remove());
  // Leases that no busy machine lets lapse: what is seen twice was given twice.
  const workers = await Promise.all([startWorker(site, 15, 30_000), startWorker(site, 15, 30_000)]);
  await runTasks(workers, 120);
  await Promise.all(workers.map(({ client }) => client.close()));
  const audit = await site.audit();
  expect(audit.faults).toEqual([]);
  // Both took part, each task ran once, and no two runs of one were ever alive together.
  expect(audit.leases[0].owners).toBe(2);
  expect(audit.running[0]).toEqual({ most: 1, tasks: 120 });
  expect(audit.endings.map(({ count }) => count)).toEqual(Array.from({ length: 120 }, () => 1));
  expect((await site.log()).filter((line) => line.startsWith('run ')).length).toBe(120 * STEPS);
}, 400_000);

it('gives a lease on only when it has ended, also where a process is stopped for longer than its leases last', async () => {
  const seed = Number(process.env['MORTISE_SEED'] ?? 1);
  const random = randomFrom(seed);
  const site = await prepareCrashSite();
  onTestFinished(() => site.remove());
  const workers = await Promise.all([startWorker(site, 60), startWorker(site, 60)]);
  const [healthy, stopped] = workers;
  if (!healthy || !stopped) throw new Error('there are two workers');
  let isDone = false;
  let tasks = 0;
  // Until some task changed hands: more leases were taken than there are tasks.
  const runUntilHandedOver = async (): Promise<void> => {
    do {
      await runTasks([healthy], 80, tasks);
      tasks += 80;
    } while ((await site.audit()).leases[0].count <= tasks);
  };
  const all = runUntilHandedOver().finally(() => {
    isDone = true;
  });
  all.catch(() => undefined);
  let pauses = 0;
  while (!isDone) {
    await sleep(100 + random() * 200);
    process.kill(stopped.pid, 'SIGSTOP');
    await sleep(300 + random() * 300);
    process.kill(stopped.pid, 'SIGCONT');
    pauses++;
  }
  await all;
  await Promise.all(workers.map(({ client }) => client.close()));
  const audit = await site.audit();
  expect(audit.faults).toEqual([]);
  expect(audit.endings.map(({ count }) => count)).toEqual(Array.from({ length: tasks }, () => 1));
  expect(audit.tasks.map(({ status }) => status)).toEqual(Array.from({ length: tasks }, () => 'completed'));
  console.log(`seed ${seed}: ${pauses} pauses, ${audit.leases[0].count} leases of ${tasks} tasks`);
}, 400_000);

it('[ROBUSTNESS-18] runs a task while more tasks wait for their answers than a process runs at once', async () => {
  const site = await prepareCrashSite();
  onTestFinished(() => site.remove());
  let asked = 0;
  let onAllAsked = (): void => undefined;
  let decline = (): void => undefined;
  const allAsked = new Promise<void>((resolve) => (onAllAsked = resolve));
  const mayDecline = new Promise<void>((resolve) => (decline = resolve));
  const worker = await startWorker(site, 15, 30_000, () => {
    if (++asked === 20) onAllAsked();
    return mayDecline;
  });
  const asking = Array.from({ length: 20 }, async () => (await worker.tasks.start('ask')).result());
  await allAsked;
  await runTasks([worker], 1);
  decline();
  for (const { content } of await Promise.all(asking)) expect(content).toEqual([{ type: 'text', text: 'decline' }]);
  await worker.client.close();
  expect((await site.audit()).faults).toEqual([]);
}, 400_000);
