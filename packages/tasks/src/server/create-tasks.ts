/** `createTasks`: lets a server run tools as tasks, for clients of 2025-11-25 and with the 2026-07-28 tasks extension. */

import type { Clock, Logger, Meter } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import type { ExtensionHost, ServerExtension, TaskQueue, TaskStore } from '@mortise/protocol/contracts';
import type { TaskLimits } from '../engine/task-creator.ts';
import { TaskEngine } from '../engine/task-engine.ts';
import { TaskRun } from '../engine/task-run.ts';
import { TaskError } from '../errors.ts';
import { MemoryTaskQueue } from '../memory-task-queue.ts';
import { MemoryTaskStore } from '../memory-task-store.ts';
import { CORE_GENERATION, TASKS_EXTENSION, toOutcome } from '../wire.ts';
import { addCoreMethods, CoreClients, mayList } from './core-clients.ts';
import { addExtensionMethods, addTaskFilter, StatusFromProgress } from './extension-methods.ts';
import { controlBy, type TaskControl } from './task-control.ts';
import { ToolCalls } from './tool-calls.ts';
import type { TaskContext, TaskToolOptions } from './tool-options.ts';

/** The options of `createTasks`. */
export interface TasksOptions extends TaskLimits {
  /** Stores the tasks. @default a `MemoryTaskStore`: tasks are lost when the process ends */
  readonly store?: TaskStore | undefined;
  /** Decides which process runs each task. @default a `MemoryTaskQueue`: tasks run in this process */
  readonly queue?: TaskQueue | undefined;
  /** How long after the crash of a process another process may take over its tasks, in milliseconds. @default 30_000 */
  readonly leaseMs?: number | undefined;
  /** Logs each task that is created, resumed, ended, cancelled or refused, and each request for an unknown task. @default no logging */
  readonly logger?: Logger | undefined;
  /** Counts the metrics `mcp.tasks.created`, `.refused`, `.failed_lookups` and `.refused_polls`. @default nothing is counted */
  readonly meter?: Meter | undefined;
  /** The clock that times the expiry, leases and polls of tasks. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** The extension that `createTasks` returns. Its methods complete, fail and cancel tasks of tools with `taskDriver: 'hand'`. */
export interface Tasks extends ServerExtension, TaskControl {}

const TOOL_OPTIONS: readonly (keyof TaskToolOptions)[] = ['execution', 'promoteAfterMs', 'resumable', 'immediateResponse', 'taskDriver'];

const OPTIONS: OptionTable<TasksOptions> = {
  maxTtlMs: 0,
  maxTasksPerPrincipal: 0,
  pollIntervalMs: 0,
  maxPollsPerSecond: 1,
  store: { methods: ['create', 'get', 'update', 'delete', 'claim', 'claimOrphans', 'renew'] },
  queue: { methods: ['enqueue', 'work'] },
  leaseMs: 1,
  logger: 'object',
  meter: 'object',
  clock: 'object',
};

/**
 * Creates the extension that adds tasks to one server. Each server needs its own.
 *
 * ```ts
 * const tasks = createTasks({ store: (await createSqliteStores({ path: 'tasks.db' })).tasks });
 * const server = new McpServer(info, { extensions: [tasks] });
 * server.registerTool('report', { execution: { taskSupport: 'optional' }, resumable: true }, async (ctx) => { ... });
 * ```
 *
 * @throws {TypeError} An option has an unknown name or an invalid value.
 * @see 2025-11-25 basic/utilities/tasks; SEP-2663
 */
export function createTasks(options: TasksOptions = {}): Tasks {
  checkOptions('createTasks options', options, OPTIONS);
  const {
    clock = systemClock,
    store = new MemoryTaskStore({ now: () => clock.now() }),
    queue = new MemoryTaskQueue({ clock }),
    leaseMs = 30_000,
    logger = silentLogger,
    meter,
  } = options;
  let host: ExtensionHost | undefined;
  let calls: ToolCalls | undefined;
  const clients: CoreClients = new CoreClients((task, answers) => engine.answer(task, answers));
  const statuses = new StatusFromProgress(clock);
  const engine = new TaskEngine({
    store,
    queue,
    leaseMs,
    logger,
    meter,
    clock,
    limits: options,
    run: async ({ call, generation }, run) => {
      if (!host || !call) throw new TaskError('ERR_TASK_UNAVAILABLE', 'The task cannot run: its record has no tool call');
      return toOutcome(generation, await host.runTool(call, run));
    },
    onChanged: (record) => {
      if (record.generation === CORE_GENERATION) clients.sendStatus(record);
    },
    onReport: (run, notification) => {
      if (run.record.generation === CORE_GENERATION) clients.report(run.record, notification);
      else if (notification.method === 'notifications/progress') statuses.report(run, notification.params ?? {});
    },
  });
  return {
    ...controlBy(engine.change, (id) => engine.peek(id)),
    id: TASKS_EXTENSION,
    settings: ({ rules }) => (rules.coreTasks ? undefined : {}),
    resultTypes: ['task'],
    toolOptions: TOOL_OPTIONS,
    answers: ['tools/call'],
    capabilities({ rules }, { principal }) {
      if (!rules.coreTasks) return {};
      return { tasks: { ...(mayList(principal) && { list: {} }), cancel: {}, requests: { tools: { call: {} } } } };
    },
    toolDefinition({ execution }: TaskToolOptions, { rules }) {
      return execution && rules.coreTasks ? { execution } : {};
    },
    context({ call, run }) {
      const findRun = (): TaskRun | undefined => {
        if (call) return calls?.findPromoted(call);
        return run instanceof TaskRun ? run : undefined;
      };
      const members: TaskContext = {
        get isTask() {
          return findRun() !== undefined;
        },
        get canCreateTask() {
          return calls?.canCreate(call) === true;
        },
        status: async (message) => findRun()?.setStatus(message),
        createTask: async (created = {}) => {
          if (!calls)
            throw new TaskError('ERR_TASK_UNAVAILABLE', 'This server does not support tasks: add createTasks() to its extensions');
          return calls.create(call, created);
        },
      };
      return members as unknown as Readonly<Record<string, unknown>>;
    },
    install(installed) {
      if (host)
        throw new TaskError(
          'ERR_TASK_UNAVAILABLE',
          'This tasks extension already belongs to another server: call createTasks() once per server',
        );
      host = installed;
      calls = new ToolCalls({ host, engine, clients, clock });
      addCoreMethods(host, engine, clients);
      addExtensionMethods(host, engine);
      addTaskFilter(host, engine);
      host.onClose(() => engine.close());
      engine.start(installed);
    },
  };
}
