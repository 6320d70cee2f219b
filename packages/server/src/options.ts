/** The options of a server and their checks. Every option has a default. */

import type { Clock, Logger } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { REVISIONS, type Revision } from '@mortise/protocol';
import type { CacheScope, Implementation, ServerCapabilities } from '@mortise/protocol/model';
import type { JsonSchemaValidator, MessageBus, ReplayStore, ServerExtension, StateStore, Tracer } from '@mortise/protocol/contracts';
import { RegistrationError } from './errors.ts';
import type { MiddlewareCall } from './middleware/middleware.ts';

/** The argument of `options.context`: facts of the request. It has no `app`, because that is what the function makes. */
export type ContextCall = Omit<MiddlewareCall<undefined>, 'app'>;

/** The cache hints (`ttlMs`, `cacheScope`) in modern results. They are not access control: use `visible` and `scopes` for that. */
export interface CacheOptions {
  /** How long clients may cache a list or a discovery result, in milliseconds. @default 0: clients should request it each time */
  readonly listTtlMs?: number | undefined;
  /** How long clients may cache the content of a resource that sets no `ttlMs` itself, in milliseconds. @default 0 */
  readonly readTtlMs?: number | undefined;
  /** Whether cached lists may be shared between callers. A list with a `visible` option is always `private`. @default 'public' */
  readonly listScope?: CacheScope | undefined;
}

/** How the `requestState` of `input_required` results is encrypted, stored and limited. */
export interface RequestStateOptions {
  /**
   * Keys of 32 bytes. The first key encrypts, all keys decrypt. To change keys, put the new one first. Servers with the same keys can
   * continue each other's calls after the client has answered.
   *
   * @default a key derived from the server's option `clusterKey`; without that a random key, so that only this process can continue its calls
   */
  readonly keys?: readonly Uint8Array[] | undefined;
  /** How long the client has to send its answers, in milliseconds. An older `requestState` is rejected. @default 600_000 (10 minutes) */
  readonly ttlMs?: number | undefined;
  /** Stores states over 262,144 characters (256 KiB); the client gets an encrypted reference. @default none: such a state is an error */
  readonly store?: StateStore | undefined;
  /**
   * Allows each `requestState` to be used only once. A second request with the same one gets -32602. Without this option, a second request
   * runs the handler again from that point, including later steps of `ctx.once`, with the same idempotency keys.
   *
   * @default none
   */
  readonly replay?: ReplayStore | undefined;
  /** How many times one call may return `input_required` before its final result. @default 10 */
  readonly maxRounds?: number | undefined;
}

