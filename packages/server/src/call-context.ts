/** `ctx`: what a handler is given. One object a run, with its members on a prototype. */

import type { JsonObject, JsonRpcNotification, JsonValue, LogLevel, RequestId } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { type Era, LOGGING_LEVELS, type Revision } from '@mortise/protocol';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  ListRootsResult,
} from '@mortise/protocol/model';
import { isLoggingLevel } from '@mortise/protocol/checks';
import { META_PROGRESS_TOKEN } from '@mortise/protocol/wire';
import type { AuthInfo, CallOrigin, HandlerRun, Principal } from '@mortise/protocol/contracts';
import { type ClientRoots, createClientRoots } from './asks/client-roots.ts';
import { completeElicitation } from './asks/complete-elicitation.ts';
import { withAsking } from './asks/load-asking.ts';
import { markHandled } from './asks/mark-handled.ts';
import type { CallFacts } from './call-facts.ts';
import type { AskOptions, ElicitFormRequest, ElicitFormResult, HandlerContext, HandlerLog, OwnContext, ProgressUpdate } from './context.ts';
import { listTopic, LIST_KINDS } from './list-changed.ts';
import { noSuchLevel, warnOfSilence } from './logging.ts';
import type { ClientFacts } from './middleware/middleware.ts';
import type { InferOutput, ObjectSchema } from './schema/infer.ts';

/** Makes the context of one run. Its extensions give it the members that are theirs. */
export function createContext(facts: CallFacts): HandlerContext {
  return new CallContext(facts) as OwnContext as HandlerContext;
}

class CallContext implements OwnContext {
  readonly #facts: CallFacts;
  #log: HandlerLog | undefined;
  #roots: ClientRoots | undefined;

  constructor(facts: CallFacts) {
    this.#facts = facts;
    // With their getters, which may say something else later.
    for (const extension of facts.core.contextExtensions)
      Object.defineProperties(this, Object.getOwnPropertyDescriptors(extension.context?.(facts.forExtensions) ?? {}));
  }

