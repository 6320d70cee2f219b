/** The context of handlers and visibility rules. */

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

/** The caller, for rules that show different items to different callers. Does not identify the connection or session. */
export interface VisibilityContext<App = unknown> {
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  /** The value made by `options.context`. Undefined without that option, and when a rule runs outside a request. */
  readonly app: App | undefined;
  readonly origin: CallOrigin | undefined;
}

/** One step of progress. A value that does not increase is dropped. */
export interface ProgressUpdate {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/**
 * Sends a log message to the client. The server must declare `logging`, and the client's log level must include the message.
 *
 * @deprecated since 2026-07-28, with the protocol's logging: write to stderr, or use OpenTelemetry. Works in every revision.
 */
export type HandlerLog = ((level: LogLevel, data: JsonValue, logger?: string) => Promise<void>) &
  Readonly<Record<LogLevel, (data: JsonValue, logger?: string) => Promise<void>>>;

/** Options of one question to the client. */
export interface AskOptions {
  /** A fixed name for the question. Use it if the question's text may change between runs. @default none */
  readonly key?: string | undefined;
  /** Aborting it cancels the question, which then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the answer, in milliseconds. Used in the legacy era only, where the call waits for the answer. @default 600_000 */
  readonly timeoutMs?: number | undefined;
}

/** An elicitation form whose fields are a schema of any library instead of JSON Schema. */
export interface ElicitFormRequest<S extends ObjectSchema> {
  readonly mode?: 'form' | undefined;
  readonly message: string;
  readonly requestedSchema: S;
}

/** The user's answer to a typed form. */
export type ElicitFormResult<T> =
  | { readonly action: 'accept'; readonly content: T; readonly _meta?: JsonObject | undefined }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined; readonly _meta?: JsonObject | undefined };

/**
 * The context of a tool, prompt or resource handler. Extensions add members by declaration merging.
 *
 * After the call is answered or cancelled, nothing more is sent, and further messages are dropped.
 */
export interface HandlerContext<App = unknown> extends OwnContext<App>, ContextMembers {}

/** The members of the context that the server itself provides. */
export interface OwnContext<App = unknown> {
  /** Aborts when the call is cancelled (with the client's reason), its time limit is reached, or the server closes. */
  readonly signal: AbortSignal;
  /** The principal that the call is made for. */
  readonly principal: Principal;
  /** The claims of the verified token. Undefined if no user was verified. */
  readonly auth: AuthInfo | undefined;
  /** Same as `auth`. */
  readonly authInfo: AuthInfo | undefined;
  /** Undefined if a tool runs outside a request, as in a task. */
  readonly requestId: RequestId | undefined;
  /** The legacy session's id, if the transport has one. */
  readonly sessionId: string | undefined;
  readonly revision: Revision;
  readonly era: Era;
  readonly client: ClientFacts;
  /** The request's `_meta`. */
  readonly meta: JsonObject;
  /** The HTTP request of the call, if there is one. */
  readonly origin: CallOrigin | undefined;
  /** The app context that `options.context` made for this request. */
  readonly app: App;
  /** Values that middleware stored for the handler. */
  readonly state: Map<unknown, unknown>;
  /** The lower-level interface behind `elicit`, `sample`, `once` and the other members that reach the client. */
  readonly run: HandlerRun;
  /**
   * Sends a log message to the client: `ctx.log.info('done')`. Sends nothing unless the server declares `capabilities: { logging: {} }`; if it does
   * not, its `logger` gets one warning. A modern client must also request a level.
   *
   * @deprecated since 2026-07-28, with the protocol's logging: write to stderr, or use OpenTelemetry. Works in every revision.
   */
  readonly log: HandlerLog;
  /**
   * Reports progress to the client, if it asked for progress. Updates that come too fast are merged. The last one is always sent, before the
   * response.
   */
  progress(update: ProgressUpdate): Promise<void>;
  progress(progress: number, total?: number, message?: string): Promise<void>;
  /** Sends a notification that belongs to this call. */
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Closes the call's stream early, so that the client reconnects for the response. Does nothing if the host does not support it. */
  closeStream(retryMs?: number): void;
  /**
   * Asks the user by a form or a URL. In the modern era this ends the exchange, and the handler runs again from the start with the answer. Put side
   * effects before it into `once`. See docs/guides/ask-the-user.md.
   *
   * @throws {Suspended} `ERR_SUSPENDED`: the question was sent. Do not catch it.
   * @throws {AskError} `ERR_INVALID_ASK`: the question breaks a rule, or a form asks for a secret.
   * @throws {AskError} `ERR_INVALID_ANSWER`: the client's answer does not fit the form.
   * @throws {AskError} `ERR_ASK_CHANGED`: the handler asked a different question when it ran again.
   * @throws {AskError} `ERR_TOO_MANY_ASKS`: `requestState.maxRounds` is reached.
   * @throws {AskError} `ERR_CLIENT_CAPABILITY`: the client does not support this kind of question.
   * @throws {AskError} `ERR_ASK_UNAVAILABLE`: questions cannot reach the client on this connection.
   * @throws {RemoteError} `ERR_REMOTE`: the client responded with an error.
   */
  elicit<S extends ObjectSchema>(params: ElicitFormRequest<S>, options?: AskOptions): Promise<ElicitFormResult<InferOutput<S>>>;
  elicit(params: ElicitRequestParams, options?: AskOptions): Promise<ElicitResult>;
  /**
   * Asks the client's model for a completion. Throws as `elicit` does.
   *
   * @deprecated since 2026-07-28: call a model provider's API from the server. Works in every revision.
   */
  sample(params: CreateMessageRequestParams, options?: AskOptions): Promise<CreateMessageResult>;
  /**
   * Asks the client for its roots. Asks once per call; if the client announces changes, once until the roots change. Throws as `elicit` does.
   *
   * @deprecated since 2026-07-28: take directories as arguments, resource URIs or configuration. Works in every revision.
   */
  listRoots(options?: AskOptions): Promise<ListRootsResult>;
  /**
   * Runs a step once, even if the handler runs several times, and returns the same value in each run. A step that failed runs again.
   *
   * @param fn Called with an idempotency key, the same in each run, for services that accept one.
   * @throws {AskError} `ERR_INVALID_STEP`: its value is not JSON.
   */
  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T>;
  /**
   * The answers to the questions of `inputRequired`, by key. Undefined in the first run. A client may also send answers to questions that it was not
   * asked: check `requestState` first if that matters.
   */
  readonly inputResponses: Readonly<Record<string, JsonObject>> | undefined;
  /** The state that this handler passed to `inputRequired`. Undefined in the first run. */
  readonly requestState: JsonValue | undefined;
  /**
   * Tells this client that the interaction at a URL is complete. May be called after the call has ended, as long as the session lives. Does nothing
   * in a revision without this notification.
   *
   * @param elicitationId The id passed to `elicit` or `UrlElicitationRequiredError`, or generated by the error.
   */
  completeElicitation(elicitationId: string): Promise<void>;
  /** Same as `notify`, in the official SDK's form. */
  sendNotification(
    notification: { readonly method: string; readonly params?: JsonObject | undefined } | JsonRpcNotification,
  ): Promise<void>;
  /** Sends any request to the client. Legacy connections only. The second argument, the official SDK's result schema, is ignored. */
  sendRequest(
    request: { readonly method: string; readonly params?: JsonObject | undefined } | JsonRpcRequest,
    schema?: unknown,
    options?: AskOptions,
  ): Promise<JsonObject>;
}
