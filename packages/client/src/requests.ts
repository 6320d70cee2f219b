/** Sends requests: capability check, middleware, cached results, the exchange with the server, and the check of the result. */

import {
  ConnectionClosedError,
  ConnectionLostError,
  InvalidResponseError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcResponse,
  RemoteError,
  type RequestId,
  SessionLostError,
} from '@mortise/jsonrpc-core';
import { abortable, type RequestOptions, withTimeout } from '@mortise/jsonrpc-core/connection';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { Tracer } from '@mortise/protocol/contracts';
import type { CallToolResult, ListToolsResult } from '@mortise/protocol/model';
import { findRequest } from '@mortise/protocol/revisions';
import { assertAnswers } from './capabilities.ts';
import { CALL_OPTIONS, type CallOptions, type ClientOptions } from './client-options.ts';
import type { Connector } from './connector.ts';
import type { Extensions } from './extensions.ts';
import { answerInputRequired, toPagesRequired } from './input-required.ts';
import { MiddlewareChain, toTarget } from './middleware.ts';
import { OutputChecks } from './output-checks.ts';
import type { ResultCache } from './result-cache.ts';
import { checkResult, toClientError } from './results.ts';
import type { Session, SessionSettings } from './session.ts';
import { traceCall } from './tracing.ts';

/** The parts of the client that `Requests` uses. */
export interface RequestParts {
  readonly connector: Connector;
  readonly extensions: Extensions;
  readonly settings: SessionSettings;
  readonly options: ClientOptions;
}

/** A request of the program. After an `input_required` result it is sent again, with the answers in its parameters. */
interface Call {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: CallOptions | undefined;
  /** Whether the result is checked. False for requests that an extension sends by itself. */
  readonly isChecked: boolean;
  /** The number of this attempt: 1 at first, one more after each `input_required` result. */
  readonly round: number;
  /** Whether the request was already sent in a session that the server has lost since. */
  readonly isRepeated: boolean;
  /** Stores the result in the cache; undefined if it must not be cached. */
  readonly keep?: ReturnType<ResultCache['keeper']> | undefined;
}

/** A session for a call, and the call's options with the time that is left after the wait for the session. */
export type OpenedInTime = readonly [session: Session, options: CallOptions | undefined];

export class Requests {
  readonly middleware: MiddlewareChain = new MiddlewareChain();
  readonly #parts: RequestParts;
  readonly #outputs: OutputChecks | undefined;
  /** The methods that passed the capability check in this session. */
  readonly #allowed = new Set<string>();

  constructor(parts: RequestParts) {
    this.#parts = parts;
    const { options, settings } = parts;
    const { validator } = options;
    if (validator !== false) this.#outputs = new OutputChecks({ validator, onError: settings.onError });
  }

  // ---- requests

  /** Sends a request and returns its result in the canonical model (the shapes of the newest revision). */
  request(method: string, params: JsonObject, options?: CallOptions): Promise<JsonObject> {
    try {
      checkRequest(method, options);
    } catch (error) {
      return Promise.reject(error as TypeError);
    }
    const call: Call = { method, params, options, isChecked: true, round: 1, isRepeated: false };
    const { session } = this.#parts.connector;
    const answered = session
      ? this.#start(session, call)
      : this.whenOpen(options).then(([opened, left]) => this.#start(opened, { ...call, options: left }));
    const outputs = this.#outputs;
    if (outputs && method === 'tools/call') return answered.then((result) => outputs.check(params['name'], result as CallToolResult));
    if (outputs && method === 'tools/list') return answered.then((result) => outputs.learn(result as ListToolsResult));
    return answered;
  }

  /**
   * Returns the open session. If the connection was lost, waits until it is open again, but not longer than the call's timeout.
   *
   * @returns The session, and the call's options with the time that is left.
   */
  async whenOpen(options: CallOptions | undefined): Promise<OpenedInTime> {
    const { connector } = this.#parts;
    return connector.session ? [connector.session, options] : this.#inTime(connector.whenOpen(), options);
  }

  async #inTime(opening: Promise<Session>, options: CallOptions = {}): Promise<OpenedInTime> {
    const { clock, requestTimeoutMs, maxRequestTimeoutMs } = this.#parts.settings;
    const timeoutMs = options.timeoutMs ?? requestTimeoutMs;
    const maxTimeoutMs = options.maxTimeoutMs ?? Math.max(timeoutMs, maxRequestTimeoutMs);
    const startMs = clock.monotonicMs();
    const limit = withTimeout(Math.min(timeoutMs, maxTimeoutMs), options.signal, clock);
    const session = await abortable(opening, limit.signal).finally(limit.dispose);
    const left = (limitMs: number): number => Math.max(0, limitMs - (clock.monotonicMs() - startMs));
    return [session, { ...options, timeoutMs: left(timeoutMs), maxTimeoutMs: left(maxTimeoutMs) }];
  }

