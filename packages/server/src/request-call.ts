/** One request on its way through the server. Built for each, so everything that is not always needed is lazy. */

import type { JsonObject, JsonRpcNotification, RequestId } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { Era, Revision } from '@mortise/protocol';
import { isLoggingLevel, isProgressToken } from '@mortise/protocol/checks';
import { META_LOG_LEVEL, META_PROGRESS_TOKEN } from '@mortise/protocol/wire';
import type {
  Ask,
  AuthInfo,
  CallOrigin,
  Call,
  ExtensionCall,
  HandlerFacts,
  HandlerRun,
  Principal,
  Span,
  RunSoFar,
} from '@mortise/protocol/contracts';
import { ExchangeRun } from './asks/exchange-run.ts';
import type { RoundFacts } from './asks/round-facts.ts';
import type { CallFacts } from './call-facts.ts';
import type { BoundedRun } from './deadlines.ts';
import type { Session } from './era/session.ts';
import { eraOf } from './era/index.ts';
import { LogGate } from './logging.ts';
import type { ClientFacts, MiddlewareCall } from './middleware/middleware.ts';
import { ProgressReporter } from './progress.ts';
import type { ResolvedMethod } from './resolved-method.ts';
import type { ServerCore } from './server-core.ts';
import type { AskedNow, TracedAsk } from './tracing.ts';

/** What a request is, once its era and revision are known. */
export interface RequestCallInit {
  readonly core: ServerCore;
  readonly resolved: ResolvedMethod;
  readonly requestId: RequestId;
  /** Canonical. */
  readonly params: JsonObject;
  readonly meta: JsonObject;
  readonly client: ClientFacts;
  readonly host: Call;
  readonly via: 'channel' | 'exchange';
  /** Of the legacy era. */
  readonly session: Session | undefined;
}

const NO_PARAMS: JsonObject = Object.freeze({});

export class RequestCall implements CallFacts, MiddlewareCall, ExtensionCall, BoundedRun {
  readonly core: ServerCore;
  readonly resolved: ResolvedMethod;
  readonly requestId: RequestId;
  readonly meta: JsonObject;
  readonly client: ClientFacts;
  readonly host: Call;
  readonly via: 'channel' | 'exchange';
  readonly session: Session | undefined;
  /** The params as they came, before any middleware. */
  readonly givenParams: JsonObject;
  params: JsonObject;
  /** Where the program gave a tracer. */
  span: Span | undefined = undefined;
  traceAsk: ((ask: AskedNow) => TracedAsk) | undefined = undefined;
  /** What is known of the rounds before; undefined in the first. */
  round: RoundFacts | undefined = undefined;
  /** Whether the result that asks is made. */
  isConcluded = false;
  /** Told when the client is asked though the handler goes on. */
  onSuspended: ((asked: Promise<JsonObject>) => void) | undefined = undefined;
  app: unknown = undefined;
  /** A result that an extension gave in place of the method's own: it is not converted. */
  ownResult: JsonObject | undefined = undefined;
  startedAtMs = 0;
  usedMs = 0;
  pauses = 0;
  #isEnded = false;
  #openAsks = 0;
  #askedWaiters: (() => void)[] | undefined;
  #onExpired: ((timeoutMs: number) => void) | undefined;
  #controller: AbortController | undefined;
  #unlinkHost: (() => void) | undefined;
  #abortReason: Error | undefined;
  #state: Map<unknown, unknown> | undefined;
  #run: HandlerRun | undefined;
  /** What the handler goes on with once the request is answered by something else. */
  #detachedTo: HandlerRun | undefined;
  #progress: ProgressReporter | undefined;
  #logGate: LogGate | undefined;

  constructor(init: RequestCallInit) {
    this.core = init.core;
    this.resolved = init.resolved;
    this.requestId = init.requestId;
    this.givenParams = init.params;
    this.params = init.params;
    this.meta = init.meta;
    this.client = init.client;
    this.host = init.host;
    this.via = init.via;
    this.session = init.session;
  }

