/** The options of a client, of connecting and of one call, and the tables that they are checked by. */

import type { Clock, Logger } from '@mortise/jsonrpc-core';
import type { OptionTable } from '@mortise/jsonrpc-core/transport';
import type { Era, Revision } from '@mortise/protocol';
import type { ClientExtension, JsonSchemaValidator, Tracer } from '@mortise/protocol/contracts';
import type { ClientCapabilities, MetaObject, Progress } from '@mortise/protocol/model';
import type { AnswerOptions } from './answers/answer-options.ts';
import type { EraMemory } from './era/era-memory.ts';
import type { ResultCache } from './result-cache.ts';

/** How a client behaves. Everything has a default. */
export interface ClientOptions extends AnswerOptions {
  /** More capabilities to declare, such as `experimental`. Handlers declare theirs by themselves. @default none beside those */
  readonly capabilities?: ClientCapabilities | undefined;
  /** Speaks this era only. @default whichever the server speaks, found out when connecting */
  readonly era?: Era | undefined;
  /** Speaks this revision only. @default the newest that both speak */
  readonly protocolVersion?: string | undefined;
  /** The revisions that may be spoken, newest first. @default REVISIONS of `@mortise/protocol` */
  readonly revisions?: readonly Revision[] | undefined;
  /**
   * Whether connecting asks a modern server for its capabilities. `false` saves a round trip, leaves requests unchecked before they are sent, and
   * needs `era: 'modern'` or a modern `protocolVersion`.
   *
   * @default true
   */
  readonly discovers?: boolean | undefined;
  /** How long a channel's server may be silent on the first message before the client takes it for a legacy one, in milliseconds. @default 3_000 */
  readonly probeTimeoutMs?: number | undefined;
  /** Remembers which era each server speaks; a `Map` will do. @default a memory of 1,000 servers, shared by all clients of the process */
  readonly eraMemory?: EraMemory | undefined;
  /** How long a request waits for its answer, in milliseconds; the first message 30_000 at most. @default 60_000 */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * How long a request waits however much progress comes, in milliseconds; one with a longer `timeoutMs` of its own waits for that.
   *
   * @default 600_000, or `requestTimeoutMs` if that is longer
   */
  readonly maxRequestTimeoutMs?: number | undefined;
  /**
   * Whether a connection that was lost is opened again, by a fresh transport of the factory: at once where a subscription is open, else with
   * the next request. Requests in flight are lost either way.
   *
   * @default true, which needs a factory
   */
  readonly restart?: boolean | undefined;
  /**
   * Pings a legacy server every so many milliseconds. Three pings in a row that are not answered within 10,000 ms each end the connection. Does
   * nothing in the modern era, which has no `ping`.
   *
   * @default Infinity: never
   */
  readonly keepAliveMs?: number | undefined;
  /**
   * Keeps results that a modern server lets be used again (`ttlMs`): `createResultCache()`, which several clients may share. A change that the
   * server reports ends the results that it touches, so open a subscription.
   *
   * @default none: every request goes to the server
   */
  readonly resultCache?: ResultCache | undefined;
  /** Opens a span around each request and each answer, and sends its context in `_meta`. @default none */
  readonly tracer?: Tracer | undefined;
  /** Checks tools' structured output and users' forms; `false` for no check. @default the one of `@mortise/protocol/json-schema`, loaded when first needed */
  readonly validator?: JsonSchemaValidator | false | undefined;
  /** Protocol extensions. Each is declared to servers, and changes nothing else where the server lacks it. @default none */
  readonly extensions?: readonly ClientExtension[] | undefined;
  /** Called with each error that belongs to no request: garbage, a malformed item of a list, a subscription that broke. May be async. @default none */
  readonly onError?: ((error: Error) => unknown) | undefined;
  /** Runs the timers of requests, probes and reconnections. @default the platform's clock */
  readonly clock?: Clock | undefined;
  /** Gets a line for each error that belongs to no request. @default a logger that drops every line */
  readonly logger?: Logger | undefined;
}

/** How one connection is made. */
export interface ConnectOptions {
  /** Gives connecting up; `connect` then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /**
   * Server capabilities without which connecting fails, dotted (`resources.subscribe`), or identifiers of extensions
   * (`vendor.example/name`).
   *
   * @default none
   */
  readonly requires?: readonly string[] | undefined;
}

/** How one request is made. */
export interface CallOptions {
  /**
   * Aborting it cancels the request at the server and rejects with the signal's reason: `controller.abort(new Error('...'))` to say why, else
   * the platform's `AbortError`. A reason that is text or has a message goes to the server.
   *
   * @default none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait for the response, in milliseconds, and before that for a lost connection to be opened again. `Infinity` for no bound.
   *
   * While this side answers a legacy server's question, or signs in, the time stands still: for up to `maxRequestTimeoutMs` (600,000 if that is
   * longer) for one question, and ten times as long in all.
   *
   * @default the client's `requestTimeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The hard bound in milliseconds, however much progress comes. It stands still when `timeoutMs` does.
   *
   * @default the client's `maxRequestTimeoutMs`, or this call's `timeoutMs` if that is longer
   */
  readonly maxTimeoutMs?: number | undefined;
  /** Whether progress starts the time anew. The client then asks the server for progress even without `onProgress`. @default true */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Called for each progress notification until the request is settled. @default none: the client asks for no progress */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** More HTTP headers for this request, where the transport has headers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** More members for the request's `_meta`. @default none */
  readonly meta?: MetaObject | undefined;
}

export const CLIENT_OPTIONS: OptionTable<ClientOptions> = {
  capabilities: 'object',
  era: 'string',
  protocolVersion: 'string',
  revisions: 'array',
  discovers: 'boolean',
  probeTimeoutMs: 0,
  eraMemory: 'object',
  requestTimeoutMs: 0,
  maxRequestTimeoutMs: 0,
  restart: 'boolean',
  keepAliveMs: 1,
  resultCache: 'object',
  tracer: 'object',
  validator: ['object', 'boolean'],
  extensions: 'array',
  onError: 'function',
  clock: 'object',
  logger: 'object',
  elicitation: ['function', 'object'],
  sampling: 'function',
  roots: ['array', 'function'],
  asksPerMinute: 0,
};

export const CONNECT_OPTIONS: OptionTable<ConnectOptions> = { signal: 'signal', requires: 'array' };

export const CALL_OPTIONS: OptionTable<CallOptions> = {
  signal: 'signal',
  timeoutMs: 0,
  maxTimeoutMs: 0,
  resetTimeoutOnProgress: 'boolean',
  onProgress: 'function',
  headers: 'object',
  meta: 'object',
};