  get signal(): AbortSignal {
    return this.#facts.signal;
  }
  get principal(): Principal {
    return this.#facts.principal;
  }
  get auth(): AuthInfo | undefined {
    return this.#facts.auth;
  }
  get authInfo(): AuthInfo | undefined {
    return this.#facts.auth;
  }
  get requestId(): RequestId | undefined {
    return this.#facts.requestId;
  }
  get sessionId(): string | undefined {
    return this.#facts.sessionId;
  }
  get revision(): Revision {
    return this.#facts.revision;
  }
  get era(): Era {
    return this.#facts.revision.era;
  }
  get client(): ClientFacts {
    return this.#facts.client;
  }
  get meta(): JsonObject {
    return this.#facts.meta;
  }
  get origin(): CallOrigin | undefined {
    return this.#facts.origin;
  }
  get app(): unknown {
    return this.#facts.app;
  }
  get state(): Map<unknown, unknown> {
    return this.#facts.state;
  }
  get run(): HandlerRun {
    return this.#facts.run;
  }
  get log(): HandlerLog {
    return (this.#log ??= createLog((level, data, logger) => this.#writeLog(level, data, logger)));
  }

  progress(update: ProgressUpdate | number, total?: number, message?: string): Promise<void> {
    if (!this.#facts.isOver) this.#facts.progress?.report(typeof update === 'number' ? { progress: update, total, message } : update);
    else this.#facts.warnIfAnswered?.('ctx.progress');
    return resolvedPromise;
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    switch (method) {
      case 'notifications/progress':
        return this.#notifyProgress(params);
      case 'notifications/message':
        return this.#notifyMessage(params);
      case 'notifications/cancelled':
        // Only the server itself may send one, for what it began itself.
        return resolvedPromise;
      default:
        return this.#notifyOther(method, params);
    }
  }

  closeStream(retryMs?: number): void {
    this.#facts.closeStream(retryMs);
  }

  elicit<S extends ObjectSchema>(params: ElicitFormRequest<S>, options?: AskOptions): Promise<ElicitFormResult<InferOutput<S>>>;
  elicit(params: ElicitRequestParams, options?: AskOptions): Promise<ElicitResult>;
  elicit(params: ElicitFormRequest<ObjectSchema> | ElicitRequestParams, options?: AskOptions): Promise<unknown> {
    return this.#tellOf('ctx.elicit', () => withAsking((asking) => asking.elicit(this.#facts, params, options)));
  }

  sample(params: CreateMessageRequestParams, options?: AskOptions): Promise<CreateMessageResult> {
    const { includeContext = 'none' } = params;
    if (includeContext !== 'none')
      this.#facts.core.warnOnce(
        `includeContext "${includeContext}" is deprecated: leave it out, and put what the model needs into messages`,
      );
    return this.#ask('sampling/createMessage', params, options) as Promise<CreateMessageResult>;
  }

  listRoots(options?: AskOptions): Promise<ListRootsResult> {
    return this.#ask('roots/list', undefined, options) as Promise<JsonObject> as Promise<ListRootsResult>;
  }

  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    return markHandled(this.#facts.run.once(key, fn));
  }

  sendNotification(
    notification: { readonly method: string; readonly params?: JsonObject | undefined } | JsonRpcNotification,
  ): Promise<void> {
    return this.notify(notification.method, notification.params);
  }

  sendRequest(
    request: { readonly method: string; readonly params?: JsonObject | undefined },
    _schema?: unknown,
    options?: AskOptions,
  ): Promise<JsonObject> {
    return this.#ask(request.method, request.params, options);
  }

  get roots(): ClientRoots {
    return (this.#roots ??= createClientRoots(this.#facts));
  }
  get inputResponses(): Readonly<Record<string, JsonObject>> | undefined {
    return this.#facts.round?.inputResponses;
  }
  get requestState(): JsonValue | undefined {
    return this.#facts.round?.requestState;
  }

  completeElicitation(elicitationId: string): Promise<void> {
    return completeElicitation(this.#facts, elicitationId);
  }

  #ask(method: string, params: JsonObject | undefined, options: AskOptions | undefined): Promise<JsonObject> {
    return this.#tellOf(`"${method}"`, () => withAsking((asking) => asking.askClient(this.#facts, method, params, options)));
  }

  #tellOf<T>(use: string, ask: () => Promise<T>): Promise<T> {
    this.#facts.warnIfAnswered?.(use);
    const asked = markHandled(ask());
    this.#facts.onAsking?.(asked);
    return asked;
  }

  #writeLog(level: LogLevel, data: JsonValue, logger: string | undefined): Promise<void> {
    if (!isLoggingLevel(level)) return Promise.reject(noSuchLevel(level));
    if (this.#facts.isOver) {
      this.#facts.warnIfAnswered?.('ctx.log');
      return resolvedPromise;
    }
    const { logGate, core, revision } = this.#facts;
    if (!logGate) warnOfSilence(core, revision, 'ctx.log');
    const params = logGate?.admit(level, data ?? null, logger);
    return params ? this.#facts.run.report({ jsonrpc: '2.0', method: 'notifications/message', params }) : resolvedPromise;
  }

  #notifyProgress(params: JsonObject = {}): Promise<void> {
    const { progress, total, message } = params;
    // A token of another call may no longer be active, so only the call's own is used.
    if (params['progressToken'] !== this.#facts.meta[META_PROGRESS_TOKEN] || typeof progress !== 'number') return resolvedPromise;
    return this.progress({
      progress,
      total: typeof total === 'number' ? total : undefined,
      message: typeof message === 'string' ? message : undefined,
    });
  }

  #notifyMessage(params: JsonObject = {}): Promise<void> {
    const { level, data, logger } = params;
    return this.#writeLog(level as LogLevel, data ?? null, typeof logger === 'string' ? logger : undefined);
  }

  #notifyOther(method: string, params: JsonObject | undefined): Promise<void> {
    const { core, revision } = this.#facts;
    if (revision.rules.changeNotifications === 'listen') {
      const kind = LIST_KINDS.find((each) => method === `notifications/${listTopic(each)}`);
      if (kind) core.listChanges.mark(kind);
      if (kind) return resolvedPromise;
      if (method === 'notifications/resources/updated') return core.publishResourceUpdated(String(params?.['uri']));
    }
    return this.#facts.run.report({ jsonrpc: '2.0', method, ...(params ? { params } : {}) });
  }
}

type WriteLog = (level: LogLevel, data: JsonValue, logger?: string) => Promise<void>;

/** `log.info(...)` and its like call the log itself. */
const LOG_METHODS: object = Object.setPrototypeOf(
  Object.fromEntries(
    LOGGING_LEVELS.map((level) => [
      level,
      function (this: WriteLog, data: JsonValue, logger?: string): Promise<void> {
        return this(level, data, logger);
      },
    ]),
  ),
  Function.prototype,
);

function createLog(write: WriteLog): HandlerLog {
  const log: WriteLog = (level, data, logger) => write(level, data, logger);
  return Object.setPrototypeOf(log, LOG_METHODS);
}
