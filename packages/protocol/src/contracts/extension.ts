/**
 * The interfaces for protocol extensions. Through them an extension adds capabilities, methods, notifications, subscription filters,
 * tool options and result types to `server` and `client`, which know no extension by name.
 */

import type { JsonObject, JsonRpcNotification, JsonRpcResponse, JsonValue } from '@mortise/jsonrpc-core';
import type { Progress } from '../model/progress.ts';
import type { CallToolResult } from '../model/tools.ts';
import type { ClientCapabilities, ServerCapabilities } from '../model/capabilities.ts';
import type { Era, Revision } from '../revisions/revision.ts';
import type { BusMessage } from './message-bus.ts';
import type { AuthInfo, Principal } from './auth.ts';

/**
 * The tool options of extensions. An extension adds its options by declaration merging
 * (`declare module '@mortise/protocol/contracts'`). An option of an extension that is not installed is an error at registration.
 */
export interface ToolOptions {}

/** The members that extensions add to a handler's context. An extension declares its members by declaration merging. */
export interface ContextMembers {}

/** One question to the client. */
export interface Ask {
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`; an extension may add its own. */
  readonly method: string;
  readonly params?: JsonObject;
  /** A stable name for the question. Needed if the handler may ask other questions, or in another order, when it runs again. */
  readonly key?: string;
  readonly signal?: AbortSignal;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeoutMs?: number;
}

/**
 * One run of a handler. It implements `ctx.elicit`, `ctx.sample`, `ctx.listRoots`, `ctx.once`, `ctx.progress` and `ctx.log`.
 * A legacy session, a modern request and a task each have their own implementation.
 *
 * R1  `ask` resolves to the client's answer and rejects with the client's error. It rejects with `Suspended` if the answer will come
 *     in a later run.
 * R2  `once` runs `fn` at most once per key for all runs of one request. Every call with that key resolves to the same value.
 * R3  `report` keeps the order of notifications. It silently drops notifications after the end of the run.
 */
export interface HandlerRun {
  readonly signal: AbortSignal;
  ask(ask: Ask): Promise<JsonObject>;
  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T>;
  report(notification: JsonRpcNotification): Promise<void>;
}

/** A request, as an extension sees it: its caller, revision and client capabilities. */
export interface ExtensionCall {
  readonly revision: Revision;
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  readonly clientCapabilities: ClientCapabilities;
  readonly signal: AbortSignal;
  /** `channel`: a connection whose caller stays the same. `exchange`: a single request. */
  readonly via: 'channel' | 'exchange';
  /** Sends a notification that belongs to the request. */
  notify(notification: JsonRpcNotification): Promise<void>;
  /**
   * Sends a notification that belongs to no request, even after the response to this request. Undefined in the modern era, which has
   * no channel for such notifications.
   */
  readonly tell: ((notification: JsonRpcNotification) => void) | undefined;
  /** Sends a request to the client. Rejects in the modern era, which has no channel for it. */
  request(ask: Ask): Promise<JsonObject>;
  /**
   * Lets the handler of this request continue in the background after the extension has sent another response to the request.
   *
   * From then on the handler's questions, `once` steps and reports go to `run`, and only the signal of `run` aborts the handler.
   * `next` still resolves to the handler's result.
   *
   * @returns What the run has done so far. Undefined if the handler cannot be detached now, because a question is open or answers of
   * an earlier round are not all read; try again later.
   */
  detach?(run: HandlerRun): RunSoFar | undefined;
}

/** What a run of a handler has done so far. */
export interface RunSoFar {
  /** The finished steps of `ctx.once`, by key. The array holds the step's value, and is empty for a step that returned undefined. */
  readonly steps: ReadonlyMap<string, readonly JsonValue[]>;
  /** The steps of `ctx.once` that are still running, by key. */
  readonly running: ReadonlyMap<string, Promise<readonly JsonValue[]>>;
  /** The client's answers from earlier rounds. */
  readonly answers: ReadonlyMap<string, { readonly method: string; readonly digest: string; readonly answer: JsonObject }>;
  /** Tells whether the caller has disconnected or cancelled. Call it right before you send the response. */
  readonly hasLeft: () => boolean;
}

/** The caller to whom a server declares its capabilities. */
export interface ExtensionAudience {
  readonly via: 'channel' | 'exchange';
  readonly principal: Principal;
  readonly isAuthenticated: boolean;
}

/** What an extension gets to create its members of a handler's context. */
export interface HandlerFacts {
  /** Created at first access. If `runTool` runs the tool, this is the same object that `runTool` got. */
  readonly run: HandlerRun;
  /** The request; undefined if `runTool` runs the tool. */
  readonly call: ExtensionCall | undefined;
}

/** A tool call as plain data, from which `runTool` can run the tool later or on another machine. Contains no token. */
export interface ToolCallRecord {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly principal: Principal;
  /** The protocol version of the call. */
  readonly revision: string;
  readonly clientCapabilities: JsonObject;
  readonly scopes: readonly string[];
  readonly meta?: JsonObject;
}

/** Continues a call with the next interceptor or the server's own handling. */
export type NextCall = () => Promise<JsonObject>;

/** Handles a request and returns the canonical result. A thrown `ProtocolError` becomes the JSON-RPC error. */
export type ExtensionMethod = (params: JsonObject, call: ExtensionCall) => JsonObject | Promise<JsonObject>;

/** A key that an extension adds to the filter of `subscriptions/listen`. */
export interface ListenFilter {
  readonly key: string;
  /**
   * Returns the accepted part of the requested value, for the acknowledgement; undefined to reject it. May throw a `ProtocolError`.
   *
   * @param ended Aborts when the subscription ends, whoever ends it, and when the request fails.
   */
  accept(wish: JsonValue, call: ExtensionCall, ended: AbortSignal): JsonValue | undefined | Promise<JsonValue | undefined>;
  /** Gives the bus topics for an accepted value. */
  topics(accepted: JsonValue, call: ExtensionCall): readonly string[];
  /** Converts an event to a notification for this subscriber; undefined to skip the event. */
  toNotification(event: BusMessage, accepted: JsonValue): JsonRpcNotification | undefined;
}

/** What an extension can use of its server. */
export interface ExtensionHost {
  /** Adds a request method. @param where.eras The eras that have the method. In the other era it is a -32601 error. */
  addMethod(method: string, where: { readonly eras: readonly Era[]; readonly nameParam?: string }, fn: ExtensionMethod): void;
  /** Adds an interceptor around the handling of a method. The first interceptor added is the outermost. */
  intercept(method: string, fn: (params: JsonObject, call: ExtensionCall, next: NextCall) => Promise<JsonObject>): void;
  /**
   * Runs a tool from its record; questions, steps and reports go to `run`. Does not check access: that happened when the record was
   * made. Questions and answers have the form of the record's revision.
   *
   * @throws {ProtocolError} A protocol error, with the code of the record's revision. Errors of the tool are in the result.
   */
  runTool(record: ToolCallRecord, run: HandlerRun): Promise<CallToolResult>;
  /** Gives the options that a tool was registered with; undefined if the tool is not visible to the principal. */
  toolOptions(name: string, principal: Principal): Readonly<Record<string, unknown>> | undefined;
  /**
   * Checks that the caller may use a tool and gives its options, for extensions that run the tool themselves; undefined if the tool is
   * not visible to the caller.
   *
   * @throws {ProtocolError} The caller's token lacks a scope of the tool.
   */
  authorizeTool(name: string, call: ExtensionCall): Readonly<Record<string, unknown>> | undefined;
  /** Publishes an event on the server's `MessageBus`, to subscribers on all machines. */
  publish(event: BusMessage): Promise<void>;
  addFilter(filter: ListenFilter): void;
  /** Adds a function that the server calls and awaits when it closes. */
  onClose(fn: () => Promise<void>): void;
}

/** A protocol extension of a server. */
export interface ServerExtension {
  /** The extension identifier (`vendor.example/name`), declared in `capabilities.extensions` if the revision has that member. */
  readonly id: string;
  /** The settings declared under `id` in `capabilities.extensions`; undefined to declare nothing there. */
  readonly settings?: JsonObject;
  /** Gives the top-level server capabilities that the extension declares in a revision. */
  capabilities?(revision: Revision, audience: ExtensionAudience): Partial<ServerCapabilities>;
  /** The `resultType` values that the extension adds. */
  readonly resultTypes?: readonly string[];
  /** The tool options that the extension adds. A tool option of no extension is an error at registration. */
  readonly toolOptions?: readonly string[];
  /** Gives the members that the extension adds to a tool in `tools/list`. */
  toolDefinition?(options: Readonly<Record<string, unknown>>, revision: Revision): JsonObject;
  /** Gives the members that the extension adds to a handler's context. */
  context?(facts: HandlerFacts): Readonly<Record<string, unknown>>;
  /** The request methods to which the extension may send a result of its own type. */
  readonly answers?: readonly string[];
  install(host: ExtensionHost): void;
}

/** What an interceptor on a client gets about a call, besides its params. */
export interface InterceptedCall {
  /** The caller's signal, if any. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each progress notification, if the request asked for progress. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** What an extension can use of its client. */
export interface ClientExtensionHost {
  /** Sends a request and resolves to the canonical result of any `resultType`. */
  request(
    method: string,
    params: JsonObject,
    options?: {
      readonly signal?: AbortSignal;
      readonly timeoutMs?: number;
      /** Whether progress restarts the timeout. If so, the client replaces a progress token in the params. @default true */
      readonly resetTimeoutOnProgress?: boolean;
    },
  ): Promise<JsonObject>;
  /** Sends a request and resolves to the unchanged response. */
  requestRaw(method: string, params: JsonObject, options?: { readonly signal?: AbortSignal }): Promise<JsonRpcResponse>;
  notify(method: string, params: JsonObject): Promise<void>;
  /** Answers a question of the server with the program's handlers. */
  answer(ask: Ask): Promise<JsonObject>;
  /** Adds an interceptor around calls of a method. */
  intercept(
    method: string,
    fn: (params: JsonObject, next: (params: JsonObject) => Promise<JsonObject>, call: InterceptedCall) => Promise<JsonObject>,
  ): void;
  /** Adds an interceptor around the program's answer to a question (a legacy request, or an entry of a modern `input_required` result). */
  interceptAnswer(
    method: string,
    fn: (
      params: JsonObject,
      next: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>,
      signal: AbortSignal,
    ) => Promise<JsonObject>,
  ): void;
  /** Adds a handler for a request from the server (legacy era). Declares no capability: `ClientExtension.capabilities` does. */
  addMethod(method: string, fn: (params: JsonObject) => JsonObject | Promise<JsonObject>): void;
  onNotification(method: string, fn: (params: JsonObject) => void): () => void;
  /** Opens a subscription with filter keys of the extension. Leaving the loop ends it. */
  listen(filter: JsonObject, options?: { readonly signal?: AbortSignal }): AsyncIterable<JsonRpcNotification>;
  readonly revision: Revision;
  readonly serverCapabilities: ServerCapabilities;
}

/** A protocol extension of a client. */
export interface ClientExtension {
  readonly id: string;
  /** The settings declared under `id` in `capabilities.extensions`. */
  readonly settings?: JsonObject;
  /**
   * Gives the top-level client capabilities that the extension declares in a revision.
   *
   * @param declared The capabilities that the program declares.
   */
  capabilities?(revision: Revision, declared: ClientCapabilities): Partial<ClientCapabilities>;
  /** The `resultType` values that the extension handles, each with a function that turns such a result into the complete one. */
  readonly results?: Readonly<
    Record<
      string,
      (
        result: JsonObject,
        call: { readonly method: string; readonly params: JsonObject; readonly signal?: AbortSignal },
      ) => Promise<JsonObject>
    >
  >;
  /** By method of the extension: the parameter that HTTP sends in the `Mcp-Name` header. */
  readonly nameParams?: Readonly<Record<string, string>>;
  install?(host: ClientExtensionHost): void;
}
