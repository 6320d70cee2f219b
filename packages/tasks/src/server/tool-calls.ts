/** Decides for each `tools/call` whether it runs as a task. */

import { type Clock, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { isProgressToken } from '@mortise/protocol/checks';
import type { ExtensionCall, ExtensionHost, NextCall, TaskRecord, ToolCallRecord } from '@mortise/protocol/contracts';
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_MODEL_IMMEDIATE_RESPONSE,
  META_PROGRESS_TOKEN,
  META_PROTOCOL_VERSION,
} from '@mortise/protocol/wire';
import type { NewTask } from '../engine/task-creator.ts';
import type { TaskEngine } from '../engine/task-engine.ts';
import type { TaskRun } from '../engine/task-run.ts';
import { TaskError } from '../errors.ts';
import { CORE_GENERATION, EXTENSION_GENERATION, withWireErrors, toCoreTask, toCreated } from '../wire.ts';
import type { CoreClients } from './core-clients.ts';
import { takesTasks, undeclared } from './extension-methods.ts';
import { promote } from './promote.ts';
import type { CreatedTask, CreateTaskOptions, TaskSupport, TaskToolOptions } from './tool-options.ts';

/** The server, task engine, client notifications and clock that `ToolCalls` uses. */
export interface ToolCallsInit {
  readonly host: ExtensionHost;
  readonly engine: TaskEngine;
  readonly clients: CoreClients;
  readonly clock: Clock;
}

/** A `tools/call` request, with the task options of its tool. */
interface AskedCall {
  readonly params: JsonObject;
  readonly call: ExtensionCall;
  readonly next: NextCall;
  readonly options: TaskToolOptions;
}

/** A `tools/call` request that may become a task. */
interface TaskableCall extends AskedCall {
  readonly generation: string;
  /** How long the client wants the task to be kept, in milliseconds; undefined if it did not say. */
  readonly ttlMs: number | undefined;
}

export class ToolCalls {
  readonly #init: ToolCallsInit;
  /** The tool calls whose handler may call `ctx.createTask`. */
  readonly #byHand = new WeakMap<ExtensionCall, TaskableCall>();

  /** The slow tool calls that became tasks, with the run of each task. */
  readonly #promoted = new WeakMap<ExtensionCall, TaskRun>();

  constructor(init: ToolCallsInit) {
    this.#init = init;
    init.host.intercept('tools/call', (params, call, next) => this.#call(params, call, next));
  }

  /** Whether the handler of this tool call may create a task by `ctx.createTask` and return it. */
  canCreate(call: ExtensionCall | undefined): boolean {
    return call !== undefined && this.#byHand.has(call);
  }

  /** The run of the task that a slow tool call became; undefined if the call is not a task. */
  findPromoted(call: ExtensionCall): TaskRun | undefined {
    return this.#promoted.get(call);
  }

  async create(call: ExtensionCall | undefined, options: CreateTaskOptions): Promise<CreatedTask> {
    const taskable = call && this.#byHand.get(call);
    if (!taskable)
      throw new TaskError(
        'ERR_TASK_UNAVAILABLE',
        'This call cannot use ctx.createTask: the tool needs taskDriver "hand", and the client must support tasks; see ctx.canCreateTask',
      );
    checkOptions('ctx.createTask options', options, { ttlMs: 0, statusMessage: 'string', data: 'object' });
    const { ttlMs = taskable.ttlMs, ...rest } = options;
    const { id } = await withWireErrors(() => this.#init.engine.create({ ...this.#toTask(taskable), ...rest, ttlMs, driver: 'hand' }));
    return { resultType: 'task', taskId: id, content: [] };
  }

  #call(params: JsonObject, call: ExtensionCall, next: NextCall): Promise<JsonObject> {
    const { host } = this.#init;
    const name = params['name'];
    const options = typeof name === 'string' ? (host.authorizeTool(name, call) as TaskToolOptions | undefined) : undefined;
    if (!options) return next();
    const support = options.execution?.taskSupport ?? 'forbidden';
    const { coreTasks, extensions } = call.revision.rules;
    const asked = { params, call, next, options };
    if (coreTasks) return this.#callInCore(support, asked);
    if (support === 'forbidden') return next();
    if (extensions && takesTasks(call)) return this.#callInExtension(support, asked);
    if (support === 'optional') return next();
    return extensions
      ? Promise.reject(undeclared())
      : refuse(`Tool "${name}" runs only as a task, and protocol version ${call.revision.version} has no tasks`);
  }

  /** Handles a tool call of a 2025-11-25 client. The client decides with `params.task` whether the call is a task. */
  #callInCore(support: TaskSupport, asked: AskedCall): Promise<JsonObject> {
    const { params, next } = asked;
    const name = String(params['name']);
    const ttlMs = readWish(params['task']);
    if (ttlMs === null) return support === 'required' ? refuse(`Tool "${name}" runs only as a task: set params.task`) : next();
    if (support === 'forbidden') return refuse(`Tool "${name}" does not run as a task: call it without params.task`);
    return this.#run({ ...asked, generation: CORE_GENERATION, ttlMs });
  }

