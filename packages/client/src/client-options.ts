/** What a client may be told when it is made and when it connects. */

import type { Clock, Logger } from '@mortise/jsonrpc-core';
import type { Era, Revision } from '@mortise/protocol';
import type { ClientExtension, JsonSchemaValidator, Tracer } from '@mortise/protocol/contracts';
import type { ClientCapabilities, LoggingLevel } from '@mortise/protocol/model';
import type { AnswerOptions } from './answers.ts';
import type { EraMemory } from './era/era-memory.ts';
import type { KeepAliveOptions } from './keep-alive.ts';
import type { ResultCache } from './result-cache.ts';

/** How a client behaves. Everything has a default. A number that is none (NaN) is refused when the client is made: `RangeError`. */
export interface ClientOptions extends AnswerOptions {
  /** More capabilities to declare, such as `experimental`. Those of the handlers given declare themselves. @default none beside those */
  readonly capabilities?: ClientCapabilities | undefined;
  /** Speaks this era only. @default whichever the server speaks, found out when connecting */
  readonly era?: Era | undefined;
  /** Speaks this revision only. @default the newest that both speak */
  readonly protocolVersion?: string | undefined;
  /** The revisions that may be spoken, newest first. @default REVISIONS of `@mortise/protocol` */
  readonly revisions?: readonly Revision[] | undefined;
  /**
   * Whether a modern server is asked, when connecting, what it can do. Without that nothing is known of it and nothing checked
   * before sending; it saves a round trip and needs `era: 'modern'` or a modern `protocolVersion`.
   *
   * @default true
   */
  readonly discovers?: boolean | undefined;
  /** How long a channel's server may be silent on the first question before it is taken for a legacy one, in milliseconds. @default 3_000 */
  readonly probeTimeoutMs?: number | undefined;
  /** Remembers which era each server speaks. @default a memory shared by all clients of the process */
  readonly eraMemory?: EraMemory | undefined;
  /** What the server is called in `eraMemory` and `resultCache`, where no other may be called that. @default the transport's `eraKey`, where it has one */
  readonly eraKey?: string | undefined;
  /**
   * How long the first message (`initialize`, or `server/discover` where no legacy revision may be spoken) waits for its answer, in
   * milliseconds.
   *
   * @default 30_000, or `requestTimeoutMs` where that is less
   */
  readonly initializeTimeoutMs?: number | undefined;
  /** How long a request waits for its answer, in milliseconds. @default 60_000 */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * How long a request waits however much progress is told, in milliseconds; one with a longer `timeoutMs` of its own waits for that. Also the longest
   * that one question of a legacy server's lets the time of requests stand still while nobody here answers it; the time of one request stands still for
   * ten times that (600,000 if that is longer) in all, however many questions there are.
   *
   * @default 600_000, or `requestTimeoutMs` if that is longer
   */
  readonly maxRequestTimeoutMs?: number | undefined;
  /**
   * How many bytes of the server's own requests (asks) in flight and of answers to them unread there may be, where the transport tells (stdio, WebSocket and HTTP of the legacy era do);
   * one beyond that is refused at once (-32603).
   *
   * @default 64 MiB
   */
  readonly maxInFlightBytes?: number | undefined;
  /**
   * Whether a connection that was lost is opened again, by a fresh transport of the factory: at once where a subscription is
   * open, else with the next request. Requests in flight are lost either way.
   *
   * @default true, which needs a factory
   */
  readonly restart?: boolean | undefined;
  /**
   * Asks a silent legacy server now and then whether it is still there, and takes the connection for lost where it is not. `{}` for its
   * defaults. The modern era has no `ping`: there it does nothing.
   *
   * @default never
   */
  readonly keepAlive?: KeepAliveOptions | undefined;
  /** Whether modern requests say who the client is. @default true */
  readonly sendsClientInfo?: boolean | undefined;
  /**
   * Log messages from this level on are wanted: each modern request says so, and a legacy server that has the capability `logging` is told once
   * the session is open. `setLoggingLevel` changes it.
   *
   * @deprecated since 2026-07-28, with the protocol's logging: servers write to stderr, or use OpenTelemetry.
   * @default none: no log messages are asked for
   */
  readonly logLevel?: LoggingLevel | undefined;
  /** How often one request may be asked back for input before it fails. @default 10 */
  readonly maxInputRounds?: number | undefined;
  /** How many pages a list may have. @default 1_000 */
  readonly maxPages?: number | undefined;
  /**
   * Where results are kept that a modern server lets be used again (`ttlMs`); `false` to keep none. One that several clients share is made by
   * `createResultCache` of `@mortise/client/cache`. Changes that the server tells of end what they touch, so open a subscription.
   *
   * @default a cache of the client's own, of 1,000 results
   */
  readonly resultCache?: ResultCache | false | undefined;
  /**
   * Whose the results are that a server calls private, where clients share `resultCache`: the same string for the same authorization.
   *
   * @default this client's alone
   */
  readonly cachePartition?: string | undefined;
  /** Opens a span around each request and each answer, and tells the server its context in `_meta`. @default none */
  readonly tracer?: Tracer | undefined;
  /** Checks tools' structured output; `false` for no check. @default the one of `@mortise/protocol/json-schema`, loaded when first needed */
  readonly validator?: JsonSchemaValidator | false | undefined;
  /** Protocol extensions. Each is declared to servers and otherwise changes nothing where the server lacks it. @default none */
  readonly extensions?: readonly ClientExtension[] | undefined;
  /**
   * Told what went wrong beside any request: garbage, a schema that cannot be checked, a subscription that broke. May be async.
   *
   * @default none
   */
  readonly onError?: ((error: Error) => unknown) | undefined;
  /** Runs the timers of requests, probes and reconnections, and tells how old kept results are. @default the platform's clock */
  readonly clock?: Clock | undefined;
  /** Told what goes wrong beside any request, as `onError` is. @default a logger that drops every line */
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