/** The options of `Server` and `McpServer`. */
export interface ServerOptions<App = unknown> {
  /**
   * Capabilities to declare besides those of registered items, such as `logging`, `experimental`, or `tools` before the first tool exists. @default
   * none
   */
  readonly capabilities?: ServerCapabilities | undefined;
  /** Instructions for the model on how to use the server. @default none */
  readonly instructions?: string | undefined;
  /** The protocol revisions to serve. Without legacy revisions, the server has no sessions. @default `REVISIONS` of `@mortise/protocol` */
  readonly revisions?: readonly Revision[] | undefined;
  /**
   * Makes the app context of a request, such as a tenant or a database handle. Called once per request, before any middleware; may be async. @default
   * none: `undefined`
   */
  readonly context?: ((call: ContextCall) => App | Promise<App>) | undefined;
  /** Protocol extensions, such as `createTasks()` of `@mortise/tasks/server`. @default none */
  readonly extensions?: readonly ServerExtension[] | undefined;
  /** Carries change events between several machines that run this server. @default a bus within this process */
  readonly messageBus?: MessageBus | undefined;
  /** Validates values against plain JSON Schemas. @default the eval-free validator of `@mortise/protocol/json-schema`, loaded when first needed */
  readonly validator?: JsonSchemaValidator | undefined;
  /**
   * How long a handler may run, in milliseconds, not counting the time it waits for the client's answers. `Infinity` for no limit. @default 600_000
   */
  readonly handlerTimeoutMs?: number | undefined;
  /**
   * A secret that all machines of a cluster share, with at least 32 random bytes. The keys with which the server protects what it sends to
   * clients are derived from it. Today that is the key of `requestState`, unless `requestState.keys` is set.
   *
   * @default random keys, so that only this process can continue calls that wait for the client's input
   */
  readonly clusterKey?: Uint8Array | undefined;
  /** The `requestState` of `input_required` results: keys, lifetime, store, how often a call may ask. @default see each member */
  readonly requestState?: RequestStateOptions | undefined;
  /** How many items one page of a list result holds, such as tools in `tools/list`. @default 1_000 */
  readonly pageSize?: number | undefined;
  /** The cache hints (`ttlMs`, `cacheScope`) in modern results. @default see each member */
  readonly cache?: CacheOptions | undefined;
  /**
   * Pings a legacy client after this many milliseconds without a message. Three pings in a row without a response close the connection.
   * @default no pings
   */
  readonly keepAliveMs?: number | undefined;
  /**
   * Returns the text that the model sees of an error thrown by a tool, or undefined for a general text. The default shows the messages of
   * `ToolError` and plain `Error`, without likely paths and secrets, and hides all other errors.
   *
   * @default `describeError`
   */
  readonly describeError?: ((error: unknown) => string | undefined) | undefined;
  /** The most resources that one legacy session, or all `subscriptions/listen` of one connection, may subscribe to. @default 1_000 */
  readonly maxSubscriptions?: number | undefined;
  /**
   * How many bytes of requests in progress and of responses not yet read one connection may have, if its transport counts them (stdio and
   * WebSocket do). A request beyond that gets -32603. @default 64 MiB
   */
  readonly maxInFlightBytes?: number | undefined;
  /**
   * Opens a span around each request, in the trace named in its `_meta`, and around each request to the client. See
   * `createOpenTelemetryTracer()` of `@mortise/protocol/opentelemetry`. @default none
   */
  readonly tracer?: Tracer | undefined;
  /** Gets the full errors of handlers, and warnings about rejected or dropped messages. @default the host's logger, if any */
  readonly logger?: Logger | undefined;
  /** The clock for time limits, expiry and timers. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** The options `tools`, `prompts` and `resources` of `McpServer`. The values in them are checked when they are registered. */
type Values = { readonly tools?: object; readonly prompts?: object; readonly resources?: object };

const KEY_BYTES = 32;

/** Checks a new server's arguments. @throws {RegistrationError} `ERR_REGISTRATION`: one is missing, unknown or of the wrong type. */
export function checkServer(info: Implementation, options: ServerOptions & Values): void {
  if (typeof info !== 'object' || (info as unknown) === null || typeof info.name !== 'string' || typeof info.version !== 'string')
    throw new RegistrationError('The first argument of a new server must be { name, version }, both strings');
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
      clusterKey: 'object',
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
    throw new RegistrationError(
      'cache: "listTtlMs" and "readTtlMs" must be integers of 0 or more milliseconds, "listScope" must be "public" or "private"',
    );
  const { clusterKey } = options;
  if (clusterKey !== undefined && !(clusterKey instanceof Uint8Array && clusterKey.length >= KEY_BYTES)) {
    const given = clusterKey instanceof Uint8Array ? `${clusterKey.length} bytes` : typeof clusterKey;
    throw new RegistrationError(
      `clusterKey must be a Uint8Array of ${KEY_BYTES} random bytes or more, the same on all machines, not ${given}: create it once with "openssl rand -base64 ${KEY_BYTES}"`,
    );
  }
  for (const key of options.requestState?.keys ?? []) {
    if (ArrayBuffer.isView(key) && key.length === KEY_BYTES) continue;
    throw new RegistrationError(
      `requestState.keys: a key must be a Uint8Array of ${KEY_BYTES} bytes: create it with crypto.getRandomValues(new Uint8Array(${KEY_BYTES}))`,
    );
  }
}

/** Checks the option `revisions`. @throws {RegistrationError} `ERR_REGISTRATION`: the list is empty, or a value is not a revision. */
export function chooseRevisions(given: readonly Revision[] = REVISIONS): readonly Revision[] {
  if (given.length === 0 || given.some((each) => !REVISIONS.includes(each)))
    throw new RegistrationError("revisions: give values of @mortise/protocol, at least one, such as revisionsOf('modern')");
  return REVISIONS.filter((revision) => given.includes(revision));
}

/** Tells whether a value is a valid `ttlMs`: an integer of 0 or more. */
export function isTtl(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isCacheScope(value: unknown): value is CacheScope {
  return value === 'public' || value === 'private';
}
