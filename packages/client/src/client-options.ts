/** The options of a client, of connecting and of one request, and the tables that check them. */

import type { Clock, Logger } from '@mortise/jsonrpc-core';
import type { OptionTable } from '@mortise/jsonrpc-core/transport';
import type { Era, Revision } from '@mortise/protocol';
import type { ClientExtension, JsonSchemaValidator, Tracer } from '@mortise/protocol/contracts';
import type { ClientCapabilities, MetaObject, Progress } from '@mortise/protocol/model';
import type { AnswerOptions } from './answers/answer-options.ts';
import type { EraMemory } from './era/era-memory.ts';
import type { ResultCache } from './result-cache.ts';

/** The options of a client. All are optional. */
export interface ClientOptions extends AnswerOptions {
  /** More capabilities to declare, such as `experimental`, in addition to those that handlers declare. @default none */
  readonly capabilities?: ClientCapabilities | undefined;
  /** The only era to use. @default the server's era, detected when connecting */
  readonly era?: Era | undefined;
  /** The only protocol version to use. @default the newest that both sides support */
  readonly protocolVersion?: string | undefined;
  /** The revisions that may be used, newest first. @default REVISIONS of `@mortise/protocol` */
  readonly revisions?: readonly Revision[] | undefined;
  /**
   * Whether `connect` sends `server/discover` to a modern server. `false` saves a round trip, but the client then cannot check requests
   * against the server's capabilities. `false` needs `era: 'modern'` or a modern `protocolVersion`.
   *
   * @default true
   */
  readonly discovers?: boolean | undefined;
  /**
   * How long the client waits for the response to its first message before it tries the legacy era, in milliseconds. Applies to channels
   * only, such as stdio.
   *
   * @default 3_000
   */
  readonly probeTimeoutMs?: number | undefined;
  /** Remembers which era each server speaks. May be a `Map`. @default a memory of 1,000 servers, shared by all clients of the process */
  readonly eraMemory?: EraMemory | undefined;
  /** How long a request waits for its response, in milliseconds. The first message of a connection waits at most 30_000. @default 60_000 */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * How long a request waits in total, however often progress restarts its timeout, in milliseconds. A longer `timeoutMs` of the call wins.
   *
   * @default 600_000, or `requestTimeoutMs` if that is longer
   */
  readonly maxRequestTimeoutMs?: number | undefined;
  /**
   * Whether the client opens a lost connection again, with a new transport from the factory that `connect` got: at once if a subscription
   * is open, otherwise with the next request. Requests in flight fail either way.
   *
   * @default true, if `connect` got a factory
   */
  readonly restart?: boolean | undefined;
  /**
   * The interval between pings to a legacy server, in milliseconds. Three pings in a row without a response within 10,000 ms each end the
   * connection. Has no effect in the modern era, which has no `ping`.
   *
   * @default Infinity: never
   */
  readonly keepAliveMs?: number | undefined;
  /**
   * Caches results for as long as a modern server allows (`ttlMs`). `createResultCache()` makes one, and several clients may share it. A
   * change notification removes the results that it affects. To receive change notifications, open a subscription.
   *
   * @default none: every request goes to the server
   */
  readonly resultCache?: ResultCache | undefined;
  /** Makes an OpenTelemetry span for each request sent or answered, and sends the trace context in `_meta`. @default none */
  readonly tracer?: Tracer | undefined;
  /**
   * Checks tools' structured output and users' form answers; `false` turns the checks off.
   *
   * @default the validator of `@mortise/protocol/json-schema`, loaded when first needed
   */
  readonly validator?: JsonSchemaValidator | false | undefined;
  /** Protocol extensions. The client declares each one. Nothing else happens for an extension that the server lacks. @default none */
  readonly extensions?: readonly ClientExtension[] | undefined;
  /**
   * Called with each error that belongs to no request, such as an unreadable message, a malformed list item, a broken subscription, or a
   * handler that failed to answer a legacy server. May be async.
   *
   * @default none; without `logger` too, failed handlers are written to `console.error`
   */
  readonly onError?: ((error: Error) => unknown) | undefined;
  /** Runs the timers of requests, probes and reconnections. @default the platform's clock */
  readonly clock?: Clock | undefined;
  /** Writes a line for each error that belongs to no request. @default a logger that drops every line */
  readonly logger?: Logger | undefined;
}

/** The options of `connect`. */
export interface ConnectOptions {
  /** Cancels connecting; `connect` then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /**
   * What the server must declare, else connecting fails: dotted capabilities (`resources.subscribe`) or extension identifiers
   * (`vendor.example/name`).
   *
   * @default none
   */
  readonly requires?: readonly string[] | undefined;
}

/** The options of one request. */
export interface CallOptions {
  /**
   * Cancels the request at the server; the call then rejects with the signal's reason. A reason that is text or has a message is sent to
   * the server: `controller.abort(new Error('...'))`.
   *
   * @default none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait for the response, in milliseconds. Time in which a lost connection is opened again counts. `Infinity` means no limit.
   *
   * Time in which the client answers a legacy server's request, or the user signs in for this request (a pause), does not count. One pause
   * lasts at most `maxRequestTimeoutMs` (or 600,000 if that is longer), all pauses together ten times as long. `signal` ends a pause too.
   *
   * @default the client's `requestTimeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How long to wait for the response in total, however often progress restarts `timeoutMs`, in milliseconds. Pauses do not count here
   * either.
   *
   * @default the client's `maxRequestTimeoutMs`, or this call's `timeoutMs` if that is longer
   */
  readonly maxTimeoutMs?: number | undefined;
  /** Whether a progress notification restarts `timeoutMs`. If so, the client asks for progress even without `onProgress`. @default true */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Called for each progress notification until the request has ended. @default none */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** More HTTP headers for this request. Other transports ignore them. @default none */
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
