/**
 * The open joint for protocol extensions. `server` and `client` name no extension; an extension brings its capability,
 * methods, notifications, listen filters, tool options and result types through these interfaces.
 */

import type { JsonObject, JsonRpcNotification, JsonRpcResponse, JsonValue } from '@mortise/jsonrpc-core';
import type { Progress } from '../model/progress.ts';
import type { CallToolResult } from '../model/tools.ts';
import type { ClientCapabilities, ServerCapabilities } from '../model/capabilities.ts';
import type { Era, Revision } from '../revisions/revision.ts';
import type { BusMessage } from './message-bus.ts';
import type { AuthInfo, Principal } from './auth.ts';

/**
 * The options of a tool that extensions own. They add theirs by declaration merging (`declare module '@mortise/protocol/contracts'`);
 * an option that no installed extension owns is an error at registration.
 */
export interface ToolOptions {}

/** The members of a handler's context that extensions own. They add theirs by declaration merging; without the extension there is none. */
export interface ContextMembers {}

/** One question to the client. */
export interface Ask {
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`; an extension may add its own. */
  readonly method: string;
  readonly params?: JsonObject;
  /** The author's name for the question, for handlers whose questions depend on something that may change. */
  readonly key?: string;
  readonly signal?: AbortSignal;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeoutMs?: number;
}

/**
 * What a run of a handler can do with the world outside: behind `ctx.elicit`, `ctx.sample`, `ctx.listRoots`, `ctx.once`, `ctx.progress`
 * and `ctx.log`. A legacy session, a modern exchange and a task each implement it.
 *
 * R1  `ask` settles with the client's answer, rejects with its refusal, or rejects with `Suspended` where the answer comes in a
 *     later run.
 * R2  `once` runs `fn` at most once for a key along one chain of runs, and resolves to what it gave each time.
 * R3  `report` keeps the order of notifications, and drops them silently once the run has ended.
 */
export interface HandlerRun {
  readonly signal: AbortSignal;
  ask(ask: Ask): Promise<JsonObject>;
  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T>;
  report(notification: JsonRpcNotification): Promise<void>;
}

/** Who asks, in which revision, with what abilities: what an extension may know of a request. */
export interface ExtensionCall {
  readonly revision: Revision;
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  readonly clientCapabilities: ClientCapabilities;
  readonly signal: AbortSignal;
  /** `channel`: one connection whose caller stays the same; `exchange`: one request by itself. */
  readonly via: 'channel' | 'exchange';
  /** Sends a notification that belongs to the request. */
  notify(notification: JsonRpcNotification): Promise<void>;
  /**
   * Sends a notification that belongs to no request, also once this one is answered; undefined where the caller has no channel for
   * such: in the modern era.
   */
  readonly tell: ((notification: JsonRpcNotification) => void) | undefined;
  /** Asks the client on the legacy era's channel; rejects where there is none. */
  request(ask: Ask): Promise<JsonObject>;
  /**
   * Lets the handler of this request go on after the request is answered by something else; undefined where it cannot be done now:
   * a question is open, or answers of an earlier round are still being read. It may be tried again later.
   *
   * From the moment of the call the handler's questions, steps and reports go to `run`, and its signal aborts with the signal of
   * `run` alone. What the handler gives is still what `next` resolves to.
   *
   * @returns What the run did before.
   */
  detach?(run: HandlerRun): RunSoFar | undefined;
}

/** What a run of a handler did until now. */
export interface RunSoFar {
  /** The steps of `ctx.once` that ran, by key; the value is without an item for a step that gave nothing. */
  readonly steps: ReadonlyMap<string, readonly JsonValue[]>;
  /** Those that still run. */
  readonly running: ReadonlyMap<string, Promise<readonly JsonValue[]>>;
  /** What the client answered in earlier rounds. */
  readonly answers: ReadonlyMap<string, { readonly method: string; readonly digest: string; readonly answer: JsonObject }>;
  /** Whether the caller has left, or leaves before it is answered: asked right before the answer is given. */
  readonly hasLeft: () => boolean;
}

/** The caller to whom a server declares its capabilities. */
export interface ExtensionAudience {
  readonly via: 'channel' | 'exchange';
  readonly principal: Principal;
  readonly isAuthenticated: boolean;
}

/** What an extension's members of a handler's context may use. */
export interface HandlerFacts {
  /** Made when it is first asked for. The very object that `runTool` was given, where a tool runs from its record. */
  readonly run: HandlerRun;
  /** The request; undefined where a tool runs from its record. */
  readonly call: ExtensionCall | undefined;
}

/** A call of a tool as plain data, so that the tool can be run again from it, later and elsewhere. Holds no token. */
export interface ToolCallRecord {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly principal: Principal;
  /** The version of the revision that the call was made in. */
  readonly revision: string;
  readonly clientCapabilities: JsonObject;
  readonly scopes: readonly string[];
  readonly meta?: JsonObject;
}

/** Runs the rest of a call: the next interceptor, or the server's own dispatch. */
export type NextCall = () => Promise<JsonObject>;

/** Handles a request: its value is the canonical result. A `ProtocolError` becomes that JSON-RPC error. */
export type ExtensionMethod = (params: JsonObject, call: ExtensionCall) => JsonObject | Promise<JsonObject>;

/** A key that an extension adds to the filter of `subscriptions/listen`. */
export interface ListenFilter {
  readonly key: string;
  /** The part of the wish that is honoured, echoed in the acknowledgement; undefined to leave it out. May throw a `ProtocolError`. */
  accept(wish: JsonValue, call: ExtensionCall): JsonValue | undefined | Promise<JsonValue | undefined>;
  /** The bus topics that an accepted wish listens to. */
  topics(accepted: JsonValue, call: ExtensionCall): readonly string[];
  /** The notification that an event becomes for this subscriber; undefined to pass it over. */
  toNotification(event: BusMessage, accepted: JsonValue): JsonRpcNotification | undefined;
}

/** What a server gives an extension. */
export interface ExtensionHost {
  /** Adds a request method. @param where.eras The eras in which it exists; the other era answers -32601. */
  addMethod(method: string, where: { readonly eras: readonly Era[]; readonly nameParam?: string }, fn: ExtensionMethod): void;
  /** Stands in front of a method's own dispatch; the first added is the outermost. */
  intercept(method: string, fn: (params: JsonObject, call: ExtensionCall, next: NextCall) => Promise<JsonObject>): void;
  /**
   * Runs a tool from its record, with the asks, steps and reports of `run`. Who may call it was settled when the record was made. What
   * `run` is asked has the form of the record's revision, and so have its answers.
   *
   * @throws {ProtocolError} For faults of the protocol only, with the code that the record's revision has for it.
   */
  runTool(record: ToolCallRecord, run: HandlerRun): Promise<CallToolResult>;
  /** The options that a tool was registered with; undefined for a tool that the principal does not see. */
  toolOptions(name: string, principal: Principal): Readonly<Record<string, unknown>> | undefined;
  /**
   * The options of the tool that a request is about, for extensions that run it themselves; undefined where the caller does not see it.
   *
   * @throws {ProtocolError} The caller's token lacks a scope of the tool.
   */
  authorizeTool(name: string, call: ExtensionCall): Readonly<Record<string, unknown>> | undefined;
  /** Tells subscribers, on this machine and others, through the server's `MessageBus`. */
  publish(event: BusMessage): Promise<void>;
  addFilter(filter: ListenFilter): void;
  /** Called when the server closes; awaited. */
  onClose(fn: () => Promise<void>): void;
}

/** A part that adds a protocol extension to a server. */
export interface ServerExtension {
  /** The extension's identifier, `vendor.example/name`; shown in `capabilities.extensions` where the revision has them. */
  readonly id: string;
  /** The settings shown under `id`, for revisions that have extensions; undefined to show nothing there. */
  readonly settings?: JsonObject;
  /** Top-level capabilities that the extension has in a revision. */
  capabilities?(revision: Revision, audience: ExtensionAudience): Partial<ServerCapabilities>;
  /** `resultType` values of its own. */
  readonly resultTypes?: readonly string[];
  /** The tool options that it owns. An option without an owner is an error at registration. */
  readonly toolOptions?: readonly string[];
  /** The keys that it adds to a tool's definition in a list. */
  toolDefinition?(options: Readonly<Record<string, unknown>>, revision: Revision): JsonObject;
  /** The members that it adds to a handler's context. */
  context?(facts: HandlerFacts): Readonly<Record<string, unknown>>;
  /** The request methods that it may answer with a result of its own. */
  readonly answers?: readonly string[];
  install(host: ExtensionHost): void;
}

/** What an extension may know of a call that it stands around, beside its parameters. */
export interface InterceptedCall {
  /** The caller's signal, where there is one. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each progress notification, if the request asked for progress. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** What a client gives an extension. */
export interface ClientExtensionHost {
  /** Sends a request and gives back the canonical result, whatever its `resultType`. */
  request(
    method: string,
    params: JsonObject,
    options?: {
      readonly signal?: AbortSignal;
      readonly timeoutMs?: number;
      /** Whether progress starts the time anew, for which a progress token is sent in place of one in the params. @default true */
      readonly resetTimeoutOnProgress?: boolean;
    },
  ): Promise<JsonObject>;
  /** Sends a request and gives back the response as it came. */
  requestRaw(method: string, params: JsonObject, options?: { readonly signal?: AbortSignal }): Promise<JsonRpcResponse>;
  notify(method: string, params: JsonObject): Promise<void>;
  /** Answers one question of the server with the program's own handlers. */
  answer(ask: Ask): Promise<JsonObject>;
  /** Stands around a method's own call. */
  intercept(
    method: string,
    fn: (params: JsonObject, next: (params: JsonObject) => Promise<JsonObject>, call: InterceptedCall) => Promise<JsonObject>,
  ): void;
  /** Stands around the program's own answer to a question of the server (a request of the legacy era, an input of the modern one). */
  interceptAnswer(
    method: string,
    fn: (
      params: JsonObject,
      next: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>,
      signal: AbortSignal,
    ) => Promise<JsonObject>,
  ): void;
  /** Handles a request from the server (legacy era). Declares nothing: `ClientExtension.capabilities` does. */
  addMethod(method: string, fn: (params: JsonObject) => JsonObject | Promise<JsonObject>): void;
  onNotification(method: string, fn: (params: JsonObject) => void): () => void;
  /** Opens a subscription with keys of the extension's own; leaving the loop ends it. */
  listen(filter: JsonObject, options?: { readonly signal?: AbortSignal }): AsyncIterable<JsonRpcNotification>;
  readonly revision: Revision;
  readonly serverCapabilities: ServerCapabilities;
}

/** A part that adds a protocol extension to a client. */
export interface ClientExtension {
  readonly id: string;
  /** The settings declared under `id` in `capabilities.extensions`. */
  readonly settings?: JsonObject;
  /**
   * Top-level client capabilities that the extension has in a revision.
   *
   * @param declared What the program declares by itself.
   */
  capabilities?(revision: Revision, declared: ClientCapabilities): Partial<ClientCapabilities>;
  /** `resultType` values that it understands, and what becomes of such a result. */
  readonly results?: Readonly<
    Record<
      string,
      (
        result: JsonObject,
        call: { readonly method: string; readonly params: JsonObject; readonly signal?: AbortSignal },
      ) => Promise<JsonObject>
    >
  >;
  /** The parameter of its methods that HTTP mirrors in `Mcp-Name`. */
  readonly nameParams?: Readonly<Record<string, string>>;
  install?(host: ClientExtensionHost): void;
}
