/** The types of `ctx`, which handlers of tools, prompts and resources and the option `visible` get. */

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

/** Who asks, for the option `visible` of tools, resources and prompts. Does not identify the connection or session. */
export interface VisibilityContext<App = unknown> {
  /** The caller: a verified identity, `local` or `anonymous`. */
  readonly principal: Principal;
  /** The claims of the caller's verified token; undefined without a token. */
  readonly auth: AuthInfo | undefined;
  /** The app context that `options.context` made. Undefined without that option, and when `visible` is called outside a request. */
  readonly app: App | undefined;
  /** The HTTP request that brought the call; undefined on other transports. */
  readonly origin: CallOrigin | undefined;
}

/** The argument of `ctx.progress`. An update whose `progress` is not higher than the one before is dropped. */
export interface ProgressUpdate {
  /** How far the work is. Must rise with each update. */
  readonly progress: number;
  /** The value of `progress` at the end, if known. @default none */
  readonly total?: number | undefined;
  /** A text for people about the current step. @default none */
  readonly message?: string | undefined;
}

/**
 * Sends a log message to the client. The server must declare `logging`, and the client's log level must include the message.
 *
 * @deprecated since 2026-07-28, with the protocol's logging: write to stderr, or use OpenTelemetry. Works in every revision.
 */
export type HandlerLog = ((level: LogLevel, data: JsonValue, logger?: string) => Promise<void>) &
  Readonly<Record<LogLevel, (data: JsonValue, logger?: string) => Promise<void>>>;

/** Options of one request to the client, such as `ctx.elicit`. */
export interface AskOptions {
  /** A fixed name for the request. Needed if its text may differ when the handler runs again with the answer. @default none */
  readonly key?: string | undefined;
  /** Aborting it cancels the request to the client, whose promise then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the client's answer, in milliseconds. Legacy era only, where the call waits for it. @default 600_000 */
  readonly timeoutMs?: number | undefined;
}

/** An elicitation form defined by a schema of any library, such as z.object(), instead of JSON Schema. */
export interface ElicitFormRequest<S extends ObjectSchema> {
  /** The mode of the elicitation. @default 'form' */
  readonly mode?: 'form' | undefined;
  /** The question, as text for the user. */
  readonly message: string;
  /** The schema of the fields. Flat: text, numbers, booleans and choices. */
  readonly requestedSchema: S;
}

/** The user's answer to an elicitation form that was defined by a library's schema. */
export type ElicitFormResult<T> =
  | { readonly action: 'accept'; readonly content: T; readonly _meta?: JsonObject | undefined }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined; readonly _meta?: JsonObject | undefined };

/**
 * The context of a tool, prompt or resource handler. Extensions add members by declaration merging.
 *
 * Once the call has its response or was cancelled, notifications and requests that the handler still sends are dropped.
 */
export interface HandlerContext<App = unknown> extends OwnContext<App>, ContextMembers {}

