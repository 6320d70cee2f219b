/** What handlers and visibility rules are given. */

import type { JsonObject, JsonRpcNotification, JsonRpcRequest, JsonValue, LogLevel, RequestId } from '@mortise/jsonrpc-core';
import type { Era, Revision } from '@mortise/protocol';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  ListRootsResult,
} from '@mortise/protocol/model';
import type { AuthInfo, CallOrigin, ContextMembers, HandlerRun, Principal } from '@mortise/protocol/contracts';
import type { ClientFacts } from './middleware/middleware.ts';
import type { InferOutput, ObjectSchema } from './schema/infer.ts';

/** Who asks, for rules that show different things to different callers. Never says which connection or session it is. */
export interface VisibilityContext<App = unknown> {
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  /** What `options.context` made; undefined without that option, and where a rule is asked outside a request. */
  readonly app: App | undefined;
  readonly origin: CallOrigin | undefined;
}

/** One step of progress. Values that do not increase are dropped. */
export interface ProgressUpdate {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/**
 * Sends a log message to the client, as far as it asked for that level, and the server declares `logging`.
 *
 * @deprecated since 2026-07-28, with the protocol's logging: write to stderr, or use OpenTelemetry. Works in every revision.
 */
export type HandlerLog = ((level: LogLevel, data: JsonValue, logger?: string) => Promise<void>) &
  Readonly<Record<LogLevel, (data: JsonValue, logger?: string) => Promise<void>>>;

/** How one question to the client is asked. */
export interface AskOptions {
  /** The question's own name, for handlers whose questions depend on something that may change between runs. @default none */
  readonly key?: string | undefined;
  /** Gives the question up; it then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the answer, where the call waits for it: in the legacy era. @default 600_000 */
  readonly timeoutMs?: number | undefined;
}

/** A form whose fields are given as a schema of any library instead of JSON Schema. */
export interface ElicitFormRequest<S extends ObjectSchema> {
  readonly mode?: 'form' | undefined;
  readonly message: string;
  readonly requestedSchema: S;
}

/** What a user put into a typed form. */
export type ElicitFormResult<T> =
  | { readonly action: 'accept'; readonly content: T; readonly _meta?: JsonObject | undefined }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined; readonly _meta?: JsonObject | undefined };

/**
 * What a tool, prompt or resource handler is given beside its arguments. Extensions add members by declaration merging.
 *
 * After the call is answered or cancelled nothing is sent any more: what is written then is dropped.
 */
export interface HandlerContext<App = unknown> extends OwnContext<App>, ContextMembers {}

