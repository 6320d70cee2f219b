/** How a server behaves. Every option has a default that is right for most. */

import type { Clock, Logger, LogLevel } from '@mortise/jsonrpc-core';
import type { Revision } from '@mortise/protocol';
import type { CacheScope, ServerCapabilities } from '@mortise/protocol/model';
import type { JsonSchemaValidator, MessageBus, ServerExtension, Tracer } from '@mortise/protocol/contracts';
import type { RootGuard } from './asks/client-roots.ts';
import type { RequestStateOptions } from './asks/request-state-options.ts';
import type { MiddlewareCall } from './middleware/middleware.ts';
import type { Redactor } from './create-redactor.ts';

/** What `options.context` may look at: the request before its app context exists. */
export type ContextCall = Omit<MiddlewareCall<undefined>, 'app'>;

/** How progress is thinned out. */
export interface ProgressOptions {
  /** The time between two notifications of one call once `burst` is used up, in milliseconds. 0 merges only while the transport is full. @default 50 */
  readonly minIntervalMs?: number | undefined;
  /** How many may go out before the interval holds; they come back at its rate. @default 20 */
  readonly burst?: number | undefined;
}

/** How log messages to clients are limited. */
export interface LoggingOptions {
  /** What a legacy session gets before it sets a level. @default 'debug', which is everything */
  readonly defaultLevel?: LogLevel | undefined;
  /** How many messages one session, or one modern request, may get at once; further ones are dropped and counted. @default 100 */
  readonly burst?: number | undefined;
  /** How many messages come back to `burst` in a second. @default 50 */
  readonly perSecond?: number | undefined;
  /** What takes secrets out of `data`; `createRedactor({ ... })` of `/middleware` makes one that knows more, `false` sends `data` as it is. @default one that knows common keys and names */
  readonly redact?: Redactor | false | undefined;
}

/** How long a result stays good, and for whom. */
export interface CacheHints {
  /** In milliseconds: an integer, 0 or more. */
  readonly ttlMs?: number | undefined;
  readonly cacheScope?: CacheScope | undefined;
}

/** What modern results say about caching. It guards nothing: `visible` and `scopes` do. */
export interface CacheOptions {
  /** Hints of single lists, before `listTtlMs` and `listScope`. @default none */
  readonly lists?: Readonly<Partial<Record<'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'discovery', CacheHints>>> | undefined;
  /** How long a list or discovery stays good, in milliseconds. @default 0: ask again, or listen for changes */
  readonly listTtlMs?: number | undefined;
  /** How long what was read stays good where the resource does not say, in milliseconds. @default 0 */
  readonly readTtlMs?: number | undefined;
  /** Whose lists are, as long as no rule hides something from some callers; then it is always `private`. @default 'public' */
  readonly listScope?: CacheScope | undefined;
}

/** When a silent legacy client is asked whether it is still there. The modern era has no ping. */
export interface KeepAliveOptions {
  /** How long nothing must have come before a ping is sent, in milliseconds. @default 30_000 */
  readonly everyMs?: number | undefined;
  /** How long a ping waits for its answer, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** How many pings in a row must fail before the connection is closed. @default 3 */
  readonly failures?: number | undefined;
}

