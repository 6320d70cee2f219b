/** `/shared/protocol`: v1's base class of client and server. It keeps the handlers, and reads messages by the schemas that the program gives. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { TaskMessageQueue } from '../experimental/tasks/interfaces.ts';
import { TaskRequests } from '../experimental/tasks/task-requests.ts';
import { TaskSupport } from '../experimental/tasks/task-support.ts';
import { type AnyObjectSchema, type AnySchema, getMethodLiteral, parse, type SchemaOutput } from '../server/zod-compat.ts';
import * as v1 from '../types.ts';
import { ConnectionWire } from './connection-wire.ts';
import type { ResponseMessage } from './responseMessage.ts';
import {
  DEFAULT_REQUEST_TIMEOUT_MSEC,
  type NotificationOptions,
  type ProtocolOptions,
  type RequestHandlerExtra,
  type RequestOptions,
} from './protocol-options.ts';
import type { Transport } from './transport.ts';
import { type AnyProtocol, type Inbound, toMcpError, type Wire } from './wire.ts';

export * from './protocol-options.ts';

type FallbackRequestHandler<SendRequestT extends v1.Request, SendNotificationT extends v1.Notification, SendResultT extends v1.Result> = (
  request: v1.JSONRPCRequest,
  extra: RequestHandlerExtra<SendRequestT, SendNotificationT>,
) => Promise<SendResultT>;
type AnyExtra = RequestHandlerExtra<v1.Request, v1.Notification>;
type RequestHandler = (request: v1.JSONRPCRequest, extra: AnyExtra) => unknown;
type NotificationHandler = (notification: v1.Notification) => unknown;

export abstract class Protocol<SendRequestT extends v1.Request, SendNotificationT extends v1.Notification, SendResultT extends v1.Result> {
  /** Called when the connection has ended. */
  onclose?: (() => void) | undefined;
  /** Called with errors that belong to no request. */
  onerror?: ((error: Error) => void) | undefined;
  /** Handles requests without a handler. */
  fallbackRequestHandler?: FallbackRequestHandler<SendRequestT, SendNotificationT, SendResultT> | undefined;
  /** Handles notifications without a handler. */
  fallbackNotificationHandler?: ((notification: v1.Notification) => Promise<void>) | undefined;
  /** @internal */
  readonly _options: ProtocolOptions | undefined;
  readonly #requestHandlers = new Map<string, RequestHandler>();
  readonly #notificationHandlers = new Map<string, NotificationHandler>();
  readonly #debounced = new Set<string>();
  readonly #tasks: TaskSupport | undefined;
  readonly #tasksOfPeer = new TaskRequests(this);
  #transport: Transport | undefined;
  #wire: Wire | undefined;
  /** Until the wire is open. */
  #opening: Promise<void> | undefined;

  constructor(options?: ProtocolOptions) {
    this._options = options;
    this.#requestHandlers.set('ping', () => ({}));
    if (options?.taskStore) {
      this.#tasks = new TaskSupport(options.taskStore, options, this as unknown as AnyProtocol);
      for (const [method, handler] of this.#tasks.handlers) this.#requestHandlers.set(method, handler);
    }
  }

  // ---- the connection

  get transport(): Transport | undefined {
    return this.#transport;
  }

  /**
   * Starts a transport and talks over it.
   *
   * @throws {Error} There is a connection already.
   */
  async connect(transport: Transport): Promise<void> {
    if (this.#transport) {
      throw new Error(
        'Already connected to a transport. Call close() before connecting to a new transport, or use a separate Protocol instance per connection.',
      );
    }
    this.#transport = transport;
    const wire = this._createWire(transport, () => this.#onClosed(transport));
    for (const method of this.#requestHandlers.keys()) wire.handle(method, true);
    for (const method of this.#notificationHandlers.keys()) wire.listen(method, true);
    this.#wire = wire;
    this.#opening = wire.open();
    await this.#opening;
    this.#opening = undefined;
  }

  /** Closes the connection. Safe to call twice. */
  async close(): Promise<void> {
    await (this.#wire ?? this.#transport)?.close();
  }

  /** @internal Makes what carries the messages. @param onClosed Called once, when it has ended. */
  _createWire(transport: Transport, onClosed: () => void): Wire {
    return new ConnectionWire(this as unknown as AnyProtocol, transport, onClosed);
  }

  #onClosed(transport: Transport): void {
    if (this.#transport !== transport) return;
    this.#transport = undefined;
    this.#wire = undefined;
    this.#opening = undefined;
    this.#debounced.clear();
    this.onclose?.();
  }

  // ---- out

  /**
   * Sends a request and waits for its result.
   *
   * @throws {McpError} The error of the response, or of a timeout, an abort or a lost connection.
   * @throws The error of zod: the result does not fit the schema.
   */
  async request<T extends AnySchema>(request: SendRequestT, resultSchema: T, options: RequestOptions = {}): Promise<SchemaOutput<T>> {
    if (!this.#transport) throw new Error('Not connected');
    const { signal, task, relatedTask } = options;
    if (this._options?.enforceStrictCapabilities === true) {
      this.assertCapabilityForMethod(request.method);
      if (task) this.assertTaskCapability(request.method);
    }
    signal?.throwIfAborted();
    const { method } = request;
    const params = withTask(request.params, task, relatedTask);
    const result =
      relatedTask && this.#tasks?.queue
        ? await this.#tasks.requestThroughTask(relatedTask.taskId, { method, params }, options)
        : await this._send(method, params, options);
    return parse(resultSchema, result);
  }

  /** @internal Sends a request over the wire. Rejects with what a v1 program expects. */
  async _send(method: string, params: v1.Request['params'], options: RequestOptions = {}): Promise<v1.Result> {
    const { signal, onprogress, timeout, maxTotalTimeout, resetTimeoutOnProgress, relatedRequestId } = options;
    const wire = !this.#opening && this.#wire ? this.#wire : await this.#openWire();
    try {
      return await wire.request(method, params as JsonObject | undefined, {
        signal,
        timeoutMs: timeout ?? DEFAULT_REQUEST_TIMEOUT_MSEC,
        // In v1, 0 is none.
        maxTimeoutMs: maxTotalTimeout || Infinity,
        resetTimeoutOnProgress: resetTimeoutOnProgress === true,
        onProgress: onprogress,
        relatedRequestId,
      });
    } catch (error) {
      throw toMcpError(error, options);
    }
  }

  /** @throws {Error} There is no connection. */
  async #openWire(): Promise<Wire> {
    await this.#opening;
    if (!this.#wire) throw new Error('Not connected');
    return this.#wire;
  }

  /** Sends a notification. @throws {Error} Not connected, or this side does not declare the capability. */
  async notification(notification: SendNotificationT, options: NotificationOptions = {}): Promise<void> {
    if (!this.#transport) throw new Error('Not connected');
    const { method, params } = notification;
    this.assertNotificationCapability(method);
    const { relatedRequestId, relatedTask } = options;
    if (relatedTask) {
      const message = { jsonrpc: '2.0' as const, method, params: withTask(params, undefined, relatedTask) };
      if (!this.#tasks) throw new Error('Cannot enqueue task message: taskStore and taskMessageQueue are not configured');
      return this.#tasks.enqueue(relatedTask.taskId, { type: 'notification', message, timestamp: Date.now() });
    }
    const isSimple = params === undefined && relatedRequestId === undefined;
    if (isSimple && this._options?.debouncedNotificationMethods?.includes(method)) return this.#notifySoon(method);
    const wire = !this.#opening && this.#wire ? this.#wire : await this.#openWire();
    try {
      await wire.notify(method, params as JsonObject | undefined, relatedRequestId);
    } catch (error) {
      throw toMcpError(error, {});
    }
  }

  #notifySoon(method: string): void {
    if (this.#debounced.has(method)) return;
    this.#debounced.add(method);
    queueMicrotask(() => {
      this.#debounced.delete(method);
      this.#wire?.notify(method, undefined, undefined).catch((error: unknown) => this._report(error));
    });
  }

  // ---- in

  /**
   * Sets the handler of a request method, in place of an earlier one.
   *
   * @param requestSchema Names the method by its literal `method`, and reads each request.
   */
  setRequestHandler<T extends AnyObjectSchema>(
    requestSchema: T,
    handler: (request: SchemaOutput<T>, extra: RequestHandlerExtra<SendRequestT, SendNotificationT>) => SendResultT | Promise<SendResultT>,
  ): void {
    const method = getMethodLiteral(requestSchema);
    this.assertRequestHandlerCapability(method);
    this._setHandler(method, (request, extra) => handler(parse(requestSchema, request), extra as never));
  }

  /** @internal Sets a handler that gets its requests unread. */
  _setHandler(method: string, handler: RequestHandler): void {
    this.#requestHandlers.set(method, handler);
    this.#wire?.handle(method, true);
  }

  removeRequestHandler(method: string): void {
    this.#requestHandlers.delete(method);
    this.#wire?.handle(method, false);
  }

  /** @throws {Error} There is a handler for the method already. */
  assertCanSetRequestHandler(method: string): void {
    if (this.#requestHandlers.has(method)) throw new Error(`A request handler for ${method} already exists, which would be overridden`);
  }

  /** Sets the handler of a notification, in place of an earlier one. */
  setNotificationHandler<T extends AnyObjectSchema>(
    notificationSchema: T,
    handler: (notification: SchemaOutput<T>) => void | Promise<void>,
  ): void {
    const method = getMethodLiteral(notificationSchema);
    this.#notificationHandlers.set(method, (notification) => handler(parse(notificationSchema, notification)));
    this.#wire?.listen(method, true);
  }

  removeNotificationHandler(method: string): void {
    this.#notificationHandlers.delete(method);
    this.#wire?.listen(method, false);
  }

  /** @internal */
  get _taskMessageQueue(): TaskMessageQueue | undefined {
    return this.#tasks?.queue;
  }

  /** @internal Whether a request method has a handler of its own. */
  _handles(method: string): boolean {
    return this.#requestHandlers.has(method);
  }

  /** @internal The same for a notification. */
  _hears(method: string): boolean {
    return this.#notificationHandlers.has(method);
  }

  /** @internal Runs the handler of a request. Throws, or rejects with, what it throws. */
  _answer(request: v1.JSONRPCRequest, inbound: Inbound): unknown {
    const { method } = request;
    const handler = this.#requestHandlers.get(method) ?? (this.fallbackRequestHandler as RequestHandler | undefined);
    if (!handler) throw Object.assign(new Error('Method not found'), { code: v1.ErrorCode.MethodNotFound });
    if (request.params?.['task'] !== undefined) this.assertTaskHandlerCapability(method);
    return handler(request, this.#toExtra(request, inbound));
  }

  /** @internal Runs the handler of a notification, if there is one. */
  _notice(notification: v1.Notification): void {
    const handler = this.#notificationHandlers.get(notification.method) ?? this.fallbackNotificationHandler;
    if (!handler) return;
    (async () => handler(notification))().catch((error: unknown) =>
      this._report(new Error(`Uncaught error in notification handler: ${String(error)}`, { cause: error })),
    );
  }

  /** @internal */
  _report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }

  #toExtra(request: v1.JSONRPCRequest, inbound: Inbound): AnyExtra {
    const { id: relatedRequestId } = request;
    const { sessionId, info } = inbound;
    const _meta = request.params?._meta;
    const taskId = _meta?.[v1.RELATED_TASK_META_KEY]?.taskId;
    const relatedTask = taskId === undefined ? undefined : { taskId };
    const extra: AnyExtra = {
      // Made when a handler asks for it: few do, and it costs more than the rest of a call.
      get signal() {
        return inbound.signal;
      },
      sessionId,
      _meta,
      requestId: relatedRequestId,
      authInfo: info?.authInfo,
      requestInfo: info?.requestInfo,
      closeSSEStream: info?.closeSSEStream,
      closeStandaloneSSEStream: info?.closeStandaloneSSEStream,
      sendNotification: async (notification) => {
        if (inbound.signal.aborted) return;
        await this.notification(notification as SendNotificationT, { relatedRequestId, relatedTask });
      },
      sendRequest: async (asked, schema, options) => {
        if (inbound.signal.aborted) throw new v1.McpError(v1.ErrorCode.ConnectionClosed, 'Request was cancelled');
        const all = { ...(relatedTask && { relatedTask }), ...options, relatedRequestId };
        if (all.relatedTask) await this.#tasks?.onAsk(all.relatedTask.taskId, request, sessionId);
        return this.request(asked as SendRequestT, schema, all);
      },
    };
    return this.#tasks ? Object.assign(extra, this.#tasks.extraOf(request, sessionId, taskId)) : extra;
  }

  // ---- tasks of the other side

  protected requestStream<T extends AnySchema>(
    request: SendRequestT,
    resultSchema: T,
    options?: RequestOptions,
  ): AsyncGenerator<ResponseMessage<SchemaOutput<T> & v1.Result>, void, void> {
    return this.#tasksOfPeer.requestStream(request, resultSchema, options);
  }

  protected getTask({ taskId }: { taskId: string }, options?: RequestOptions): Promise<v1.GetTaskResult> {
    return this.#tasksOfPeer.getTask(taskId, options);
  }

  protected getTaskResult<T extends AnySchema>(
    { taskId }: { taskId: string },
    schema: T,
    options?: RequestOptions,
  ): Promise<SchemaOutput<T>> {
    return this.#tasksOfPeer.getTaskResult(taskId, schema, options);
  }

  protected listTasks(params?: { cursor?: string }, options?: RequestOptions): Promise<v1.ListTasksResult> {
    return this.#tasksOfPeer.listTasks(params?.cursor, options);
  }

  protected cancelTask({ taskId }: { taskId: string }, options?: RequestOptions): Promise<v1.CancelTaskResult> {
    return this.#tasksOfPeer.cancelTask(taskId, options);
  }

  // ---- what client and server say

  /** @throws {Error} The other side does not declare the capability that the method needs. */
  protected abstract assertCapabilityForMethod(method: SendRequestT['method']): void;
  /** @throws {Error} This side does not declare the capability that the notification needs. */
  protected abstract assertNotificationCapability(method: SendNotificationT['method']): void;
  /** @throws {Error} This side does not declare the capability that a handler of the method needs. */
  protected abstract assertRequestHandlerCapability(method: string): void;
  /** @throws {Error} The other side does not run the method as a task. */
  protected abstract assertTaskCapability(method: string): void;
  /** @throws {Error} This side does not run the method as a task. */
  protected abstract assertTaskHandlerCapability(method: string): void;
}

/** Adds the wish for a task, and the task that a message belongs to, to its params. */
function withTask(
  params: v1.Request['params'],
  task: v1.TaskCreationParams | undefined,
  relatedTask: v1.RelatedTaskMetadata | undefined,
): v1.Request['params'] {
  if (!task && !relatedTask) return params;
  const related = relatedTask && { _meta: { ...params?._meta, [v1.RELATED_TASK_META_KEY]: relatedTask } };
  return { ...params, ...(task && { task }), ...related } as v1.Request['params'];
}

/** Joins capabilities; those of `additional` win, member by member. */
export function mergeCapabilities(base: v1.ServerCapabilities, additional: Partial<v1.ServerCapabilities>): v1.ServerCapabilities;
export function mergeCapabilities(base: v1.ClientCapabilities, additional: Partial<v1.ClientCapabilities>): v1.ClientCapabilities;
export function mergeCapabilities(base: object, additional: object): object {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, added] of Object.entries(additional) as [string, unknown][]) {
    if (added === undefined) continue;
    const before = merged[name];
    merged[name] = isPlainObject(before) && isPlainObject(added) ? { ...before, ...added } : added;
  }
  return merged;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
