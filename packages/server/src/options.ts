/** The options of a server, and how they are checked. Every option has a default that is right for most. */

import type { Clock, Logger } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { REVISIONS, type Revision } from '@mortise/protocol';
import type { CacheScope, Implementation, ServerCapabilities } from '@mortise/protocol/model';
import type { JsonSchemaValidator, MessageBus, ReplayStore, ServerExtension, StateStore, Tracer } from '@mortise/protocol/contracts';
import { RegistrationError } from './errors.ts';
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

/** The options of `McpServer` that hold tools, prompts and resources made elsewhere: checked with each registration. */
type Values = { readonly tools?: object; readonly prompts?: object; readonly resources?: object };

const KEY_BYTES = 32;

/** @throws {RegistrationError} `ERR_REGISTRATION`: an argument is missing, an option is unknown or of another kind. */
export function checkServer(info: Implementation, options: ServerOptions & Values): void {
  if (typeof info !== 'object' || (info as unknown) === null || typeof info.name !== 'string' || typeof info.version !== 'string')
    throw new RegistrationError('The first argument of a new server is { name, version }, both strings');
  checkOptions<ServerOptions & Values>(
    "the server's options",
    options,
    {
      capabilities: 'any',
      instructions: 'string',
      revisions: 'array',
      context: 'function',
      extensions: 'array',
      messageBus: 'object',
      validator: 'object',
      handlerTimeoutMs: 0,
      requestState: { keys: 'array', ttlMs: 0, store: 'object', replay: 'object', maxRounds: 0 },
      pageSize: 1,
      cache: { listTtlMs: 0, readTtlMs: 0, listScope: 'string' },
      keepAliveMs: 1,
      describeError: 'function',
      maxSubscriptions: 0,
      maxInFlightBytes: 0,
      tracer: 'object',
      logger: 'object',
      clock: 'object',
      tools: 'object',
      prompts: 'object',
      resources: 'object',
    },
    RegistrationError,
  );
  const { listTtlMs = 0, readTtlMs = 0, listScope = 'public' } = options.cache ?? {};
  if (!isTtl(listTtlMs) || !isTtl(readTtlMs) || !isCacheScope(listScope))
    throw new RegistrationError('cache: "listTtlMs" and "readTtlMs" are integers of milliseconds, "listScope" is "public" or "private"');
  for (const key of options.requestState?.keys ?? []) {
    if (ArrayBuffer.isView(key) && key.length === KEY_BYTES) continue;
    throw new RegistrationError(
      `requestState.keys: a key is a Uint8Array of ${KEY_BYTES} bytes: make it with crypto.getRandomValues(new Uint8Array(${KEY_BYTES}))`,
    );
  }
}

/** @throws {RegistrationError} `ERR_REGISTRATION`: something else than a revision, or none. */
export function chooseRevisions(given: readonly Revision[] = REVISIONS): readonly Revision[] {
  if (given.length === 0 || given.some((each) => !REVISIONS.includes(each)))
    throw new RegistrationError("revisions: give values of @mortise/protocol, at least one, such as revisionsOf('modern')");
  return REVISIONS.filter((revision) => given.includes(revision));
}

/** Whether a value can be a `ttlMs`. */
export function isTtl(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isCacheScope(value: unknown): value is CacheScope {
  return value === 'public' || value === 'private';
}
