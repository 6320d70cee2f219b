/** `taskClient`: lets a client call tools as tasks, on 2025-11-25 ("legacy") servers and ones with the 2026-07-28 extension ("modern"). */

import { type Clock, InvalidResponseError, type JsonObject, RemoteError } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { CallToolResult, ClientCapabilities, Revision } from '@mortise/protocol';
import type { Progress } from '@mortise/protocol/model';
import type { ClientExtension, ClientExtensionHost, InterceptedCall, TaskHandleStore } from '@mortise/protocol/contracts';
import { META_MODEL_IMMEDIATE_RESPONSE } from '@mortise/protocol/wire';
import { TaskError, TaskInputError } from '../errors.ts';
import { TASKS_EXTENSION } from '../wire.ts';
import { MemoryTaskHandleStore, type TaskHandle, type TaskOptions, toHandle, toSettledHandle } from './task-handle.ts';
import { TaskFollower } from './task-follower.ts';
import { receiverCapabilities, receiveTasks } from './task-receiver.ts';
import {
  type DetailedState,
  type Generation,
  generationOf,
  legacyWire,
  modernWire,
  readLegacyTask,
  readModernTask,
  ToolTaskSupport,
} from './task-wire.ts';

/** The options of `taskClient`. */
export interface TaskClientOptions {
  /** Where the ids of unfinished tasks are stored. `server` is the server's name there, such as its URL or command. @default in memory */
  readonly handles?: { readonly store: TaskHandleStore; readonly server: string } | undefined;
  /** Called when a call of `callTool` becomes a task, for example to show its progress. Errors it throws are ignored. @default none */
  readonly onTask?: ((task: TaskHandle, call: { readonly tool: string }) => void) | undefined;
  /**
   * Whether `callTool` asks for a task if the tool's `taskSupport` is `optional`. Reads `tools/list` first, unless the program has. 2025-11-25
   * only: newer servers decide.
   *
   * @default false
   */
  readonly prefersTasks?: boolean | undefined;
  /** How long a 2025-11-25 server should keep a task after its creation, in ms. The server may shorten it. @default the server's choice */
  readonly ttlMs?: number | undefined;
  /** The clock that times the pauses between two polls of a task. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** The extension that `taskClient` creates for one client. Its methods start tasks and resume tasks by their id. */
export interface TaskClient extends ClientExtension {
  /**
   * Calls a tool as a task and returns a handle of the task, without waiting for the result. If a server with the 2026-07-28 extension
   * returns the result directly, without a task, the handle's `id` is undefined.
   *
   * @throws {TaskError} `ERR_TASK_UNAVAILABLE`: the 2025-11-25 server, or this tool, does not support tasks.
   */
  start(tool: string, args?: JsonObject, options?: TaskOptions): Promise<TaskHandle>;
  /** Returns a handle of the task with this id, such as after a restart of this program. Sends no request. */
  resumeTask(taskId: string): TaskHandle;
  /** Lists the server's tasks whose results were not received yet, oldest first. With `handles`, also tasks from before a restart. */
  pending(): Promise<readonly TaskHandle[]>;
}

/**
 * Creates the extension that adds tasks to one client: `new McpClient(info, { extensions: [tasks] })`.
 *
 * `callTool` then returns the tool's result whether or not the call becomes a task. Aborting the call cancels the task.
 *
 * @throws {TypeError} An option has an unknown name or an invalid value.
 * @see 2025-11-25 basic/utilities/tasks; the extension io.modelcontextprotocol/tasks
 */
export function taskClient(options: TaskClientOptions = {}): TaskClient {
  return new Tasks(options);
}

const OPTIONS: OptionTable<TaskClientOptions> = {
  handles: { store: 'object', server: 'string' },
  onTask: 'function',
  prefersTasks: 'boolean',
  ttlMs: 0,
  clock: 'object',
};

class Tasks implements TaskClient {
  readonly id: string = TASKS_EXTENSION;
  readonly nameParams: Readonly<Record<string, string>> = { 'tasks/get': 'taskId', 'tasks/update': 'taskId', 'tasks/cancel': 'taskId' };
  readonly results: NonNullable<ClientExtension['results']>;
  readonly #options: TaskClientOptions;
  readonly #clock: Clock;
  readonly #store: TaskHandleStore;
  readonly #server: string;
  readonly #followers = new Map<string, TaskFollower>();
  #host: ClientExtensionHost | undefined;
  #support: ToolTaskSupport | undefined;

