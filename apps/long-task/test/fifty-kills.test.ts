/** 200 tasks with steps in a process that is killed fifty times, at moments that a printed seed decides. */

import { setTimeout as sleep } from 'node:timers/promises';
import { McpClient } from '@mortise/client';
import type { CallToolResult } from '@mortise/protocol';
import { MemoryTaskHandleStore, type TaskClient, taskClient } from '@mortise/tasks/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { expect, it, onTestFinished } from 'vitest';
import { prepareCrashSite, randomFrom } from './crashing-process.ts';

const TASKS = 200;
const STEPS = 5;
const KILLS = 50;
const STEP_MS = 150;

const info = { name: 'crash-test', version: '1.0.0' };

/** One life of the server, and the client that sees it. */
interface Life {
  readonly tasks: TaskClient;
  readonly connected: Promise<McpClient>;
  pid(): number | undefined;
}

function tell(told: Map<string, CallToolResult[]>, id: string, result: CallToolResult): void {
  told.set(id, [...(told.get(id) ?? []), result]);
}

it('brings 200 tasks over fifty kills to their ends: no recorded step runs twice, no result is lost, none is told twice', async () => {
  const seed = Number(process.env['MORTISE_SEED'] ?? 1);
  const random = randomFrom(seed);
  const site = await prepareCrashSite();
  onTestFinished(() => site.remove());

  const store = new MemoryTaskHandleStore();
  const told = new Map<string, CallToolResult[]>();
  const open = async (): Promise<Life> => {
    const transport = stdioTransport({ command: site.command, args: [...site.args(STEP_MS)], stderr: 'ignore' });
    // Each life of the server has a client of its own too, which knows of the tasks what the store has kept.
    const tasks = taskClient({ handles: { store, server: 'crashing' } });
    const connected = McpClient.connect(transport, info, { era: 'modern', restart: false, extensions: [tasks] });
    connected.catch(() => undefined);
    return { tasks, connected, pid: () => transport.pid };
  };

  const openedAtMs = Date.now();
  const first = await open();
  const client = await first.connected;
  // Some die while they start and some at work, on slow machines too; one start that took many seconds does not make fifty lives as long.
  const longestMs = Math.min(6_000, Math.max(900, 3 * (Date.now() - openedAtMs)));
  const started = await Promise.all(Array.from({ length: TASKS }, (_, n) => first.tasks.start('work', { n, steps: STEPS })));
  const ids = started.map(({ id }) => id ?? '');
  expect(new Set(ids).size).toBe(TASKS);

  /** Takes every result that the server has, until it dies. */
  const takeAll = async (tasks: TaskClient): Promise<void> => {
    const pending = await tasks.pending();
    await Promise.allSettled(pending.map(async (task) => tell(told, task.id ?? '', await task.result())));
  };

  let life = first;
  let taking = takeAll(first.tasks);
  let killsWithWork = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    // At a random moment; sooner only where so much is done that the last kills would find no work.
    const untilMs = Date.now() + random() * longestMs;
    while (Date.now() < untilMs && told.size < (TASKS * (kill + 1)) / (KILLS + 2)) await sleep(5);
    if (told.size < TASKS) killsWithWork++;
    // A process that is not there yet is waited for: no other number may ever stand for it.
    let pid = life.pid();
    for (; pid === undefined; pid = life.pid()) await sleep(5);
    process.kill(pid, 'SIGKILL');
    await life.connected.then((dead) => dead.close()).catch(() => undefined);
    await taking;
    const next = (life = await open());
    taking = next.connected.then(() => takeAll(next.tasks)).catch(() => undefined);
  }
  const last = await life.connected;
  await taking;
  expect(await life.tasks.pending()).toEqual([]);
  await Promise.all([client.close(), last.close()]);

  expect([...told.values()].filter((results) => results.length !== 1)).toEqual([]);
  for (const [n, id] of ids.entries()) {
    const values = Array.from({ length: STEPS }, (_, step) => n * 100 + step);
    expect(told.get(id)?.[0]?.structuredContent).toEqual({ n, values });
  }

  const audit = await site.audit();
  expect(audit.faults).toEqual([]);
  expect(audit.tasks.map(({ status }) => status)).toEqual(Array.from({ length: TASKS }, () => 'completed'));
  expect(audit.endings.map(({ count }) => count)).toEqual(Array.from({ length: TASKS }, () => 1));
  expect(audit.steps[0].count).toBe(TASKS * STEPS);

  const { ranAgain, runs, starts } = readLog(await site.log(), ids);
  expect(ranAgain).toEqual([]);
  expect(killsWithWork).toBeGreaterThan(KILLS / 2);
  console.log(
    `seed ${seed}: ${KILLS} kills (${killsWithWork} with work left), ${starts} starts, ${runs} runs of ${TASKS * STEPS} steps, ${audit.leases[0].count} leases`,
  );
}, 900_000);

/** Holds every run of a step against what stood in the file when its process began. */
function readLog(lines: readonly string[], ids: readonly string[]) {
  let recorded = new Set<string>();
  const ranAgain: string[] = [];
  let [runs, starts] = [0, 0];
  for (const line of lines) {
    if (line.startsWith('start ')) {
      recorded = new Set(JSON.parse(line.slice(6)) as string[]);
      starts++;
      continue;
    }
    runs++;
    const [, n = '', key = ''] = /^run (\d+) (.*)$/.exec(line) ?? [];
    if (recorded.has(`${ids[Number(n)]} ${key}`)) ranAgain.push(line);
  }
  return { ranAgain, runs, starts };
}
