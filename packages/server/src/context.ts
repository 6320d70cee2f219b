/**
 * `Context`: everything known about one request while it is served. Handlers, middleware and extensions all get this object. Parts that few
 * requests need are created on first use.
 */

import type { Clock, JsonObject, JsonRpcNotification, JsonRpcRequest, JsonValue, ProtocolError, RequestId } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { Cancellation, resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { Era, Revision } from '@mortise/protocol';
import type { Ask, AuthInfo, Call, CallOrigin, ExtensionCall, HandlerRun, Principal, RunSoFar, Span } from '@mortise/protocol/contracts';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  ListRootsResult,
} from '@mortise/protocol/model';
import type { Round } from './asks/round.ts';
import type { EarlierRounds } from './asks/round-state.ts';
import { Steps } from './asks/steps.ts';
import { ChannelCall } from './calls.ts';
import type { Deadline } from './deadlines.ts';
import { callOver } from './errors.ts';
import { addExtensionMembers, handOver } from './extension-members.ts';
import type {
  AskOptions,
  ElicitFormRequest,
  ElicitFormResult,
  HandlerContext,
  HandlerLog,
  OwnContext,
  ProgressUpdate,
} from './handler-context.ts';
import { createLog } from './logging.ts';
import type { Route } from './method.ts';
import type { ClientFacts } from './middleware/middleware.ts';
import { completeElicitation, sendNotification } from './notify.ts';
import { createReporter, type ProgressReporter } from './progress.ts';
import type { InferOutput, ObjectSchema } from './schema/infer.ts';
import type { Asks, Server } from './server.ts';
import type { Session } from './session.ts';

/** What a `Context` is created from, once the revision of the request is known. */
export interface ContextInit {
  readonly server: Server;
  readonly route: Route;
  /** The JSON-RPC id. Undefined for a notification, and for a tool that runs from a stored record (as in a task). */
  readonly requestId: RequestId | undefined;
  /** The params, converted to the newest revision's shape (canonical form). */
  readonly params: JsonObject;
  readonly client: ClientFacts;
  readonly call: Call;
  /** The session of a legacy client. Undefined for a modern request. */
  readonly session: Session | undefined;
}

/** How a handler ended: with a result, or with the error that it threw. */
export type Outcome = { readonly result: JsonObject } | { readonly error: unknown };

const EMPTY: JsonObject = Object.freeze({});
const ignore = (): void => undefined;

export class Context implements OwnContext, ExtensionCall, HandlerRun {
  readonly server: Server;
  readonly route: Route;
  readonly requestId: RequestId | undefined;
  readonly client: ClientFacts;
  readonly call: Call;
  readonly session: Session | undefined;
  /** The request's params as they arrived, before any middleware changed them. */
  readonly givenParams: JsonObject;
  params: JsonObject;
  app: unknown = undefined;
  /** A result that is sent without conversion: one made by an extension, or a list whose items already have the revision's shape. */
  ownResult: JsonObject | undefined = undefined;
  /** The request's trace span. Undefined without the option `tracer`. */
  span: Span | undefined = undefined;
  earlier: EarlierRounds | undefined = undefined;
  /** A modern call's requests to the client and their answers. Undefined until the handler requests input or continues with answers. */
  round: Round | undefined = undefined;
  /** The client's roots, requested at most once per call. */
  roots: Promise<ListRootsResult> | undefined = undefined;
  /** How many notifications the handler has sent in this run. */
  reportCount = 0;
  /** How many requests this call has sent to the client. */
  askCount = 0;
  /** True if the call requested input or became a task: the handler's own result is then dropped, or goes to the task. */
  isConcluded = false;
  /** Called with the `input_required` result when it is sent although the handler still runs. */
  onSuspended: ((question: Promise<JsonObject>) => void) | undefined = undefined;
  /** Whether the response to this request was sent. */
  isEnded = false;
  /** The task that the handler continues as. Undefined if it does not run as a task. */
  taskRun: HandlerRun | undefined = undefined;
  /** The running time limit of the handler. Undefined without a limit, or once the handler is done. */
  deadline: Deadline | undefined = undefined;
  /** How many requests to the client still wait for their answer. */
  openAsks = 0;
  #cancellation: Cancellation | undefined;
  #asking: Cancellation | undefined;
  #steps: Steps | undefined;
  #opening: Promise<Round> | undefined;
  #progress: ProgressReporter | undefined;
  #log: HandlerLog | undefined;
  #state: Map<unknown, unknown> | undefined;

  constructor(init: ContextInit) {
    this.server = init.server;
    this.route = init.route;
    this.requestId = init.requestId;
    this.client = init.client;
    this.call = init.call;
    this.session = init.session;
    this.givenParams = init.params;
    this.params = init.params;
  }

  // ---- what the request is