/** The options of `Server` and `McpServer`. */
export interface ServerOptions<App = unknown> {
  /**
   * What the server can do beside what registering shows: `logging`, `experimental`, or `tools` before the first tool exists.
   *
   * @default none beside those
   */
  readonly capabilities?: ServerCapabilities | undefined;
  /** How to use the server, for the model. @default none */
  readonly instructions?: string | undefined;
  /** The revisions to speak, newest first. @default `REVISIONS` of `@mortise/protocol`; leave the legacy ones out for a server without sessions */
  readonly revisions?: readonly Revision[] | undefined;
  /**
   * Makes the app context of a request: a tenant, a database handle. Once a request, before any middleware; may wait.
   *
   * @default none: `undefined`
   */
  readonly context?: ((call: ContextCall) => App | Promise<App>) | undefined;
  /** Parts that add to the protocol, such as `createTasks()` of `@mortise/tasks/server`. What they declare depends on the revision. @default none */
  readonly extensions?: readonly ServerExtension[] | undefined;
  /** Carries change events between the machines of one server. @default one within this process */
  readonly messageBus?: MessageBus | undefined;
  /** Checks plain JSON Schemas. @default the eval-free validator of `@mortise/protocol/json-schema`, loaded when first needed */
  readonly validator?: JsonSchemaValidator | undefined;
  /** How long a handler may run, in milliseconds; questions to the client do not count. `Infinity` for no bound. @default 600_000 */
  readonly handlerTimeoutMs?: number | undefined;
  /** How long a question to the client waits for its answer, in milliseconds. @default 600_000 */
  readonly askTimeoutMs?: number | undefined;
  /**
   * What modern requests remember while they ask back: the keys that seal it, how long, how large, how often.
   *
   * @default as each of its members says
   */
  readonly requestState?: RequestStateOptions | undefined;
  /**
   * Knows which paths lie in a client's roots, for `ctx.roots.contains`: `diskRoots()` of `@mortise/server/node`.
   *
   * @deprecated since 2026-07-28, with roots: take directories as arguments, resource URIs or configuration. Works in every revision.
   * @default none: `ctx.roots.contains` rejects
   */
  readonly roots?: RootGuard | undefined;
  /** How many items a page of a list holds. @default 1_000 */
  readonly pageSize?: number | undefined;
  /** 16 bytes that machines share so that each can read the cursors of the others. @default random, per server */
  readonly cursorKey?: Uint8Array | undefined;
  /** How long changes of a list are gathered before clients are told, in milliseconds. @default 0: one macrotask */
  readonly debounceMs?: number | undefined;
  /** Whether modern results name the server in their `_meta`. @default true */
  readonly sendsServerInfo?: boolean | undefined;
  /** What modern results say about how long they stay good, and for whom. @default as each of its members says */
  readonly cache?: CacheOptions | undefined;
  /** How often a handler's progress reaches the client. @default as each of its members says */
  readonly progress?: ProgressOptions | undefined;
  /** Which log messages reach clients, how many, and what is taken out of them. @default as each of its members says */
  readonly logging?: LoggingOptions | undefined;
  /** Pings legacy clients on connections that are silent; `true` for its defaults. @default no pings */
  readonly keepAlive?: KeepAliveOptions | boolean | undefined;
  /**
   * What the model is told of an error that a tool threw; undefined for a neutral sentence. The default shows the messages of
   * `ToolError` and of plain `Error`, with paths and what looks like a secret taken out, and nothing of any other error.
   *
   * @default messages of `ToolError` and of plain `Error`, made safe
   */
  readonly describeError?: ((error: unknown) => string | undefined) | undefined;
  /**
   * How many resources one legacy session may subscribe to, and all `subscriptions/listen` of one connection may name; over HTTP, where each is a
   * stream of its own, one. Their URIs may have 256 characters on average, and 64 KiB in sum in any case.
   *
   * @default 1_000
   */
  readonly maxSubscriptions?: number | undefined;
  /** How many `subscriptions/listen` one connection may have open. Over HTTP the transport's `maxStreamsPerKey` bounds them. @default 100 */
  readonly maxListens?: number | undefined;
  /**
   * How many bytes of requests in flight and of answers unread one connection may have, where its transport tells (stdio and WebSocket do); a request beyond that
   * is refused at once (-32603), and everything else still read. It counts until its handler has ended.
   *
   * @default 64 MiB
   */
  readonly maxInFlightBytes?: number | undefined;
  /** How many notifications may wait for a slow listener before its subscription ends. @default 1_024 */
  readonly maxQueuedNotifications?: number | undefined;
  /**
   * Opens a span around each request, in the trace that its `_meta` names, and around what handlers ask the client:
   * `createOpenTelemetryTracer()` of `@mortise/protocol/opentelemetry`. @default none
   */
  readonly tracer?: Tracer | undefined;
  /** Where what the program should know goes: errors of handlers, whole; what was refused or dropped. @default the one that the host offers, or none */
  readonly logger?: Logger | undefined;
  /** @default the platform's clock */
  readonly clock?: Clock | undefined;
}