  get method(): string {
    return this.resolved.method;
  }

  get target(): string | undefined {
    const { targetParam } = this.resolved;
    // Middleware may have set the params to anything.
    const target = targetParam === undefined ? undefined : (this.params as JsonObject | null | undefined)?.[targetParam];
    return typeof target === 'string' ? target : undefined;
  }

  get revision(): Revision {
    return this.resolved.revision;
  }

  get era(): Era {
    return this.resolved.revision.era;
  }

  get principal(): Principal {
    return this.host.principal;
  }

  get auth(): AuthInfo | undefined {
    return this.host.auth;
  }

  get origin(): CallOrigin | undefined {
    return this.host.origin;
  }

  get sessionId(): string | undefined {
    return this.session?.id;
  }

  get clientCapabilities(): ClientFacts['capabilities'] {
    return this.client.capabilities;
  }

  get state(): Map<unknown, unknown> {
    return (this.#state ??= new Map());
  }

  get run(): HandlerRun {
    return this.#detachedTo ?? (this.#run ??= eraOf(this.revision).createRun(this));
  }

  /** The run, if the handler has made use of it. */
  get startedRun(): HandlerRun | undefined {
    return this.#detachedTo ?? this.#run;
  }

  get forExtensions(): HandlerFacts {
    return this;
  }

  get call(): ExtensionCall {
    return this;
  }

  get tell(): ((notification: JsonRpcNotification) => void) | undefined {
    const { session } = this;
    return session && ((notification) => session.tell(notification, undefined));
  }

  get isOver(): boolean {
    if (this.#detachedTo) return this.#detachedTo.signal.aborted;
    return this.#isEnded || this.host.isCancelled;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = (this.#controller = new AbortController());
      const host = this.host.signal;
      if (this.#abortReason) controller.abort(this.#abortReason);
      else if (this.#detachedTo) this.#followRun(this.#detachedTo.signal, controller);
      else if (host.aborted) controller.abort(host.reason);
      else if (!this.#isEnded) {
        const onAbort = (): void => controller.abort(host.reason);
        host.addEventListener('abort', onAbort, { once: true });
        // A host may give many calls one signal, so what listens to it must go when the call goes.
        this.#unlinkHost = () => host.removeEventListener('abort', onAbort);
      }
    }
    return this.#controller.signal;
  }

  get progress(): ProgressReporter | undefined {
    if (this.#progress) return this.#progress;
    const token = this.meta[META_PROGRESS_TOKEN];
    if (!isProgressToken(token)) return undefined;
    const send = (params: JsonObject): Promise<void> | undefined => {
      const sent = this.report({ jsonrpc: '2.0', method: 'notifications/progress', params });
      return sent === resolvedPromise ? undefined : sent;
    };
    return (this.#progress = new ProgressReporter(token, send, this.core.clock, this.core.options.progress, this.round?.progress));
  }

  /** The highest step of progress that was reported; undefined for none. */
  get highestProgress(): number | undefined {
    return this.#progress?.highest;
  }

  get logGate(): LogGate | undefined {
    if (!this.core.capabilities.has(this.revision, 'logging')) return undefined;
    if (this.session && this.revision.rules.logLevel === 'session') return this.session.logGate;
    if (this.#logGate) return this.#logGate;
    const level = this.meta[META_LOG_LEVEL];
    return isLoggingLevel(level) ? (this.#logGate = new LogGate(level, this.core.clock, this.core.options.logging)) : undefined;
  }

  report(notification: JsonRpcNotification): Promise<void> {
    if (this.#detachedTo) return this.#detachedTo.report(notification);
    if (this.isOver) return resolvedPromise;
    const convert = this.revision.toWire.notifications.get(notification.method);
    const message = convert && notification.params ? { ...notification, params: convert(notification.params) } : notification;
    const sent = this.host.send(message);
    // A caller that has gone is no fault of the handler.
    return sent === resolvedPromise ? sent : sent.catch(() => undefined);
  }

  notify(notification: JsonRpcNotification): Promise<void> {
    return this.report(notification);
  }

  request(ask: Ask): Promise<JsonObject> {
    return this.run.ask(ask);
  }

  /** A question that nobody waits for would be lost without a word, and one that waits keeps the run from being detached. */
  onAsking(asked: Promise<unknown>): void {
    this.#openAsks += 1;
    const onSettled = (): void => {
      this.#openAsks -= 1;
      if (this.#openAsks === 0) for (const resolve of this.#askedWaiters?.splice(0) ?? []) resolve();
    };
    asked.then(onSettled, onSettled);
  }

  get asking(): Promise<void> | undefined {
    const { run } = this;
    if (!(run instanceof ExchangeRun)) return undefined;
    const { opening } = run;
    if (opening)
      return opening.then(
        () => undefined,
        () => undefined,
      );
    return this.#openAsks === 0 ? undefined : new Promise((resolve) => (this.#askedWaiters ??= []).push(resolve));
  }

  detach(run: HandlerRun): RunSoFar | undefined {
    const before = this.run;
    if (this.#detachedTo || this.isOver || this.isConcluded || !(before instanceof ExchangeRun)) return undefined;
    // The run itself hears of a question only once what asks is loaded.
    if (this.#openAsks > 0) return undefined;
    const { soFar } = before;
    if (!soFar) return undefined;
    this.#detachedTo = run;
    // What the handler gives now is no longer the answer to this request.
    this.isConcluded = true;
    this.core.deadlines.delete(this);
    this.#unlinkHost?.();
    if (this.#controller) this.#followRun(run.signal, this.#controller);
    return { ...soFar, hasLeft: () => this.host.isCancelled };
  }

  closeStream(retryMs?: number): void {
    if (!this.isOver) this.host.closeStream?.(retryMs);
  }

  /** Tells the handler to stop. */
  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#controller?.abort(reason);
  }

  /** @param onExpired Called when the call's time is over. */
  bound(onExpired: (timeoutMs: number) => void): void {
    this.#onExpired = onExpired;
    this.core.deadlines.add(this);
  }

  onExpired(timeoutMs: number): void {
    this.#onExpired?.(timeoutMs);
  }

  #followRun(signal: AbortSignal, controller: AbortController): void {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  }

  warnIfAnswered(use: string): void {
    if (!this.#isEnded || this.host.isCancelled || this.#abortReason || this.#detachedTo) return;
    this.core.warnOnce(`${this.#name} uses ${use} after it has given its answer, which does nothing: await everything before you return`);
  }

  /** Registered names are the program's own, and few; what else a call names is the peer's text. */
  get #name(): string {
    return this.resolved.entry.findsByName === true ? `${this.method} "${this.target}"` : this.method;
  }

  #warnOfOpenAsks(): void {
    if (this.host.isCancelled || this.#abortReason) return;
    this.core.warnOnce(
      `${this.#name} ended before its question to the client was answered: await every ctx.elicit, ctx.sample, ctx.listRoots and ctx.roots, or abort by its signal what is wanted no longer`,
    );
  }

  /** The answer is about to be given: the last progress goes out, and after that nothing. */
  end(): void {
    if (this.#isEnded) return;
    if (this.#openAsks > 0) this.#warnOfOpenAsks();
    this.core.deadlines.delete(this);
    if (this.host.isCancelled) this.#progress?.stop();
    else this.#progress?.flush();
    this.#isEnded = true;
    this.#unlinkHost?.();
  }
}

/** The params of a request without any. */
export function paramsOf(params: JsonObject | undefined): JsonObject {
  return params ?? NO_PARAMS;
}

/** The `_meta` of params. */
export function metaOf(params: JsonObject): JsonObject {
  const meta = params['_meta'];
  return typeof meta === 'object' && meta !== null && !Array.isArray(meta) ? (meta as JsonObject) : NO_PARAMS;
}
