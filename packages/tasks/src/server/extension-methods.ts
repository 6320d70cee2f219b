/** The methods of the 2026-07-28 tasks extension: `tasks/get`, `tasks/update`, `tasks/cancel`, and `taskIds` of `subscriptions/listen`. */

import { type Clock, type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkClientResult, hasExtension } from '@mortise/protocol/checks';
import type { ExtensionCall, ExtensionHost, TaskRecord } from '@mortise/protocol/contracts';
import { missingCapabilityError } from '@mortise/protocol/wire';
import type { TaskEngine } from '../engine/task-engine.ts';
import type { TaskRun } from '../engine/task-run.ts';
import { type GivenAnswer, isEnded, isOutstanding } from '../engine/task-states.ts';
import { CORE_GENERATION, TASKS_EXTENSION, toDetailedTask, withWireErrors } from '../wire.ts';

/** The most task ids in one `subscriptions/listen` request. */
const MAX_TASK_IDS = 1_000;
/** The empty result of `tasks/update` and `tasks/cancel`. */
const ACKNOWLEDGED: JsonObject = Object.freeze({});

/** Whether the client declares the tasks extension in this request. */
export function takesTasks(call: Pick<ExtensionCall, 'clientCapabilities'>): boolean {
  return hasExtension(call.clientCapabilities, TASKS_EXTENSION);
}

/** Makes the error for a request that needs the tasks extension, from a client that did not declare the extension. */
export function undeclared(): ProtocolError {
  return missingCapabilityError({ extensions: { [TASKS_EXTENSION]: {} } });
}

/** Adds `tasks/get`, `tasks/update` and `tasks/cancel` of the 2026-07-28 tasks extension to a server. */
export function addExtensionMethods(host: ExtensionHost, engine: TaskEngine): void {
  const add = (method: string, fn: (params: JsonObject, call: ExtensionCall) => Promise<JsonObject>): void =>
    host.addMethod(method, { eras: ['modern'], nameParam: 'taskId' }, (params, call) =>
      withWireErrors(async () => {
        await requireDeclared(method, params, call, engine);
        return fn(params, call);
      }),
    );

  add('tasks/get', async ({ taskId }, { principal }) => toDetailedTask(await engine.poll(taskId, principal)));

  add('tasks/update', async ({ taskId, inputResponses }, { principal }) => {
    const task = await engine.get(taskId, principal);
    await engine.answer(task, readResponses(inputResponses, task));
    return ACKNOWLEDGED;
  });

  add('tasks/cancel', async ({ taskId }, { principal }) => {
    await engine.cancel(await engine.get(taskId, principal));
    return ACKNOWLEDGED;
  });
}

/** Lets clients subscribe to tasks: adds the filter `taskIds` to `subscriptions/listen`. Sends each task's state once, then its changes. */
export function addTaskFilter(host: ExtensionHost, engine: TaskEngine): void {
  host.addFilter({
    key: 'taskIds',
    async accept(wish, call, { send, ended }) {
      if (!takesTasks(call)) throw undeclared();
      if (!Array.isArray(wish) || wish.length > MAX_TASK_IDS || !wish.every((id: JsonValue) => typeof id === 'string'))
        throw new ProtocolError(INVALID_PARAMS, `Invalid params: taskIds must be an array of at most ${MAX_TASK_IDS} task ids`);
      const known = await Promise.all(wish.map((id: JsonValue) => engine.get(id, call.principal).catch(() => undefined)));
      const ids = known.filter((record) => record !== undefined).map(({ id }) => id);
      for (const id of new Set(ids)) follow(engine, id, (task) => send('notifications/tasks', task), ended);
      return ids;
    },
  });
}

/** Passes the state of a task to `send`, at first and after each change, until the task ends or `ended` aborts. */
function follow(engine: TaskEngine, id: string, send: (task: JsonObject) => void, ended: AbortSignal): void {
  if (ended.aborted) return;
  const stop = engine.watch(id, 0, (record) => {
    if (record) send(toDetailedTask(record));
    if (!record || isEnded(record.status)) stop();
  });
  ended.addEventListener('abort', stop, { once: true });
}

/** Refuses requests without the tasks extension, except to read or cancel 2025-11-25 tasks. @see SEP-2663 backward compatibility */
async function requireDeclared(method: string, { taskId }: JsonObject, call: ExtensionCall, engine: TaskEngine): Promise<void> {
  if (takesTasks(call)) return;
  const record = typeof taskId === 'string' && method !== 'tasks/update' ? await engine.peek(taskId) : undefined;
  if (record?.generation !== CORE_GENERATION || record.principal !== call.principal) throw undeclared();
}

/** Reads a client's answers to a task's input requests. @throws {ProtocolError} -32602: an answer is invalid; all of them are dropped. */
function readResponses(given: JsonValue | undefined, { asks }: TaskRecord): ReadonlyMap<string, GivenAnswer> {
  if (!isJsonObject(given)) throw new ProtocolError(INVALID_PARAMS, 'Invalid params: params.inputResponses must be an object');
  const questions = new Map(asks.filter(isOutstanding).map((ask) => [ask.key, ask]));
  const answers = new Map<string, GivenAnswer>();
  for (const [key, answer] of Object.entries(given)) {
    if (!isJsonObject(answer))
      throw new ProtocolError(INVALID_PARAMS, `Invalid params: inputResponses[${JSON.stringify(key)}] must be an object`);
    const question = questions.get(key);
    if (!question) continue;
    const problem = checkClientResult(question.method, answer);
    if (problem !== undefined) throw new ProtocolError(INVALID_PARAMS, `Invalid params: inputResponses["${key}"] is invalid: ${problem}`);
    answers.set(key, { answer });
  }
  return answers;
}

/** The shortest time between two changes of a task's status message, in milliseconds. */
const MIN_INTERVAL_MS = 250;

/** Shows a handler's progress as the task's status message, as the tasks extension has no progress notifications. @see SEP-2663 */
export class StatusFromProgress {
  readonly #clock: Clock;
  /** The runs that set a status message less than `MIN_INTERVAL_MS` ago, each with the next message to set; undefined for none. */
  readonly #waiting = new Map<TaskRun, string | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  report(run: TaskRun, { message, progress, total }: JsonObject): void {
    // A status message is for people: a bare number says too little.
    if (typeof message !== 'string') return;
    const text = typeof total === 'number' ? `${message} (${String(progress)} of ${total})` : message;
    const isBusy = this.#waiting.has(run);
    this.#waiting.set(run, isBusy ? text : undefined);
    if (!isBusy) void this.#write(run, text);
  }

  async #write(run: TaskRun, text: string): Promise<void> {
    await run.setStatus(text).catch(() => undefined);
    this.#clock.schedule(() => {
      const next = this.#waiting.get(run);
      if (next === undefined || run.isOver) {
        this.#waiting.delete(run);
        return;
      }
      this.#waiting.set(run, undefined);
      void this.#write(run, next);
    }, MIN_INTERVAL_MS);
  }
}