  /** Handles a tool call of a client with the tasks extension. The server decides, at the start or later, whether the call is a task. */
  #callInExtension(support: TaskSupport, asked: AskedCall): Promise<JsonObject> {
    const { call, next, options } = asked;
    const { promoteAfterMs, taskDriver } = options;
    const taskable = { ...asked, generation: EXTENSION_GENERATION, ttlMs: undefined };
    if (support === 'required' || promoteAfterMs === undefined || taskDriver === 'hand') return this.#run(taskable);
    const task = this.#toTask(taskable);
    const onPromoted = (run: TaskRun): void => void this.#promoted.set(call, run);
    return withWireErrors(() => promote(call, next, { ...this.#init, task, promoteAfterMs, onPromoted }));
  }

  #run(taskable: TaskableCall): Promise<JsonObject> {
    return taskable.options.taskDriver === 'hand' ? this.#runByHand(taskable) : withWireErrors(() => this.#create(taskable));
  }

  async #create(taskable: TaskableCall): Promise<JsonObject> {
    const { call, next, generation } = taskable;
    const task = this.#toTask(taskable);
    const problem = await this.#init.host.checkArguments(task.call.tool, task.call.arguments, call);
    if (problem !== undefined) {
      // The extension leaves it to the server whether a call is a task. In 2025-11-25 the client decides, and must not get a plain result.
      if (generation === EXTENSION_GENERATION) return next();
      throw new ProtocolError(INVALID_PARAMS, problem);
    }
    // The first progress of the task may come at once.
    const onStored = (created: TaskRecord): void => this.#init.clients.remember(created, call);
    const record = await this.#init.engine.create(task, generation === CORE_GENERATION ? onStored : undefined);
    if (call.signal.aborted) {
      // The caller disconnected before it got the task id, so it could never ask for the task.
      await this.#init.engine.cancel(record);
      throw call.signal.reason;
    }
    return this.#toResult(record, taskable);
  }

  async #runByHand(taskable: TaskableCall): Promise<JsonObject> {
    const { call, next } = taskable;
    this.#byHand.set(call, taskable);
    const result = await next();
    const { resultType, taskId } = result;
    if (resultType !== 'task' || typeof taskId !== 'string') return result;
    const record = await this.#init.engine.peek(taskId);
    if (!record || record.principal !== call.principal)
      throw new TaskError('ERR_TASK_UNAVAILABLE', 'The handler returned a task that does not exist: return what ctx.createTask() gives');
    return this.#toResult(record, taskable);
  }

  /** Makes the result of a tool call that became a task. */
  #toResult(record: TaskRecord, { generation, options, call }: TaskableCall): JsonObject {
    if (generation === EXTENSION_GENERATION) return toCreated(record);
    this.#init.clients.remember(record, call);
    const { immediateResponse } = options;
    const meta = immediateResponse === undefined ? {} : { _meta: { [META_MODEL_IMMEDIATE_RESPONSE]: immediateResponse } };
    return { task: toCoreTask(record), ...meta };
  }

  #toTask({ params, call, options, generation, ttlMs }: TaskableCall): NewTask & { readonly call: ToolCallRecord } {
    const record = toCallRecord(params, call, generation);
    const token = record.meta?.[META_PROGRESS_TOKEN];
    return {
      principal: call.principal,
      generation,
      call: record,
      resumable: options.resumable === true,
      ttlMs,
      progressToken: generation === CORE_GENERATION && isProgressToken(token) ? token : undefined,
    };
  }
}

/** Reads from `params.task` (2025-11-25) how long the task should be kept, in ms. @returns null if the call does not ask for a task. */
function readWish(task: unknown): number | undefined | null {
  if (task === undefined) return null;
  const ttl = isJsonObject(task) ? task['ttl'] : null;
  if (ttl === undefined) return undefined;
  if (typeof ttl === 'number' && ttl >= 0) return ttl;
  throw new ProtocolError(INVALID_PARAMS, 'Invalid params: params.task must be {} or { "ttl": milliseconds }');
}

function refuse(message: string): Promise<never> {
  return Promise.reject(new ProtocolError(METHOD_NOT_FOUND, message));
}

function toCallRecord(params: JsonObject, call: ExtensionCall, generation: string): ToolCallRecord {
  const given = isJsonObject(params['_meta']) ? params['_meta'] : {};
  const { [META_PROTOCOL_VERSION]: _version, [META_CLIENT_CAPABILITIES]: _capabilities, [META_CLIENT_INFO]: _info, ...meta } = given;
  return {
    tool: params['name'] as string,
    arguments: isJsonObject(params['arguments']) ? params['arguments'] : {},
    principal: call.principal,
    revision: call.revision.version,
    clientCapabilities: call.clientCapabilities,
    scopes: call.auth?.scopes ?? [],
    // Progress becomes the task's status message, and handlers report progress only if there is a token.
    meta: generation === EXTENSION_GENERATION ? { ...meta, [META_PROGRESS_TOKEN]: 'status' } : meta,
  };
}