  get method(): string {
    return this.route.method;
  }

  /** The name of the tool or prompt, or the URI of the resource, that the request is about. */
  get target(): string | undefined {
    const { nameParam } = this.route;
    // Middleware may have set the params to any value.
    const target = nameParam === undefined ? undefined : (this.params as JsonObject | null)?.[nameParam];
    return typeof target === 'string' ? target : undefined;
  }

  /**
   * What the request is called in logs and errors: `tool "add"`. Only registered names are shown: the server remembers its one-time
   * warnings, and names that a client invents could fill its memory.
   */
  get name(): string {
    const { method, route, target } = this;
    return route.entry.findsByName ? `${method.split('/', 1)[0]?.replace(/s$/, '')} "${target}"` : method;
  }

  get revision(): Revision {
    return this.route.revision;
  }
  get era(): Era {
    return this.route.revision.era;
  }
  get principal(): Principal {
    return this.call.principal;
  }
  get clock(): Clock {
    return this.server.clock;
  }
  get auth(): AuthInfo | undefined {
    return this.call.auth;
  }
  get authInfo(): AuthInfo | undefined {
    return this.call.auth;
  }
  get origin(): CallOrigin | undefined {
    return this.call.origin;
  }
  get paramFault(): ProtocolError | undefined {
    return this.call.paramFault;
  }
  get sessionId(): string | undefined {
    return this.session?.id;
  }
  get clientCapabilities(): ClientFacts['capabilities'] {
    return this.client.capabilities;
  }
  /** Whether the request stands alone, as an HTTP request does: the next one may come to another machine. */
  get isExchange(): boolean {
    return !this.session && !(this.call instanceof ChannelCall);
  }
  get meta(): JsonObject {
    const meta = this.givenParams['_meta'];
    return isJsonObject(meta) ? meta : EMPTY;
  }
  get state(): Map<unknown, unknown> {
    return (this.#state ??= new Map());
  }
  get inputResponses(): Readonly<Record<string, JsonObject>> | undefined {
    return this.earlier?.inputResponses;
  }
  get requestState(): JsonValue | undefined {
    return this.earlier?.requestState;
  }

  // ---- its end

  /** Whether the request has its response or was cancelled, so that nothing more may be sent for it. */
  get isOver(): boolean {
    if (this.taskRun) return this.taskRun.signal.aborted;
    return this.isEnded || this.call.isCancelled;
  }

  get signal(): AbortSignal {
    if (!this.#cancellation) {
      this.#cancellation = new Cancellation();
      if (this.taskRun || !this.isEnded || this.call.isCancelled) this.#cancellation.follow((this.taskRun ?? this.call).signal);
    }
    return this.#cancellation.signal;
  }

  /** Aborts the signal that the handler got as `ctx.signal`. */
  abort(reason: Error): void {
    (this.#cancellation ??= new Cancellation()).cancel(reason);
  }

  /** A signal that aborts when the request has its response. It cancels requests to the client that are still pending. */
  get asking(): AbortSignal {
    return (this.#asking ??= new Cancellation()).signal;
  }

  /** Must be called right before the response is sent. Sends the last progress notification. Afterwards no notification is sent. */
  end(): void {
    if (this.isEnded) return;
    if (this.openAsks > 0 && !this.#isAborted) {
      this.server.warnOnce(
        `${this.name} ended before its question to the client was answered: await every ctx.elicit, ctx.sample and ctx.listRoots, or abort the question by its signal`,
      );
    }
    if (this.deadline) this.server.deadlines.end(this.deadline);
    this.#progress?.end(this.call.isCancelled);
    this.#asking?.cancel(callOver());
    this.isEnded = true;
    // A handler that continues as a task still needs the task's signal.
    if (!this.taskRun) this.#cancellation?.release();
  }

  /** Whether the client cancelled the call, or the handler reached its time limit. */
  get #isAborted(): boolean {
    return this.call.isCancelled || this.#cancellation?.isCancelled === true;
  }

  // ---- for extensions

  /** Returns the `ctx` of the handler: this object with the members that extensions add. Called right before the handler runs. */
  forHandler(): HandlerContext {
    if (this.server.extensions.length > 0) addExtensionMembers(this);
    return this as OwnContext as HandlerContext;
  }

  get tell(): ((notification: JsonRpcNotification) => void) | undefined {
    const { session } = this;
    return session && ((notification) => session.tell(notification, undefined));
  }

  request(ask: Ask): Promise<JsonObject> {
    return this.ask(ask);
  }

  /** Continues the handler as a task: its requests to the client, steps and notifications go to the task, whose signal replaces its own. */
  continueIn(run: HandlerRun): void {
    this.taskRun = run;
    if (!this.#cancellation) return;
    this.#cancellation.release();
    this.#cancellation.follow(run.signal);
  }

  detach(run: HandlerRun): RunSoFar | undefined {
    return handOver(this, run);
  }

  // ---- what the handler's run can do: a `HandlerRun`, which `detach` exchanges once

  get run(): HandlerRun {
    return this;
  }

  ask(ask: Ask): Promise<JsonObject> {
    return this.#withAsks((asks) => asks.send(this, ask));
  }

  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    const value = (this.taskRun ?? this.steps).once(key, fn);
    value.catch(ignore);
    return value;
  }

  report(notification: JsonRpcNotification): Promise<void> {
    if (this.taskRun) return this.taskRun.report(notification);
    // Notifications that an earlier round sent are not sent again.
    return this.reportCount++ < (this.earlier?.reports ?? 0) ? resolvedPromise : this.send(notification);
  }

  /** Sends a notification that belongs to this request, converted from canonical form to the revision of the request. */
  send(notification: JsonRpcNotification): Promise<void> {
    if (this.taskRun) return this.taskRun.report(notification);
    if (this.isOver) return resolvedPromise;
    const convert = notification.params && this.revision.toWire.notifications.get(notification.method);
    const sent = this.call.send(convert ? { ...notification, params: convert(notification.params ?? EMPTY) } : notification);
    // A failed send is not the handler's fault: the client has left.
    return sent === resolvedPromise ? sent : sent.catch(ignore);
  }

  /** The steps that the handler ran with `ctx.once`. */
  get steps(): Steps {
    return (this.#steps ??= new Steps());
  }

  /** Sets the `ctx.once` steps that earlier runs of the handler finished. */
  set steps(steps: Steps) {
    this.#steps = steps;
  }

  /** Decrypts the `requestState` of a request that continues an earlier one. Rejects if it cannot be decrypted. */
  openRound(): Promise<Round> {
    this.#opening ??= this.#withAsks(async (asks) => (this.round = await asks.openRound(this)));
    return this.#opening;
  }

  // ---- what handlers use

  elicit<S extends ObjectSchema>(params: ElicitFormRequest<S>, options?: AskOptions): Promise<ElicitFormResult<InferOutput<S>>>;
  elicit(params: ElicitRequestParams, options?: AskOptions): Promise<ElicitResult>;
  elicit(params: ElicitFormRequest<ObjectSchema> | ElicitRequestParams, options?: AskOptions): Promise<unknown> {
    return this.#withAsks((asks) => asks.elicit(this, params, options));
  }

  sample(params: CreateMessageRequestParams, options?: AskOptions): Promise<CreateMessageResult> {
    const request = { method: 'sampling/createMessage', params };
    return this.sendRequest(request, undefined, options) as Promise<CreateMessageResult>;
  }

  listRoots(options?: AskOptions): Promise<ListRootsResult> {
    return this.#withAsks((asks) => asks.listRoots(this, options));
  }

  sendRequest(
    { method, params }: JsonRpcRequest | { readonly method: string; readonly params?: JsonObject | undefined },
    _schema?: unknown,
    options?: AskOptions,
  ): Promise<JsonObject> {
    return this.#withAsks((asks) => asks.askClient(this, method, params, options));
  }

  get log(): HandlerLog {
    return (this.#log ??= createLog(this));
  }

  progress(update: ProgressUpdate | number, total?: number, message?: string): Promise<void> {
    if (this.isOver) return resolvedPromise;
    this.#progress ??= createReporter(this);
    this.#progress?.report(typeof update === 'number' ? { progress: update, total, message } : update);
    return resolvedPromise;
  }

  /** The highest progress that the handler reported in this run or an earlier one. */
  get highestProgress(): number | undefined {
    return this.#progress?.highest ?? this.earlier?.progress;
  }

  notify(method: string, params?: JsonObject): Promise<void>;
  notify(notification: JsonRpcNotification): Promise<void>;
  notify(what: string | JsonRpcNotification, params?: JsonObject): Promise<void> {
    return typeof what === 'string' ? sendNotification(this, what, params) : this.send(what);
  }

  sendNotification({ method, params }: { readonly method: string; readonly params?: JsonObject | undefined }): Promise<void> {
    return sendNotification(this, method, params);
  }

  completeElicitation(elicitationId: string): Promise<void> {
    return completeElicitation(this, elicitationId);
  }

  closeStream(retryMs?: number): void {
    if (!this.isOver) this.call.closeStream?.(retryMs);
  }

  /** Counts a request to the client while it is pending. If the handler does not await it, a rejection must not end the process. */
  #withAsks<T>(use: (asks: Asks) => Promise<T>): Promise<T> {
    const asked = this.server.withAsks(use);
    this.openAsks += 1;
    const onSettled = (): void => {
      this.openAsks -= 1;
    };
    asked.then(onSettled, onSettled);
    return asked;
  }
}