/** What the server itself gives a handler. */
export interface OwnContext<App = unknown> {
  /** Aborts when the call is cancelled (with the client's reason), its time is over, or the server closes. */
  readonly signal: AbortSignal;
  /** On whose behalf the call is made. */
  readonly principal: Principal;
  /** What the verified token says; undefined where nobody was verified. */
  readonly auth: AuthInfo | undefined;
  /** The same as `auth`. */
  readonly authInfo: AuthInfo | undefined;
  /** Undefined where a tool runs outside a request, as in a task. */
  readonly requestId: RequestId | undefined;
  /** The legacy session's id, where the transport has one. */
  readonly sessionId: string | undefined;
  readonly revision: Revision;
  readonly era: Era;
  readonly client: ClientFacts;
  /** The request's `_meta`. */
  readonly meta: JsonObject;
  /** The HTTP request behind the call, where there is one. */
  readonly origin: CallOrigin | undefined;
  /** What `options.context` made for this request. */
  readonly app: App;
  /** What middleware left for the handler. */
  readonly state: Map<unknown, unknown>;
  /** The seam to the client: what `elicit`, `sample`, `once` and the rest go through. */
  readonly run: HandlerRun;
  /**
   * Sends a log message to the client: `ctx.log.info('done')`. Nothing goes out unless the server declares `capabilities: { logging: {} }`, of which
   * its `logger` receives one warning; a modern client must also ask for a level with the request.
   *
   * @deprecated since 2026-07-28, with the protocol's logging: write to stderr, or use OpenTelemetry. Works in every revision.
   */
  readonly log: HandlerLog;
  /**
   * Tells the client how far the call has come, if it asked. Steps that come too fast are merged to the newest; the last one
   * is always sent, before the answer.
   */
  progress(update: ProgressUpdate): Promise<void>;
  progress(progress: number, total?: number, message?: string): Promise<void>;
  /** Sends a notification that belongs to this call. */
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Closes the call's stream early, so that the client comes back for the answer; does nothing where the host cannot. */
  closeStream(retryMs?: number): void;
  /**
   * Asks the user, by a form or a web page. In the modern era the exchange ends here, and the handler runs again from its top
   * with the answer: what it does before belongs into `once`. See docs/guides/ask-the-user.md.
   *
   * @throws {Suspended} `ERR_SUSPENDED`: the question went out; let it pass.
   * @throws {AskError} `ERR_INVALID_ASK`: the question breaks a rule, or asks for a secret by a form.
   * @throws {AskError} `ERR_INVALID_ANSWER`: the client answered with what the form does not allow.
   * @throws {AskError} `ERR_ASK_CHANGED`: the handler asked something else when it ran again.
   * @throws {AskError} `ERR_TOO_MANY_ASKS`: `requestState.maxRounds` is reached.
   * @throws {AskError} `ERR_CLIENT_CAPABILITY`: the client cannot do that.
   * @throws {AskError} `ERR_ASK_UNAVAILABLE`: no question can reach the client on this connection.
   * @throws {RemoteError} `ERR_REMOTE`: the client refused.
   */
  elicit<S extends ObjectSchema>(params: ElicitFormRequest<S>, options?: AskOptions): Promise<ElicitFormResult<InferOutput<S>>>;
  elicit(params: ElicitRequestParams, options?: AskOptions): Promise<ElicitResult>;
  /**
   * Asks the client's model. Throws as `elicit` does.
   *
   * @deprecated since 2026-07-28: call a model provider's API from the server. Works in every revision.
   */
  sample(params: CreateMessageRequestParams, options?: AskOptions): Promise<CreateMessageResult>;
  /**
   * Asks which places the client offers to work in: once a call, and once until they change where the client says that it tells of
   * changes. Throws as `elicit` does.
   *
   * @deprecated since 2026-07-28: take directories as arguments, resource URIs or configuration. Works in every revision.
   */
  listRoots(options?: AskOptions): Promise<ListRootsResult>;
  /**
   * Runs a step once along one chain of runs of the handler, and gives its value each time. A step that failed is run again.
   *
   * @param fn Given a key that is the same in each run of the chain, for services that take one.
   * @throws {AskError} `ERR_INVALID_STEP`: its value is not JSON.
   */
  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T>;
  /**
   * The answers to what this handler asked with `inputRequired`, by its keys; undefined when it runs for the first time. A client may
   * also send answers that nobody asked it for: where `requestState` matters, look at that first.
   */
  readonly inputResponses: Readonly<Record<string, JsonObject>> | undefined;
  /** The state that this handler gave to `inputRequired`; undefined when it runs for the first time. */
  readonly requestState: JsonValue | undefined;
  /**
   * Tells this client that a page it was asked to open is done with. May be called after the call, as long as the session lives.
   * Does nothing where the revision has no such notification.
   *
   * @param elicitationId The one that `elicit` or `UrlElicitationRequiredError` was given, or that the error made.
   */
  completeElicitation(elicitationId: string): Promise<void>;
  /** The same as `notify`, in the form that MCP users know. */
  sendNotification(
    notification: { readonly method: string; readonly params?: JsonObject | undefined } | JsonRpcNotification,
  ): Promise<void>;
  /** Asks the client anything; a legacy connection only. The schema that MCP users pass second is not needed and not looked at. */
  sendRequest(
    request: { readonly method: string; readonly params?: JsonObject | undefined } | JsonRpcRequest,
    schema?: unknown,
    options?: AskOptions,
  ): Promise<JsonObject>;
}