  #start(session: Session, call: Call): Promise<JsonObject> {
    if (!this.#allowed.has(call.method)) {
      try {
        assertAnswers(session, call.method);
      } catch (error) {
        return Promise.reject(error as Error);
      }
      this.#allowed.add(call.method);
    }
    return this.middleware.isEmpty ? this.#fetch(session, call) : this.#runMiddleware(session, call);
  }

  #runMiddleware(session: Session, call: Call): Promise<JsonObject> {
    const { method, params, options } = call;
    const { revision, server } = session;
    const { signal, onProgress } = options ?? {};
    const state = new Map<unknown, unknown>();
    const seen = { method, params, target: toTarget(params), revision, era: revision.era, server, signal, onProgress, state };
    return this.middleware.run(seen, (changed) => this.#fetch(session, { ...call, params: changed }));
  }

  /** Returns a cached result, or sends the request. */
  #fetch(session: Session, call: Call): Promise<JsonObject> {
    const { connector, settings } = this.#parts;
    const { resultCache, tracer } = this.#parts.options;
    let sent = call;
    if (resultCache && session.revision.requests.get(call.method)?.cacheable === true) {
      const kept = resultCache.find(connector, call, settings.clock.monotonicMs());
      if (kept) return Promise.resolve(kept);
      sent = { ...call, keep: resultCache.keeper(connector, call) };
    }
    return tracer ? this.#trace(tracer, session, sent) : this.#send(session, sent);
  }

  #trace(tracer: Tracer, session: Session, call: Call): Promise<JsonObject> {
    const { method, params, options } = call;
    return traceCall(tracer, { method, target: toTarget(params), protocolVersion: session.revision.version }, (context) =>
      this.#send(session, { ...call, options: { ...options, meta: { ...context, ...options?.meta } } }),
    );
  }

  #send(session: Session, call: Call): Promise<JsonObject> {
    const { method, params, options } = call;
    const named = this.#parts.extensions.headersOf(method, params);
    const sent = named === undefined ? options : { ...options, headers: { ...named, ...options?.headers } };
    const toWire = (progressToken: RequestId | undefined): JsonObject | undefined =>
      session.toWire(method, params, options?.meta, progressToken);
    return session.link.requests.request(method, toWire, sent as RequestOptions | undefined).then(
      (result) => this.#read(session, call, result),
      (error: unknown) => this.#recover(session, call, error),
    );
  }

  // ---- results

  #read(session: Session, call: Call, result: JsonObject): JsonObject | Promise<JsonObject> {
    const { revision } = session;
    const { method } = call;
    const { resultType } = result;
    if (resultType !== undefined && resultType !== 'complete' && revision.rules.resultType) return this.#readOther(session, call, result);
    const convert = revision.fromWire.results.get(method);
    const canonical = convert ? convert(result) : result;
    if (!call.isChecked) return canonical;
    const { clock, onError } = this.#parts.settings;
    const checked = checkResult(method, canonical, onError);
    call.keep?.(checked, clock.monotonicMs());
    return checked;
  }

  /** Handles a result type other than `complete`: the server asks for input, or an extension defines the type. */
  #readOther(session: Session, call: Call, result: JsonObject): Promise<JsonObject> {
    const { method, params, options, round } = call;
    const { revision, server } = session;
    const { resultType } = result;
    const signal = options?.signal;
    if (resultType === 'input_required' && findRequest(revision, method, 'client')?.inputRequired) {
      const asked = { method, params, signal, closing: this.#parts.connector.closing, round, session };
      return answerInputRequired(asked, result, this.#parts.settings.answers).then((retry) =>
        this.#send(session, { ...call, params: retry, round: round + 1, keep: undefined }),
      );
    }
    const read = this.#parts.extensions.readerOf(String(resultType), server.capabilities);
    if (read) return read(result, { method, params, ...(signal && { signal }) });
    const shown = JSON.stringify(resultType);
    throw new InvalidResponseError(
      `the server responded to "${method}" with a result of the type ${shown}, which neither this client nor its extensions support`,
    );
  }

  /** Handles the error of a request: sends the request again if that may help, else throws the error or a more specific one. */
  #recover(session: Session, call: Call, error: unknown): Promise<JsonObject> | never {
    const { connector, settings } = this.#parts;
    const { method, params } = call;
    if (session.renegotiate(error)) return this.#send(session, call);
    if (error instanceof SessionLostError && !call.isRepeated && connector.canRestart) {
      return this.#replaceIfLost(session, error, call.options).then(([other, options]) =>
        this.#send(other, { ...call, options, isRepeated: true }),
      );
    }
    if (error instanceof RemoteError) {
      // The refused cursor came from a cached page, so all cached pages of the list are stale.
      if (params['cursor'] !== undefined) this.forgetResults((kept) => kept.method === method);
      const isPagesRequired = error.rpcCode === session.revision.errorCodes.get('URL_ELICITATION_REQUIRED');
      throw isPagesRequired ? toPagesRequired(error, method, settings.answers) : toClientError(session, method, params, error);
    }
    if (error instanceof ConnectionClosedError && connector.canRestart) {
      const message = wasRefused(error)
        ? `"${method}" was not carried out: ${error.message}`
        : `the connection broke before "${method}" was answered: whether it was carried out is not known`;
      throw new ConnectionLostError(message, { cause: error });
    }
    throw error;
  }

  /** Opens a new session to send a request again, if the error says that the server lost the old session. @throws Any other error. */
  #replaceIfLost(session: Session, error: unknown, options: CallOptions | undefined): Promise<OpenedInTime> {
    const { connector } = this.#parts;
    if (!(error instanceof SessionLostError) || !connector.canRestart) return Promise.reject(error as Error);
    return this.#inTime(connector.replace(session), options);
  }

  // ---- changes at the server

  onSession(): void {
    this.#allowed.clear();
  }

  /** Removes the cached results and output schemas that a change notification makes stale. */
  onChange(notification: JsonRpcNotification): void {
    this.#parts.options.resultCache?.onChange(this.#parts.connector, notification);
    if (notification.method === 'notifications/tools/list_changed') this.#outputs?.forget();
  }

  /** Removes the cached results of this server for which `isStale` returns true. */
  forgetResults(isStale: Parameters<ResultCache['forgetWhere']>[1]): void {
    this.#parts.options.resultCache?.forgetWhere(this.#parts.connector, isStale);
  }

  // ---- for extensions and gateways

  /** Sends a request without middleware and without any check. */
  async sendUnchecked(method: string, params: JsonObject, options: CallOptions | undefined): Promise<JsonObject> {
    const [session, left] = await this.whenOpen(options);
    return this.#send(session, { method, params, options: left, isChecked: false, round: 1, isRepeated: false });
  }

  async requestRaw(method: string, params: JsonObject | undefined, options: CallOptions = {}): Promise<JsonRpcResponse> {
    checkRequest(method, options);
    const send = ([on, left]: OpenedInTime): Promise<JsonRpcResponse> => {
      // Keeps the caller's own progress token.
      const sent = { resetTimeoutOnProgress: false, ...left } as RequestOptions;
      return on.link.requests.requestRaw(method, on.toRaw(params, options.meta), sent);
    };
    const opened = await this.whenOpen(options);
    const [session, left] = opened;
    return send(opened).catch(async (error: unknown) => send(await this.#replaceIfLost(session, error, left)));
  }
}

/** Whether the server's machine refused the connection, so that the server did not get the request. */
function wasRefused(error: unknown): boolean {
  for (let inner = error; inner instanceof Error; inner = inner.cause)
    if ((inner as { readonly code?: unknown }).code === 'ECONNREFUSED') return true;
  return false;
}

function checkRequest(method: string, options: CallOptions | undefined): void {
  if (typeof method !== 'string') throw new TypeError('request() needs a method name, such as "tools/list"');
  if (options) checkOptions(`the options of "${method}"`, options, CALL_OPTIONS);
}
