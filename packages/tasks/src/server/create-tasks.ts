/** `createTasks`: the extension that gives a server tasks of both generations. */

import type { Clock, JsonRpcNotification, Logger, Meter } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import { checkClientResult } from '@mortise/protocol/checks';
import type { ExtensionHost, HandlerFacts, ServerExtension, TaskQueue, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import type { TaskLimits } from '../engine/task-creator.ts';
import { TaskEngine } from '../engine/task-engine.ts';
import { TaskRun } from '../engine/task-run.ts';
import { TaskUnavailableError } from '../errors.ts';
import { MemoryTaskStore } from '../memory-task-store.ts';
import { CORE_GENERATION, EXTENSION_GENERATION, TASKS_EXTENSION, toOutcome } from '../wire.ts';
import { type AskAsTaskOptions, askAsTasks } from './asks-as-tasks.ts';
import { addCoreMethods, mayList } from './core-methods.ts';
import { addExtensionMethods, addTaskFilter, toEvent } from './extension-methods.ts';
import { Routes, StatusFromProgress } from './task-reports.ts';
import { controlBy, type TaskControl } from './task-control.ts';
import { ToolCalls } from './tool-calls.ts';
import type { TaskContext, TaskToolOptions } from './tool-options.ts';

/** The options of `createTasks`. */
export interface TasksOptions extends TaskLimits {
  /** Where tasks are kept. @default a `MemoryTaskStore`, whose tasks end with the process */
  readonly store?: TaskStore | undefined;
  /** Spreads runs over workers. @default a `MemoryTaskQueue`: they run in this process */
  readonly queue?: TaskQueue | undefined;
  /** How long a run counts as alive without a sign of life: after a crash its task is taken up that much later. In milliseconds. @default 30_000 */
  readonly leaseMs?: number | undefined;
  /** How many tasks a page of `tasks/list` holds. @default 100 */
  readonly pageSize?: number | undefined;
  /** Lets what handlers ask go out as tasks of the client's, in the core's generation, where the client takes them. @default as plain requests */
  readonly askAsTasks?: AskAsTaskOptions | boolean | undefined;
  /** Told what is created, taken up, ended, cancelled and refused, and failed look-ups. @default a logger that drops every line */
  readonly logger?: Logger | undefined;
  /** Counts `mcp.tasks.created`, `.refused`, `.failed_lookups`, `.fast_polls` and `.refused_polls`. @default nothing is counted */
  readonly meter?: Meter | undefined;
  /** Tells when tasks and leases end, and runs the timers. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** The extension, and the control of tasks that are driven by hand. */
export interface Tasks extends ServerExtension, TaskControl {}

/**
 * Makes the extension that gives a server tasks. One for each server.
 *
 * ```ts
 * const tasks = createTasks({ store: sqliteStores('tasks.db').tasks });
 * const server = new McpServer(info, { extensions: [tasks] });
 * server.registerTool('report', { execution: { taskSupport: 'optional' }, resumable: true }, async (ctx) => { ... });
 * ```
 *
 * @throws {TypeError} An option has an unknown name or an invalid value.
 * @see 2025-11-25 basic/utilities/tasks; SEP-2663
 */
export function createTasks(options: TasksOptions = {}): Tasks {
  return new TasksExtension(options);
}

const TOOL_OPTIONS: readonly (keyof TaskToolOptions)[] = ['execution', 'promoteAfterMs', 'resumable', 'immediateResponse', 'taskDriver'];

const OPTIONS: OptionTable<TasksOptions> = {
  maxTtlMs: 0,
  defaultTtlMs: 0,
  maxTasksPerPrincipal: 0,
  pollIntervalMs: 0,
  maxPollsPerSecond: 0,
  store: 'object',
  queue: 'object',
  leaseMs: 1,
  pageSize: 1,
  askAsTasks: ['boolean', 'object'],
  logger: 'object',
  meter: 'object',
  clock: 'object',
};

class TasksExtension implements Tasks {
  readonly id: typeof TASKS_EXTENSION = TASKS_EXTENSION;
  readonly settings = {};
  readonly resultTypes: readonly string[] = ['task'];
  readonly toolOptions: readonly string[] = TOOL_OPTIONS;
  readonly answers: readonly string[] = ['tools/call'];
  readonly #options: TasksOptions;
  readonly #clock: Clock;
  readonly #engine: TaskEngine;
  readonly #routes = new Routes();
  readonly #statuses: StatusFromProgress;
  readonly #control: TaskControl;
  #host: ExtensionHost | undefined;
  #calls: ToolCalls | undefined;

  constructor(options: TasksOptions) {
    checkOptions('createTasks options', options, OPTIONS);
    const { clock = systemClock, store = new MemoryTaskStore({ now: () => clock.now() }), pageSize: _size, ...rest } = options;
    this.#options = options;
    this.#clock = clock;
    this.#statuses = new StatusFromProgress(clock);
    this.#engine = new TaskEngine({
      ...rest,
      clock,
      store,
      limits: options,
      run: (record, run) => this.#run(record, run),
      onChanged: (record) => this.#onChanged(record),
      onReport: (run, notification) => this.#onReport(run, notification),
      checkAnswer: checkClientResult,
    });
    this.#control = controlBy(
      (id, make) => this.#engine.change(id, make),
      (id) => this.#engine.peek(id),
    );
  }

  // ---- control of tasks that are driven by hand

  complete(...args: Parameters<TaskControl['complete']>): Promise<boolean> {
    return this.#control.complete(...args);
  }
  fail(...args: Parameters<TaskControl['fail']>): Promise<boolean> {
    return this.#control.fail(...args);
  }
  setStatus(...args: Parameters<TaskControl['setStatus']>): Promise<boolean> {
    return this.#control.setStatus(...args);
  }
  cancel(...args: Parameters<TaskControl['cancel']>): Promise<boolean> {
    return this.#control.cancel(...args);
  }
  get(taskId: string): Promise<TaskRecord | undefined> {
    return this.#control.get(taskId);
  }

  // ---- the extension

  capabilities(
    ...[revision, { principal }]: Parameters<NonNullable<ServerExtension['capabilities']>>
  ): ReturnType<NonNullable<ServerExtension['capabilities']>> {
    if (!revision.rules.coreTasks) return {};
    return { tasks: { ...(mayList(principal) && { list: {} }), cancel: {}, requests: { tools: { call: {} } } } };
  }

  toolDefinition(
    ...[options, revision]: Parameters<NonNullable<ServerExtension['toolDefinition']>>
  ): ReturnType<NonNullable<ServerExtension['toolDefinition']>> {
    const { execution } = options as TaskToolOptions;
    return execution && revision.rules.coreTasks ? { execution } : {};
  }

  context(facts: HandlerFacts): Readonly<Record<string, unknown>> {
    const calls = this.#calls;
    const findRun = (): TaskRun | undefined => (facts.call === undefined ? asTaskRun(facts.run) : calls?.findPromoted(facts.call));
    const members: TaskContext = {
      get isTask() {
        return findRun() !== undefined;
      },
      get canCreateTask() {
        return calls?.canCreate(facts.call) === true;
      },
      status: async (message) => findRun()?.setStatus(message),
      createTask: (options = {}) => {
        if (!calls) throw new TaskUnavailableError('The tasks extension is not installed');
        return calls.create(facts.call, options);
      },
    };
    return members as unknown as Readonly<Record<string, unknown>>;
  }

  install(host: ExtensionHost): void {
    if (this.#host)
      throw new TaskUnavailableError('This tasks extension serves another server already: make one for each with createTasks()');
    this.#host = host;
    const engine = this.#engine;
    this.#calls = new ToolCalls({ host, engine, routes: this.#routes, clock: this.#clock });
    addCoreMethods(host, { engine, routes: this.#routes, pageSize: this.#options.pageSize ?? 100 });
    addExtensionMethods(host, engine);
    addTaskFilter(host, engine, this.#clock);
    const { askAsTasks: asks } = this.#options;
    if (asks !== undefined && asks !== false) askAsTasks(host, asks === true ? {} : asks);
    host.onClose(() => engine.close());
    engine.start();
  }

  // ---- what the engine calls

  async #run(record: TaskRecord, run: TaskRun): ReturnType<NonNullable<ConstructorParameters<typeof TaskEngine>[0]['run']>> {
    const { call } = record;
    if (!this.#host || !call) throw new TaskUnavailableError('The task has no call that could be run');
    return toOutcome(record.generation, await this.#host.runTool(call, run));
  }

  #onChanged(record: TaskRecord): void {
    if (record.generation === CORE_GENERATION) this.#routes.tellStatus(record);
    void this.#host?.publish(toEvent(record));
  }

  #onReport(run: TaskRun, notification: JsonRpcNotification): void {
    const { record } = run;
    if (record.generation === CORE_GENERATION) this.#routes.report(record, notification);
    // @see SEP-2663: tasks of the extension have no progress and no log notifications.
    else if (record.generation === EXTENSION_GENERATION && notification.method === 'notifications/progress')
      this.#statuses.report(run, notification.params ?? {});
  }
}

function asTaskRun(run: unknown): TaskRun | undefined {
  return run instanceof TaskRun ? run : undefined;
}