  constructor(options: TaskClientOptions) {
    checkOptions('taskClient options', options, OPTIONS);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#store = options.handles?.store ?? new MemoryTaskHandleStore();
    this.#server = options.handles?.server ?? '';
    this.results = { task: async (result, { method }) => assertToolCall(result, method) };
  }

  settings({ rules }: Revision): JsonObject | undefined {
    return rules.coreTasks ? undefined : {};
  }

  capabilities(revision: Revision, declared: ClientCapabilities): Partial<ClientCapabilities> {
    return revision.rules.coreTasks ? receiverCapabilities(declared) : {};
  }

  install(host: ClientExtensionHost): void {
    if (this.#host) throw new TypeError('This taskClient() already belongs to another client: create one for each client');
    this.#host = host;
    this.#support = new ToolTaskSupport(host);
    host.intercept('tools/list', async (params, next) => {
      const page = await next(params);
      if (host.revision.rules.coreTasks) this.#support?.learn(page);
      return page;
    });
    host.intercept('tools/call', (params, next, call) => this.#onCall(host, params, next, call));
    host.onNotification('notifications/tasks/status', (params) => {
      const follower = typeof params['taskId'] === 'string' ? this.#followers.get(params['taskId']) : undefined;
      follower?.onNotification(readLegacyTask(params));
    });
    receiveTasks(host, this.#clock);
  }

  // ---- calls of the program

  async start(tool: string, args?: JsonObject, { signal }: TaskOptions = {}): Promise<TaskHandle> {
    const host = this.#installed();
    const params = { name: tool, ...(args && { arguments: args }) };
    if (generationOf(host) !== 'legacy') {
      const result = await host.request('tools/call', params, { ...(signal && { signal }) });
      return result['resultType'] === 'task' ? this.#toTask(result, readModernTask(result), signal) : toSettledHandle(result);
    }
    const support = this.#support?.find(tool) ?? (await this.#support?.look(tool));
    if (support === 'forbidden' || !hasToolTasks(host))
      throw new TaskError('ERR_TASK_UNAVAILABLE', `the tool "${tool}" cannot be called as a task on this server: use callTool`);
    return this.#callAsTask(host, params, { signal });
  }

  resumeTask(taskId: string): TaskHandle {
    return toHandle(this.#follow(taskId));
  }

  async pending(): Promise<readonly TaskHandle[]> {
    const records = await this.#store.list(this.#server);
    return records.toSorted((one, other) => one.createdAtMs - other.createdAtMs).map(({ taskId }) => this.resumeTask(taskId));
  }

  // ---- calls that become tasks

  async #onCall(
    host: ClientExtensionHost,
    params: JsonObject,
    next: (params: JsonObject) => Promise<JsonObject>,
    call: InterceptedCall,
  ): Promise<JsonObject> {
    const tool = String(params['name']);
    if (generationOf(host) === 'legacy' && (await this.#wantsTask(host, params, tool, call)))
      return this.#drive(await this.#callAsTask(host, params, call), tool, call);
    let result: JsonObject;
    try {
      result = await next(params);
    } catch (error) {
      // The refusal may mean that the tool must be called as a task, which a client without the tool list does not know.
      if (!(await this.#mustBeTask(host, tool, error))) throw error;
      return this.#drive(await this.#callAsTask(host, params, call), tool, call);
    }
    if (result['resultType'] !== 'task' || generationOf(host) !== 'modern') return result;
    return this.#drive(await this.#toTask(result, readModernTask(result), call.signal), tool, call);
  }

  /** Whether to call a tool of a 2025-11-25 server as a task. Reads `tools/list` only if the program wishes a task and the tool is unknown. */
  async #wantsTask(host: ClientExtensionHost, params: JsonObject, tool: string, { signal }: InterceptedCall): Promise<boolean> {
    if (!hasToolTasks(host)) return false;
    const isWished = params['task'] !== undefined || this.#options.prefersTasks === true;
    const support = this.#support?.find(tool) ?? (isWished ? await this.#support?.look(tool, signal) : undefined);
    return support === 'required' || (support === 'optional' && isWished);
  }

  async #mustBeTask(host: ClientExtensionHost, tool: string, error: unknown): Promise<boolean> {
    const isRefusal = error instanceof RemoteError && error.rpcCode === METHOD_NOT_FOUND;
    if (!isRefusal || generationOf(host) !== 'legacy' || !hasToolTasks(host)) return false;
    return (await this.#support?.look(tool)) === 'required';
  }

  async #drive(task: TaskHandle, tool: string, { signal }: InterceptedCall): Promise<CallToolResult> {
    this.#notifyProgram(task, tool);
    try {
      return await task.result({ signal });
    } catch (error) {
      // The caller of `callTool` has no handle and could not cancel the task itself.
      if (signal?.aborted || error instanceof TaskInputError) await task.cancel().catch(() => undefined);
      throw error;
    }
  }

  /** Calls the program's `onTask`. Errors that `onTask` throws are ignored, so that the tool call still returns its result. */
  #notifyProgram(task: TaskHandle, tool: string): void {
    try {
      const returned: unknown = this.#options.onTask?.(task, { tool });
      if (returned instanceof Promise) returned.catch(() => undefined);
    } catch {
      // Ignored, as documented.
    }
  }

  /** Calls a tool of a 2025-11-25 server as a task. */
  async #callAsTask(host: ClientExtensionHost, params: JsonObject, { signal, onProgress }: InterceptedCall): Promise<TaskHandle> {
    signal?.throwIfAborted();
    const { ttlMs } = this.#options;
    const progressToken = onProgress && `task-${crypto.randomUUID()}`;
    const stopProgress =
      onProgress &&
      host.onNotification('notifications/progress', ({ progressToken: token, ...update }) => {
        if (token === progressToken && typeof update['progress'] === 'number') onProgress(update as unknown as Progress);
      });
    const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
    const augmented = {
      ...params,
      task: isJsonObject(params['task']) ? params['task'] : { ...(ttlMs !== undefined && { ttl: ttlMs }) },
      ...(progressToken !== undefined && { _meta: { ...meta, progressToken } }),
    };
    // Not cancelled by `notifications/cancelled`: a task is cancelled by its id, which this response brings.
    const created = host.request('tools/call', augmented, { resetTimeoutOnProgress: false }).then((result) => {
      if (!isJsonObject(result['task']))
        throw new InvalidResponseError('the tool was called as a task, but the server responded without a task');
      return this.#toTask(result, readLegacyTask(result['task']), signal, stopProgress);
    });
    created.catch(() => stopProgress?.());
    return abortable(created, signal).catch((error: unknown) => {
      if (signal?.aborted) void created.then((task) => task.cancel()).catch(() => undefined);
      throw error;
    });
  }

  async #toTask(result: JsonObject, state: DetailedState, callSignal: AbortSignal | undefined, onOver?: () => void): Promise<TaskHandle> {
    const follower = this.#follow(state.taskId, state, callSignal, onOver);
    try {
      await this.#store.add({ server: this.#server, taskId: state.taskId, method: 'tools/call', createdAtMs: this.#clock.now() });
    } catch (error) {
      // A task whose id is not stored would be lost in a crash.
      await follower.cancel().catch(() => undefined);
      throw error;
    }
    const response = isJsonObject(result['_meta']) ? result['_meta'][META_MODEL_IMMEDIATE_RESPONSE] : undefined;
    return toHandle(follower, typeof response === 'string' ? response : undefined);
  }

  #follow(taskId: string, state?: DetailedState, callSignal?: AbortSignal, onOver?: () => void): TaskFollower {
    const known = this.#followers.get(taskId);
    if (known) return known;
    const host = this.#installed();
    const generation = generationOf(host);
    if (generation === undefined)
      throw new TaskError(
        'ERR_TASK_UNAVAILABLE',
        'the server does not support tasks: it declares neither the tasks capability nor the tasks extension',
      );
    const follower = new TaskFollower(
      {
        host,
        callSignal,
        wire: wireOf(generation, host),
        clock: this.#clock,
        onOver: () => {
          onOver?.();
          this.#followers.delete(taskId);
          void this.#store.remove(this.#server, taskId).catch(() => undefined);
        },
      },
      taskId,
      state,
    );
    this.#followers.set(taskId, follower);
    return follower;
  }

  #installed(): ClientExtensionHost {
    if (!this.#host) throw new TypeError('taskClient() belongs to no client yet: pass it in the extensions of McpClient, and connect');
    return this.#host;
  }
}

function wireOf(generation: NonNullable<Generation>, host: ClientExtensionHost): ReturnType<typeof modernWire> {
  return generation === 'modern' ? modernWire(host) : legacyWire(host);
}

/** Whether a 2025-11-25 server declares in its capabilities that tools can be called as tasks. */
function hasToolTasks({ serverCapabilities: { tasks } }: ClientExtensionHost): boolean {
  return isJsonObject(tasks?.requests?.tools?.call);
}

/** Accepts a task only as the result of `tools/call`. @throws {InvalidResponseError} Another request got a task as its result. */
function assertToolCall(result: JsonObject, method: string): JsonObject {
  if (method === 'tools/call') return result;
  throw new InvalidResponseError(`the server responded to "${method}" with a task: only "tools/call" may become a task`);
}
