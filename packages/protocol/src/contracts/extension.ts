/**
 * The interfaces for protocol extensions. Through them an extension adds capabilities, methods, notifications, subscription filters, tool
 * options and result types to the packages `server` and `client`, which have no code for particular extensions.
 */

import type { JsonObject, JsonRpcNotification, JsonRpcResponse, JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import type { Progress } from '../model/progress.ts';
import type { CallToolResult } from '../model/tools.ts';
import type { ClientCapabilities, ServerCapabilities } from '../model/capabilities.ts';
import type { Era, Revision } from '../revisions/revision.ts';
import type { BusMessage } from './message-bus.ts';
import type { AuthInfo, Principal } from './auth.ts';

/**
 * The options that extensions add to `registerTool`. An extension declares its options by declaration merging (`declare module
 * '@mortise/protocol/contracts'`). Using an option of an extension that is not installed is an error at registration.
 */
export interface ToolOptions {}

/** The members that extensions add to the context (`ctx`) of handlers. An extension declares its members by declaration merging. */
export interface ContextMembers {}

/** A request from a handler to the client: elicitation, sampling or roots. */
export interface Ask {
  /** The method of the request: `elicitation/create`, `sampling/createMessage` or `roots/list`; an extension may add its own. */
  readonly method: string;
  readonly params?: JsonObject;
  /** A stable name of this request to the client. Needed if a handler that runs again may send other ones, or in another order. */
  readonly key?: string;
  readonly signal?: AbortSignal;
  /** In a client: the signal of its request that the question belongs to. */
  readonly callSignal?: AbortSignal | undefined;
  /** How long to wait for the client's answer, in milliseconds. */
  readonly timeoutMs?: number;
  /** How long to wait in total, whatever progress arrives, in milliseconds. @default 600_000, or a longer `timeoutMs` */
  readonly maxTimeoutMs?: number | undefined;
  /** Whether the client's progress restarts `timeoutMs`. @default true */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Called with the client's progress on the request. Never in the modern era, whose clients answer without progress. @default none */
  readonly onProgress?: (progress: Progress) => void;
}

/**
 * One run (execution) of a handler. It implements `ctx.elicit`, `ctx.sample`, `ctx.listRoots`, `ctx.once`, `ctx.progress` and `ctx.log`.
 * The server implements it for requests, and the package `tasks` for tasks.
 *
 * R1  `ask` resolves to the client's answer and rejects with the client's error. It rejects with `Suspended` if the answer comes later, to
 *     a new run of the handler.
 * R2  `once` runs `fn` at most once per key for all runs of one request. Every call with that key resolves to the same value.
 * R3  `report` keeps the order of notifications. After the handler has finished, it silently drops notifications.
 */
export interface HandlerRun {
  readonly signal: AbortSignal;
  ask(ask: Ask): Promise<JsonObject>;
  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T>;
  report(notification: JsonRpcNotification): Promise<void>;
}

/** A request as an extension sees it: the caller, the protocol revision and the client's capabilities. */
export interface ExtensionCall {
  readonly revision: Revision;
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  readonly clientCapabilities: ClientCapabilities;
  /** The error for an HTTP request whose headers contradict its arguments. `authorizeTool` throws it. */
  readonly paramFault?: ProtocolError | undefined;
  readonly signal: AbortSignal;
  /** Sends the client a notification that belongs to this request, such as progress. */
  notify(notification: JsonRpcNotification): Promise<void>;
  /**
   * Sends the client a notification that belongs to no request, even after the response to this one. Undefined in the modern era, where
   * servers cannot send such notifications.
   */
  readonly tell: ((notification: JsonRpcNotification) => void) | undefined;
  /** Sends a request to the client. Rejects in the modern era, where servers cannot send requests. */
  request(ask: Ask): Promise<JsonObject>;
  /**
   * Lets the handler of this request continue in the background, after the extension itself has responded (for example with a task).
   *
   * From then on the handler's requests to the client, `once` steps and notifications go to `run`, and only the signal of `run` aborts the
   * handler. The promise that `next` returned to the interceptor still resolves to the handler's result.
   *
   * @returns What the handler has done so far. Undefined if it cannot be detached now: it waits for an answer of the client, or has not yet
   * read all answers that came with the request; try again later.
   */
  detach?(run: HandlerRun): RunSoFar | undefined;
}

/** What a handler had done so far when `ExtensionCall.detach` was called. */
export interface RunSoFar {
  /** The finished steps of `ctx.once`, by key. The array holds the step's value; it is empty if the step returned undefined. */
  readonly steps: ReadonlyMap<string, readonly JsonValue[]>;
  /** The steps of `ctx.once` that are still running, by key. */
  readonly running: ReadonlyMap<string, Promise<readonly JsonValue[]>>;
  /** The answers that came with retries of the request, by the key of the request to the client. */
  readonly answers: ReadonlyMap<string, { readonly method: string; readonly digest: string; readonly answer: JsonObject }>;
  /** Tells whether the caller has disconnected or cancelled the request. Call it right before you send the response. */
  readonly hasLeft: () => boolean;
}

/** The client to which a server is about to declare its capabilities. */
export interface ExtensionAudience {
  readonly principal: Principal;
}

/** What `ServerExtension.context` gets to create the extension's members of a handler's context. */
export interface HandlerFacts {
  /** The run of the handler. If `runTool` runs the tool, it is the object that was passed to `runTool`. */
  readonly run: HandlerRun;
  /** The request that the handler serves; undefined if `ExtensionHost.runTool` runs the tool. */
  readonly call: ExtensionCall | undefined;
}

/** A tool call as plain data, with which `ExtensionHost.runTool` can run the tool later or on another machine. Contains no token. */
export interface ToolCallRecord {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly principal: Principal;
  /** The protocol version in which the client called the tool. */
  readonly revision: string;
  readonly clientCapabilities: JsonObject;
  readonly scopes: readonly string[];
  readonly meta?: JsonObject;
}

/** Calls the next interceptor of the request, or after the last one the server's own handling. Resolves to the result. */
export type NextCall = () => Promise<JsonObject>;

/** Handles a request. Its result has a type of `@mortise/protocol/model`. A thrown `ProtocolError` becomes the JSON-RPC error. */
export type ExtensionMethod = (params: JsonObject, call: ExtensionCall) => JsonObject | Promise<JsonObject>;

/** A key that an extension adds to the filter of `subscriptions/listen`. */
export interface ListenFilter {
  readonly key: string;
  /**
   * Returns the part of the requested value that the server accepts and acknowledges; undefined to reject it. May throw a `ProtocolError`.
   *
   * @param subscriber Its `send` sends a notification to the client, after the acknowledgement if it is called earlier. `ended` aborts when
   * the client or the server ends the subscription, and when the request fails; `send` then does nothing.
   */
  accept(
    wish: JsonValue,
    call: ExtensionCall,
    subscriber: { readonly send: (method: string, params: JsonObject) => void; readonly ended: AbortSignal },
  ): JsonValue | undefined | Promise<JsonValue | undefined>;
}

/** What a server offers to an extension in `ServerExtension.install`. */
export interface ExtensionHost {
  /** Adds a request method, without a time limit. @param where.eras The eras in which the method exists; in another era it gets a -32601 error. */
  addMethod(method: string, where: { readonly eras: readonly Era[]; readonly nameParam?: string }, fn: ExtensionMethod): void;
  /** Adds an interceptor around the handling of a request method. The first interceptor added is the outermost. */
  intercept(method: string, fn: (params: JsonObject, call: ExtensionCall, next: NextCall) => Promise<JsonObject>): void;
  /**
   * Runs a tool from its record; its requests to the client, `once` steps and notifications go to `run`. Does not check access: that
   * happened when the record was made. Requests to the client and its answers have the form of the record's revision.
   *
   * @throws {ProtocolError} The call failed with a protocol error, whose code is that of the record's revision. An error of the tool itself
   * is in the result.
   */
  runTool(record: ToolCallRecord, run: HandlerRun): Promise<CallToolResult>;
  /** Returns the options that a tool was registered with; undefined if this principal may not see the tool. */
  toolOptions(name: string, principal: Principal): Readonly<Record<string, unknown>> | undefined;
  /**
   * Checks that the caller may use a tool and returns the options of the tool, for extensions that run it themselves; undefined if the
   * caller may not see the tool.
   *
   * @throws {ProtocolError} The caller's token lacks a scope of the tool, or the call has a `paramFault`.
   */
  authorizeTool(name: string, call: ExtensionCall): Readonly<Record<string, unknown>> | undefined;
  /**
   * Checks the arguments of a tool call against the tool's `inputSchema`, so that an extension stores no invalid ones.
   *
   * @returns What is wrong with them, as a text for the caller; undefined if they are valid.
   */
  checkArguments(name: string, args: JsonObject, call: ExtensionCall): Promise<string | undefined>;
  /** Publishes an event on the server's `MessageBus`, to subscribers on all machines. */
  publish(event: BusMessage): Promise<void>;
  /** Subscribes to a topic of the server's `MessageBus`. See `MessageBus.subscribe`. */
  subscribe(topic: string, onMessage: (event: BusMessage) => void, onGap: () => void): Promise<() => void>;
  /** Whether the server has a `MessageBus` of the program, which may connect several machines. */
  readonly hasMessageBus: boolean;
  addFilter(filter: ListenFilter): void;
  /** Adds a function that the server calls, and waits for, when it closes. */
  onClose(fn: () => Promise<void>): void;
}

/** A protocol extension that is installed in a server: what it declares and adds. */
export interface ServerExtension {
  /** The extension identifier (`vendor.example/name`). */
  readonly id: string;
  /**
   * The settings declared under `id` in `capabilities.extensions`, since 2025-11-25; undefined to declare nothing there. A function returns
   * those for one revision.
   */
  readonly settings?: JsonObject | ((revision: Revision) => JsonObject | undefined);
  /** Returns the top-level server capabilities that the extension declares to a client of the given revision. */
  capabilities?(revision: Revision, audience: ExtensionAudience): Partial<ServerCapabilities>;
  /** The `resultType` values that the extension adds to those of MCP. */
  readonly resultTypes?: readonly string[];
  /** The names of the tool options that the extension adds. An option that no installed extension adds is an error at registration. */
  readonly toolOptions?: readonly string[];
  /** Returns the members that the extension adds to a tool's entry in `tools/list`. */
  toolDefinition?(options: Readonly<Record<string, unknown>>, revision: Revision): JsonObject;
  /** Returns the members that the extension adds to a handler's context (`ctx`). */
  context?(facts: HandlerFacts): Readonly<Record<string, unknown>>;
  /** The request methods to which the extension may respond with a `resultType` of its own. */
  readonly answers?: readonly string[];
  install(host: ExtensionHost): void;
}

/** What an interceptor of a client gets about a call, besides its params. */
export interface InterceptedCall {
  /** The signal with which the program can cancel the call, if it passed one. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each progress notification, if the request asked for progress. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** What a client offers to an extension in `ClientExtension.install`. */
export interface ClientExtensionHost {
  /** Sends a request and resolves to its result, of any `resultType`, as `@mortise/protocol/model` defines it. */
  request(
    method: string,
    params: JsonObject,
    options?: {
      readonly signal?: AbortSignal;
      readonly timeoutMs?: number;
      /** Whether progress restarts the timeout. If so, the client uses its own progress token, also if `params` have one. @default true */
      readonly resetTimeoutOnProgress?: boolean;
      /** The limit of the time in all, in milliseconds. @default the client's `maxRequestTimeoutMs` */
      readonly maxTimeoutMs?: number;
      /** Called for each progress notification until the request has ended. */
      readonly onProgress?: (progress: Progress) => void;
    },
  ): Promise<JsonObject>;
  /** Sends a request and resolves to the JSON-RPC response as received. */
  requestRaw(method: string, params: JsonObject, options?: { readonly signal?: AbortSignal }): Promise<JsonRpcResponse>;
  notify(method: string, params: JsonObject): Promise<void>;
  /** Answers a request of the server (elicitation, sampling, roots) with the handlers that the program set. */
  answer(ask: Ask): Promise<JsonObject>;
  /** Adds an interceptor around the client's requests of one method. */
  intercept(
    method: string,
    fn: (params: JsonObject, next: (params: JsonObject) => Promise<JsonObject>, call: InterceptedCall) => Promise<JsonObject>,
  ): void;
  /** Adds an interceptor around the program's answer to a request of the server (legacy), or to an entry of an `input_required` result. */
  interceptAnswer(
    method: string,
    fn: (
      params: JsonObject,
      next: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>,
      signal: AbortSignal,
    ) => Promise<JsonObject>,
  ): void;
  /** Adds a handler for a request from the server (legacy era). Declare its capability with `ClientExtension.capabilities`. */
  addMethod(method: string, fn: (params: JsonObject) => JsonObject | Promise<JsonObject>): void;
  onNotification(method: string, fn: (params: JsonObject) => void): () => void;
  /** Opens a subscription (`subscriptions/listen`) with filter keys of the extension. Leaving the loop over its notifications ends it. */
  listen(filter: JsonObject, options?: { readonly signal?: AbortSignal }): AsyncIterable<JsonRpcNotification>;
  readonly revision: Revision;
  readonly serverCapabilities: ServerCapabilities;
}

/** A protocol extension that is installed in a client: what it declares and handles. */
export interface ClientExtension {
  readonly id: string;
  /**
   * The settings declared under `id` in `capabilities.extensions`, since 2025-11-25. A function returns those for one revision; undefined
   * to declare nothing there. @default {}
   */
  readonly settings?: JsonObject | ((revision: Revision) => JsonObject | undefined);
  /**
   * Returns the top-level client capabilities that the extension declares to a server of the given revision.
   *
   * @param declared The capabilities that the program itself declares.
   */
  capabilities?(revision: Revision, declared: ClientCapabilities): Partial<ClientCapabilities>;
  /** The `resultType` values that the extension handles, each with a function that takes such a result and resolves to the complete one. */
  readonly results?: Readonly<
    Record<
      string,
      (
        result: JsonObject,
        call: { readonly method: string; readonly params: JsonObject; readonly signal?: AbortSignal },
      ) => Promise<JsonObject>
    >
  >;
  /** For each method of the extension, the parameter whose value HTTP also sends in the `Mcp-Name` header. */
  readonly nameParams?: Readonly<Record<string, string>>;
  install?(host: ClientExtensionHost): void;
}
