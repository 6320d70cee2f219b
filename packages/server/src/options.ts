/** The options of a server and their checks. Every option has a default. */

import type { Clock, Logger } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { REVISIONS, type Revision } from '@mortise/protocol';
import type { CacheScope, Implementation, ServerCapabilities } from '@mortise/protocol/model';
import type { JsonSchemaValidator, MessageBus, ReplayStore, ServerExtension, StateStore, Tracer } from '@mortise/protocol/contracts';
import { RegistrationError } from './errors.ts';
import type { MiddlewareCall } from './middleware/middleware.ts';

/** The request as `options.context` sees it, before the app context exists. */
export type ContextCall = Omit<MiddlewareCall<undefined>, 'app'>;

/** Cache hints in modern results. They are not access control: use `visible` and `scopes` for that. */
export interface CacheOptions {
  /** How long a list or discovery result may be cached, in milliseconds. @default 0: ask again, or listen for changes */
  readonly listTtlMs?: number | undefined;
  /** How long a resource's content may be cached if the resource sets no `ttlMs`, in milliseconds. @default 0 */
  readonly readTtlMs?: number | undefined;
  /** Whether cached lists may be shared between callers. A list with a `visible` rule is always `private`. @default 'public' */
  readonly listScope?: CacheScope | undefined;
}

/** How the `requestState` of modern requests is sealed, stored and limited. */
export interface RequestStateOptions {
  /**
   * Keys of 32 bytes. The first one seals, all of them open. To change keys, put the new one first. Servers with the same keys can continue each
   * other's rounds.
   *
   * @default a random key, so that only this process can continue
   */
  readonly keys?: readonly Uint8Array[] | undefined;
  /** How long the client has to answer, in milliseconds. An older state is rejected. @default 600_000 (10 minutes) */
  readonly ttlMs?: number | undefined;
  /** Stores states of more than 262,144 characters (256 KiB). The client then gets a sealed reference. @default none: such a state is an error */
  readonly store?: StateStore | undefined;
  /**
   * Allows each state to be used only once. A second request with the same state gets -32602. Without it, such a request runs the handler again from
   * that point, including later steps of `ctx.once`, with the same idempotency keys.
   *
   * @default none
   */
  readonly replay?: ReplayStore | undefined;
  /** How many times one request may ask the client. @default 10 */
  readonly maxRounds?: number | undefined;
}

/** The options of `Server` and `McpServer`. */
export interface ServerOptions<App = unknown> {
  /**
   * Capabilities to declare besides those of registered items, such as `logging`, `experimental`, or `tools` before the first tool exists. @default
   * none
   */
  readonly capabilities?: ServerCapabilities | undefined;
  /** How to use the server, for the model. @default none */
  readonly instructions?: string | undefined;
  /** The revisions to serve. @default `REVISIONS` of `@mortise/protocol`; for a server without sessions leave out the legacy ones */
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
  /** The `requestState` of modern requests that ask the client: keys, lifetime, size, number of rounds. @default see each member */
  readonly requestState?: RequestStateOptions | undefined;
  /** How many items a page of a list holds. @default 1_000 */
  readonly pageSize?: number | undefined;
  /** Cache hints in modern results. @default see each member */
  readonly cache?: CacheOptions | undefined;
  /**
   * Pings a legacy client after this many milliseconds without a message. Three pings in a row without a response close the connection.
   * @default no pings
   */
  readonly keepAliveMs?: number | undefined;
  /**
   * Returns the text that the model sees of an error thrown by a tool, or undefined for a neutral text. The default shows the messages of `ToolError`
   * and plain `Error`, without likely paths and secrets, and hides all other errors.
   *
   * @default `describeError`
   */
  readonly describeError?: ((error: unknown) => string | undefined) | undefined;
  /** How many resources one legacy session may subscribe to, and all `subscriptions/listen` of one connection may name. @default 1_000 */
  readonly maxSubscriptions?: number | undefined;
  /**
   * How many bytes of requests in flight and unread responses one connection may have, if its transport counts them (stdio and WebSocket do). A
   * request beyond that gets -32603. @default 64 MiB
   */
  readonly maxInFlightBytes?: number | undefined;
  /**
   * Opens a span around each request, in the trace named in its `_meta`, and around each question to the client. See `createOpenTelemetryTracer()` of
   * `@mortise/protocol/opentelemetry`. @default none
   */
  readonly tracer?: Tracer | undefined;
  /** Receives the full errors of handlers, and warnings about rejected or dropped messages. @default the host's logger, or none */
  readonly logger?: Logger | undefined;
  /** @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** The options of `McpServer` with tools, prompts and resources as values. Each value is checked when it is registered. */
type Values = { readonly tools?: object; readonly prompts?: object; readonly resources?: object };

const KEY_BYTES = 32;

/** @throws {RegistrationError} `ERR_REGISTRATION`: an argument is missing, or an option is unknown or of the wrong kind. */
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
  for (const key of options.requestState?.keys ?? []) {
    if (ArrayBuffer.isView(key) && key.length === KEY_BYTES) continue;
    throw new RegistrationError(
      `requestState.keys: a key must be a Uint8Array of ${KEY_BYTES} bytes: create it with crypto.getRandomValues(new Uint8Array(${KEY_BYTES}))`,
    );
  }
}

/** @throws {RegistrationError} `ERR_REGISTRATION`: the list is empty, or a value is not a revision. */
export function chooseRevisions(given: readonly Revision[] = REVISIONS): readonly Revision[] {
  if (given.length === 0 || given.some((each) => !REVISIONS.includes(each)))
    throw new RegistrationError("revisions: give values of @mortise/protocol, at least one, such as revisionsOf('modern')");
  return REVISIONS.filter((revision) => given.includes(revision));
}

/** Tells whether a value is a valid `ttlMs`. */
export function isTtl(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isCacheScope(value: unknown): value is CacheScope {
  return value === 'public' || value === 'private';
}