/** The members of a handler's `ctx` that the server itself provides. Extensions add more. */
export interface OwnContext<App = unknown> {
  /** Aborts when the call is cancelled (with the client's reason), its time limit is reached, or the server closes. */
  readonly signal: AbortSignal;
  /** The principal (authenticated identity) that the call is made for. */
  readonly principal: Principal;
  /** The claims of the caller's verified access token. Undefined if no user was verified. */
  readonly auth: AuthInfo | undefined;
  /** Same as `auth`, under the name that the official SDK uses. */
  readonly authInfo: AuthInfo | undefined;
  /** The JSON-RPC id of the client's request. Undefined if a tool runs outside a request, as in a task. */
  readonly requestId: RequestId | undefined;
  /** The legacy session's id, if the transport has one. */
  readonly sessionId: string | undefined;
  readonly revision: Revision;
  readonly era: Era;
  readonly client: ClientFacts;
  /** The request's `_meta`. */
  readonly meta: JsonObject;
  /** Facts of the HTTP request that brought the call. Undefined on other transports. */
  readonly origin: CallOrigin | undefined;
  /** The app context that `options.context` made for this request. */
  readonly app: App;
  /** Values that middleware stored for the handler. */
  readonly state: Map<unknown, unknown>;
  /** The lower-level interface that `elicit`, `sample`, `once` and the other members for reaching the client are built on. */
  readonly run: HandlerRun;
  /**
   * Sends a log message to the client: `ctx.log.info('done')`. Sends nothing unless the server declares `capabilities: { logging: {} }`; if
   * it does not, its `logger` gets one warning. A modern client must also request a level.
   *
   * @deprecated since 2026-07-28, with the protocol's logging: write to stderr, or use OpenTelemetry. Works in every revision.
   */
  readonly log: HandlerLog;
  /**
   * Sends a progress notification, if the request has a progress token. Of updates that come too fast, only the newest is sent. The last
   * one is always sent, before the response.
   */
  progress(update: ProgressUpdate): Promise<void>;
  progress(progress: number, total?: number, message?: string): Promise<void>;
  /** Sends the client a notification that belongs to this call, on the call's stream. */
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Closes the call's SSE stream early, so that the client reconnects for the response. Does nothing if the host does not support it. */
  closeStream(retryMs?: number): void;
  /**
   * Requests input from the user by a form or a URL. In the modern era this ends the exchange, and the handler runs again from the start
   * with the user's answer. So put side effects that come before it into `once`. See docs/how-to/ask-the-user.md.
   *
   * @throws {Suspended} `ERR_SUSPENDED`: the request was sent, and the handler will run again with the answer. Do not catch it.
   * @throws {AskError} `ERR_INVALID_ASK`: the request breaks a rule, or a form asks for a secret.
   * @throws {AskError} `ERR_INVALID_ANSWER`: the client's answer does not fit the form.
   * @throws {AskError} `ERR_ASK_CHANGED`: the handler made a different request when it ran again.
   * @throws {AskError} `ERR_TOO_MANY_ASKS`: `requestState.maxRounds` is reached.
   * @throws {AskError} `ERR_CLIENT_CAPABILITY`: the client does not support this kind of request.
   * @throws {AskError} `ERR_ASK_UNAVAILABLE`: requests cannot reach the client on this connection.
   * @throws {RemoteError} `ERR_REMOTE`: the client responded with an error.
   */
  elicit<S extends ObjectSchema>(params: ElicitFormRequest<S>, options?: AskOptions): Promise<ElicitFormResult<InferOutput<S>>>;
  elicit(params: ElicitRequestParams, options?: AskOptions): Promise<ElicitResult>;
  /**
   * Requests a completion from the client's model (sampling). Throws the same errors as `elicit`.
   *
   * @deprecated since 2026-07-28: call a model provider's API from the server. Works in every revision.
   */
  sample(params: CreateMessageRequestParams, options?: AskOptions): Promise<CreateMessageResult>;
  /**
   * Requests the client's roots: once per call, or once until the roots change if the client announces changes. Throws the same errors as
   * `elicit`.
   *
   * @deprecated since 2026-07-28: take directories as arguments, resource URIs or configuration. Works in every revision.
   */
  listRoots(options?: AskOptions): Promise<ListRootsResult>;
  /**
   * Runs `fn` once, even if the handler runs again with the client's answers, and returns the same value in each run. If `fn` fails, the
   * next call of `once` runs it again.
   *
   * @param key The name of the step, unique in this handler. @param fn Called with an idempotency key, the same in each run.
   * @throws {AskError} `ERR_INVALID_STEP`: the value of `fn` is not JSON.
   */
  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T>;
  /**
   * The client's answers to the `inputRequests` of `inputRequired`, by key. Undefined when the handler runs first. A client may also send
   * answers to requests that were never made: check `requestState` first if that matters.
   */
  readonly inputResponses: Readonly<Record<string, JsonObject>> | undefined;
  /** The `requestState` that this handler passed to `inputRequired`. Undefined when the handler runs first. */
  readonly requestState: JsonValue | undefined;
  /**
   * Sends `notifications/elicitation/complete`: the user has finished at the URL of an elicitation. May be called after the call has ended,
   * as long as the session lives. Does nothing in a revision without this notification.
   *
   * @param elicitationId The id passed to `elicit` or `UrlElicitationRequiredError`, or generated by the error.
   */
  completeElicitation(elicitationId: string): Promise<void>;
  /** Same as `notify`, with the arguments that the official SDK uses. */
  sendNotification(
    notification: { readonly method: string; readonly params?: JsonObject | undefined } | JsonRpcNotification,
  ): Promise<void>;
  /** Sends any request to a legacy client. The second argument, a result schema as in the official SDK, is ignored. */
  sendRequest(
    request: { readonly method: string; readonly params?: JsonObject | undefined } | JsonRpcRequest,
    schema?: unknown,
    options?: AskOptions,
  ): Promise<JsonObject>;
}
