/** Serves `tasks/*` from the store that a program gave, and carries what tasks send until `tasks/result` fetches it. */

import type { Protocol, ProtocolOptions, RequestHandlerExtra, RequestOptions, RequestTaskStore } from '../../shared/protocol.ts';
import * as v1 from '../../types.ts';
import { isTerminal, type QueuedMessage, type TaskMessageQueue, type TaskStore } from './interfaces.ts';

type Extra = RequestHandlerExtra<v1.Request, v1.Notification>;
type Handler = (request: v1.JSONRPCRequest, extra: Extra) => Promise<v1.Result>;

interface Waiting {
  resolve(result: v1.Result): void;
  reject(error: unknown): void;
}

export class TaskSupport {
  readonly queue: TaskMessageQueue | undefined;
  readonly handlers: readonly (readonly [string, Handler])[] = [
    [
      'tasks/get',
      async (request, { sessionId }) => ({ ...(await this.#find(idOf(request), sessionId, 'Failed to retrieve task: Task not found')) }),
    ],
    ['tasks/result', (request, extra) => this.#result(idOf(request), extra)],
    ['tasks/list', (request, { sessionId }) => this.#list(request, sessionId)],
    ['tasks/cancel', (request, { sessionId }) => this.#cancel(idOf(request), sessionId)],
  ];
  readonly #store: TaskStore;
  readonly #options: ProtocolOptions;
  readonly #protocol: Protocol<v1.Request, v1.Notification, v1.Result>;
  /** The requests in queues whose answers someone waits for, by id. */
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(store: TaskStore, options: ProtocolOptions, protocol: Protocol<v1.Request, v1.Notification, v1.Result>) {
    this.#store = store;
    this.#options = options;
    this.#protocol = protocol;
    this.queue = options.taskMessageQueue;
  }

  // ---- for handlers

  /** Returns what handlers get beside the usual. */
  extraOf(request: v1.JSONRPCRequest, sessionId: string | undefined, taskId: string | undefined): Partial<Extra> {
    const { params } = request;
    const ttl = v1.isTaskAugmentedRequestParams(params) ? params.task?.ttl : undefined;
    return { taskId, taskStore: this.#storeFor(request, sessionId), taskRequestedTtl: ttl };
  }

  /** Marks the task as waiting before it asks the client something. */
  async onAsk(taskId: string, request: v1.JSONRPCRequest, sessionId: string | undefined): Promise<void> {
    await this.#storeFor(request, sessionId).updateTaskStatus(taskId, 'input_required');
  }

  /** Sends a request of a task: queues it, and waits until `tasks/result` has delivered it and the client has answered. */
  requestThroughTask(taskId: string, { method, params }: v1.Request, { timeout, signal }: RequestOptions): Promise<v1.Result> {
    const id = ++this.#lastId;
    const answered = new Promise<v1.Result>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const fail = (error: unknown): void => reject(error);
      signal?.addEventListener('abort', () => fail(new v1.McpError(v1.ErrorCode.RequestTimeout, String(signal.reason))), { once: true });
      if (timeout !== undefined) {
        const timer = setTimeout(() => fail(new v1.McpError(v1.ErrorCode.RequestTimeout, 'Request timed out', { timeout })), timeout);
        timer.unref?.();
      }
      const message = { jsonrpc: '2.0' as const, id, method, params };
      this.enqueue(taskId, { type: 'request', message, timestamp: Date.now() }).catch(fail);
    });
    return answered.finally(() => this.#waiting.delete(id));
  }

  async enqueue(taskId: string, message: QueuedMessage): Promise<void> {
    if (!this.queue) throw new Error('Cannot enqueue task message: taskStore and taskMessageQueue are not configured');
    await this.queue.enqueue(taskId, message, this.#protocol.transport?.sessionId, this.#options.maxTaskQueueSize);
  }

  #storeFor(request: v1.JSONRPCRequest, sessionId: string | undefined): RequestTaskStore {
    const store = this.#store;
    const { id, method, params } = request;
    return {
      createTask: (options) => store.createTask(options, id, { method, params }, sessionId),
      getTask: (taskId) => this.#find(taskId, sessionId, 'Failed to retrieve task: Task not found'),
      getTaskResult: (taskId) => store.getTaskResult(taskId, sessionId),
      listTasks: (cursor) => store.listTasks(cursor, sessionId),
      storeTaskResult: async (taskId, status, result) => {
        await store.storeTaskResult(taskId, status, result, sessionId);
        await this.#announce(taskId, sessionId);
      },
      updateTaskStatus: async (taskId, status, statusMessage) => {
        const task = await this.#find(taskId, sessionId, `Task "${taskId}" not found - it may have been cleaned up`);
        if (isTerminal(task.status)) {
          const why = 'Terminal states (completed, failed, cancelled) cannot transition to other states.';
          throw new v1.McpError(
            v1.ErrorCode.InvalidParams,
            `Cannot update task "${taskId}" from terminal status "${task.status}" to "${status}". ${why}`,
          );
        }
        await store.updateTaskStatus(taskId, status, statusMessage, sessionId);
        await this.#announce(taskId, sessionId);
      },
    };
  }

  async #announce(taskId: string, sessionId: string | undefined): Promise<void> {
    const task = await this.#store.getTask(taskId, sessionId);
    if (task) await this.#protocol.notification({ method: 'notifications/tasks/status', params: { ...task } });
  }

  async #find(taskId: string, sessionId: string | undefined, problem: string): Promise<v1.Task> {
    const task = await this.#store.getTask(taskId, sessionId);
    if (!task) throw new v1.McpError(v1.ErrorCode.InvalidParams, problem);
    return task;
  }

  // ---- the methods

  async #result(taskId: string, extra: Extra): Promise<v1.Result> {
    const { sessionId, signal } = extra;
    for (;;) {
      await this.#find(taskId, sessionId, `Task not found: ${taskId}`);
      await this.#deliver(taskId, extra);
      const task = await this.#find(taskId, sessionId, `Task not found: ${taskId}`);
      if (isTerminal(task.status)) break;
      await pause(task.pollInterval ?? this.#options.defaultTaskPollInterval ?? 1000, signal);
    }
    const result = await this.#store.getTaskResult(taskId, sessionId);
    await this.#forget(taskId, sessionId);
    return { ...result, _meta: { ...result._meta, [v1.RELATED_TASK_META_KEY]: { taskId } } };
  }

  /** Sends what waits in the task's queue on the stream of this `tasks/result`. */
  async #deliver(taskId: string, { sessionId, requestId }: Extra): Promise<void> {
    const next = (): Promise<QueuedMessage | undefined> | undefined => this.queue?.dequeue(taskId, sessionId);
    for (let queued = await next(); queued; queued = await next()) {
      const { type, message } = queued;
      if (type === 'notification') await this.#protocol.notification(message, { relatedRequestId: requestId });
      if (type !== 'request') continue;
      const waiting = this.#waiting.get(message.id as number);
      if (!waiting) this.#protocol._report(new Error(`Nobody waits for the answer to request ${message.id} of task ${taskId}`));
      else {
        // Not awaited: the task may have more to say before the user answers.
        this.#protocol
          ._send(message.method, message.params, { relatedRequestId: requestId, timeout: Infinity })
          .then(waiting.resolve, waiting.reject);
      }
    }
  }

  async #forget(taskId: string, sessionId: string | undefined): Promise<void> {
    for (const { type, message } of (await this.queue?.dequeueAll(taskId, sessionId)) ?? []) {
      if (type === 'request')
        this.#waiting.get(message.id as number)?.reject(new v1.McpError(v1.ErrorCode.InternalError, 'Task cancelled or completed'));
    }
  }

  async #list({ params }: v1.JSONRPCRequest, sessionId: string | undefined): Promise<v1.Result> {
    try {
      const { tasks, nextCursor } = await this.#store.listTasks(params?.['cursor'] as string | undefined, sessionId);
      return { tasks, nextCursor, _meta: {} };
    } catch (error) {
      throw new v1.McpError(v1.ErrorCode.InvalidParams, `Failed to list tasks: ${textOf(error)}`);
    }
  }

  async #cancel(taskId: string, sessionId: string | undefined): Promise<v1.Result> {
    const task = await this.#find(taskId, sessionId, `Task not found: ${taskId}`);
    if (isTerminal(task.status)) throw new v1.McpError(v1.ErrorCode.InvalidParams, `Cannot cancel task in terminal status: ${task.status}`);
    try {
      await this.#store.updateTaskStatus(taskId, 'cancelled', 'Client cancelled task execution.', sessionId);
    } catch (error) {
      throw new v1.McpError(v1.ErrorCode.InvalidRequest, `Failed to cancel task: ${textOf(error)}`);
    }
    await this.#forget(taskId, sessionId);
    return { ...(await this.#find(taskId, sessionId, `Task not found after cancellation: ${taskId}`)), _meta: {} };
  }
}

function idOf({ params }: v1.JSONRPCRequest): string {
  const taskId = params?.['taskId'];
  if (typeof taskId !== 'string') throw new v1.McpError(v1.ErrorCode.InvalidParams, 'taskId must be a string');
  return taskId;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** @throws {McpError} The request was cancelled. */
function pause(forMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new v1.McpError(v1.ErrorCode.InvalidRequest, 'Request cancelled'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, forMs);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
