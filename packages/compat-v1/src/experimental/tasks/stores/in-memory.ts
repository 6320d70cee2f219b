/** Keeps tasks and their messages in memory: for tests and small servers. */

import type { Request, RequestId, Result, Task } from '../../../types.ts';
import { type CreateTaskOptions, isTerminal, type QueuedMessage, type TaskMessageQueue, type TaskStore } from '../interfaces.ts';

const PAGE = 10;
const DEFAULT_POLL_MS = 1000;

interface Stored {
  task: Task;
  result?: Result;
  timer?: ReturnType<typeof setTimeout>;
  readonly sessionId: string | undefined;
}

/** A task belongs to the session that made it, if there is one. */
export class InMemoryTaskStore implements TaskStore {
  readonly #tasks = new Map<string, Stored>();

  async createTask({ ttl, pollInterval }: CreateTaskOptions, _id: RequestId, _request: Request, sessionId?: string): Promise<Task> {
    const taskId = crypto.randomUUID().replaceAll('-', '');
    const createdAt = new Date().toISOString();
    const task: Task = {
      taskId,
      status: 'working',
      ttl: ttl ?? null,
      createdAt,
      lastUpdatedAt: createdAt,
      pollInterval: pollInterval ?? DEFAULT_POLL_MS,
    };
    const stored: Stored = { task, sessionId };
    this.#tasks.set(taskId, stored);
    this.#expire(stored);
    return { ...task };
  }

  async getTask(taskId: string, sessionId?: string): Promise<Task | null> {
    const stored = this.#find(taskId, sessionId);
    return stored ? { ...stored.task } : null;
  }

  /** @throws {Error} There is no such task, or it has ended. */
  async storeTaskResult(taskId: string, status: 'completed' | 'failed', result: Result, sessionId?: string): Promise<void> {
    const stored = this.#require(taskId, sessionId);
    const { task } = stored;
    if (isTerminal(task.status)) {
      const problem = `Cannot store result for task ${taskId} in terminal status '${task.status}'`;
      throw new Error(`${problem}. Task results can only be stored once.`);
    }
    stored.result = result;
    this.#change(stored, { status });
  }

  /** @throws {Error} There is no such task, or it has no result. */
  async getTaskResult(taskId: string, sessionId?: string): Promise<Result> {
    const { result } = this.#require(taskId, sessionId);
    if (!result) throw new Error(`Task ${taskId} has no result stored`);
    return result;
  }

  /** @throws {Error} There is no such task, or it has ended. */
  async updateTaskStatus(taskId: string, status: Task['status'], statusMessage?: string, sessionId?: string): Promise<void> {
    const stored = this.#require(taskId, sessionId);
    const { task } = stored;
    if (isTerminal(task.status)) {
      const problem = `Cannot update task ${taskId} from terminal status '${task.status}' to '${status}'`;
      throw new Error(`${problem}. Terminal states (completed, failed, cancelled) cannot transition to other states.`);
    }
    this.#change(stored, { status, ...(statusMessage && { statusMessage }) });
  }

  /** @throws {Error} The cursor is not one that this method gave. */
  async listTasks(cursor?: string, sessionId?: string): Promise<{ tasks: Task[]; nextCursor?: string }> {
    const visible = [...this.#tasks.keys()].filter((taskId) => this.#find(taskId, sessionId));
    const start = cursor ? visible.indexOf(cursor) + 1 : 0;
    if (cursor && start === 0) throw new Error(`Invalid cursor: ${cursor}`);
    const page = visible.slice(start, start + PAGE);
    const tasks = page.map((taskId) => ({ ...this.#require(taskId, sessionId).task }));
    const last = page.at(-1);
    return { tasks, ...(start + PAGE < visible.length && last !== undefined && { nextCursor: last }) };
  }

  /** Forgets every task. */
  cleanup(): void {
    for (const { timer } of this.#tasks.values()) clearTimeout(timer);
    this.#tasks.clear();
  }

  getAllTasks(): Task[] {
    return [...this.#tasks.values()].map(({ task }) => ({ ...task }));
  }

  #find(taskId: string, sessionId: string | undefined): Stored | undefined {
    const stored = this.#tasks.get(taskId);
    const isForeign = sessionId !== undefined && stored?.sessionId !== undefined && stored.sessionId !== sessionId;
    return isForeign ? undefined : stored;
  }

  #require(taskId: string, sessionId: string | undefined): Stored {
    const stored = this.#find(taskId, sessionId);
    if (!stored) throw new Error(`Task with ID ${taskId} not found`);
    return stored;
  }

  #change(stored: Stored, changes: Partial<Task>): void {
    stored.task = { ...stored.task, ...changes, lastUpdatedAt: new Date().toISOString() };
    if (isTerminal(stored.task.status)) this.#expire(stored);
  }

  /** Removes a task after its time to live, counted anew from its end. */
  #expire(stored: Stored): void {
    const { taskId, ttl } = stored.task;
    clearTimeout(stored.timer);
    if (ttl) stored.timer = setTimeout(() => this.#tasks.delete(taskId), ttl);
  }
}

export class InMemoryTaskMessageQueue implements TaskMessageQueue {
  readonly #queues = new Map<string, QueuedMessage[]>();

  /** @throws {Error} The queue is full. */
  async enqueue(taskId: string, message: QueuedMessage, _sessionId?: string, maxSize: number = Infinity): Promise<void> {
    const queue = this.#queues.get(taskId) ?? [];
    if (queue.length >= maxSize) throw new Error(`Task message queue overflow: queue size (${queue.length}) exceeds maximum (${maxSize})`);
    queue.push(message);
    this.#queues.set(taskId, queue);
  }

  async dequeue(taskId: string, _sessionId?: string): Promise<QueuedMessage | undefined> {
    return this.#queues.get(taskId)?.shift();
  }

  async dequeueAll(taskId: string, _sessionId?: string): Promise<QueuedMessage[]> {
    const queue = this.#queues.get(taskId) ?? [];
    this.#queues.delete(taskId);
    return queue;
  }
}
