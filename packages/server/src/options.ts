/** How a server behaves. Every option has a default that is right for most. */

import type { Clock, Logger } from '@mortise/jsonrpc-core';
import type { Revision } from '@mortise/protocol';
import type { CacheScope, ServerCapabilities } from '@mortise/protocol/model';
import type { JsonSchemaValidator, MessageBus, ReplayStore, ServerExtension, StateStore, Tracer } from '@mortise/protocol/contracts';
import type { MiddlewareCall } from './middleware/middleware.ts';

/** What `options.context` may look at: the request before its app context exists. */
export type ContextCall = Omit<MiddlewareCall<undefined>, 'app'>;

/** What modern results say about caching. It guards nothing: `visible` and `scopes` do. */
export interface CacheOptions {
  /** How long a list or discovery stays good, in milliseconds. @default 0: ask again, or listen for changes */
  readonly listTtlMs?: number | undefined;
  /** How long what was read stays good where the resource does not say, in milliseconds. @default 0 */
  readonly readTtlMs?: number | undefined;
  /** Whose lists are, as long as no rule hides something from some callers; then it is always `private`. @default 'public' */
  readonly listScope?: CacheScope | undefined;
}

/** The `requestState` of modern requests that ask the client: how it is sealed, stored and bounded. */
export interface RequestStateOptions {
  /**
   * Keys of 32 bytes. The first one seals, every one opens, so that a new key can be put in front of an old one. Servers that
   * share their keys go on with each other's rounds.
   *
   * @default a random key of this server, so that only this process can go on
   */
  readonly keys?: readonly Uint8Array[] | undefined;
  /** How long the client has for its answer, in milliseconds: a state that is older is refused. @default 600_000 (10 minutes) */
  readonly ttlMs?: number | undefined;
  /** Holds states of more than 262,144 characters (256 KiB); the client then gets a sealed reference. @default none: they are an error */
  readonly store?: StateStore | undefined;
  /**
   * Lets each state be used once: the second request with it is refused (-32602). Without one a client that sends a state
   * again runs the handler again from there, and steps of `ctx.once` that came after it with it, under the same idempotency keys.
   *
   * @default none
   */
  readonly replay?: ReplayStore | undefined;
  /** How many times one request may ask back. @default 10 */
  readonly maxRounds?: number | undefined;
}

/** The options of `Server` and `McpServer`. */
export interface ServerOptions<App = unknown> {
  /** What the server can do beside what registering shows: `logging`, `experimental`, or `tools` before the first tool exists. @default none beside those */
  readonly capabilities?: ServerCapabilities | undefined;
  /** How to use the server, for the model. @default none */
  readonly instructions?: string | undefined;
  /** The revisions to speak. @default `REVISIONS` of `@mortise/protocol`; leave the legacy ones out for a server without sessions */
  readonly revisions?: readonly Revision[] | undefined;
  /** Makes the app context of a request: a tenant, a database handle. Once a request, before any middleware; may be async. @default none: `undefined` */
  readonly context?: ((call: ContextCall) => App | Promise<App>) | undefined;
  /** Parts that add to the protocol, such as `createTasks()` of `@mortise/tasks/server`. @default none */
  readonly extensions?: readonly ServerExtension[] | undefined;
  /** Carries change events between the machines of one server. @default one within this process */
  readonly messageBus?: MessageBus | undefined;
  /** Checks plain JSON Schemas. @default the eval-free validator of `@mortise/protocol/json-schema`, loaded when first needed */
  readonly validator?: JsonSchemaValidator | undefined;
  /** How long a handler may run, in milliseconds; questions to the client do not count. `Infinity` for no bound. @default 600_000 */
  readonly handlerTimeoutMs?: number | undefined;
  /** The `requestState` of modern requests that ask the client: keys, lifetime, size, number of rounds. @default as each member says */
  readonly requestState?: RequestStateOptions | undefined;
  /** How many items a page of a list holds. @default 1_000 */
  readonly pageSize?: number | undefined;
  /** What modern results say about how long they stay good, and for whom. @default as each member says */
  readonly cache?: CacheOptions | undefined;
  /**
   * Pings a legacy client on a connection that has been silent for so long, in milliseconds; three pings without an answer close the
   * connection. @default no pings
   */
  readonly keepAliveMs?: number | undefined;
  /**
   * What the model reads of an error that a tool threw; undefined for a neutral sentence. The default shows the messages of
   * `ToolError` and of plain `Error`, with paths and what looks like a secret taken out, and nothing of any other error.
   *
   * @default `describeError`
   */
  readonly describeError?: ((error: unknown) => string | undefined) | undefined;
  /** How many resources one legacy session may subscribe to, and all `subscriptions/listen` of one connection may name. @default 1_000 */
  readonly maxSubscriptions?: number | undefined;
  /**
   * How many bytes of requests in flight and of answers unread one connection may have, where its transport counts them (stdio and WebSocket
   * do); a request beyond that is refused (-32603). @default 64 MiB
   */
  readonly maxInFlightBytes?: number | undefined;
  /**
   * Opens a span around each request, in the trace that its `_meta` names, and around what handlers ask the client:
   * `createOpenTelemetryTracer()` of `@mortise/protocol/opentelemetry`. @default none
   */
  readonly tracer?: Tracer | undefined;
  /** Receives what the program should know: errors of handlers, whole; what was refused or dropped. @default the one that the host offers, or none */
  readonly logger?: Logger | undefined;
  /** @default the platform's clock */
  readonly clock?: Clock | undefined;
}
