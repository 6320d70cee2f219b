/** Requests on their way: what may be asked, middleware, the wire, and what becomes of the answer. */

import { type JsonObject, type JsonRpcNotification, type JsonRpcResponse, RemoteError, SessionLostError } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { REVISIONS } from '@mortise/protocol';
import { findRequest } from '@mortise/protocol/revisions';
import { hasCapability } from '@mortise/protocol/checks';
import type { CallOptions } from './call-options.ts';
import type { ClientOptions } from './client-options.ts';
import type { Connector } from './connector.ts';
import { MissingCapabilityError, UnknownResultTypeError, UnsupportedMethodError } from './errors.ts';
import type { Extensions } from './extension-host.ts';
import type { LinkRequestOptions } from './link.ts';
import type { ClientMiddleware } from './middleware.ts';
import { type MiddlewareEntry, runMiddleware } from './run-middleware.ts';
import type { CachedResults } from './result-cache.ts';
import type { Session, SessionSettings } from './session.ts';
import { toClientError } from './to-client-error.ts';

/** What requests need of their client. */
export interface RequestParts {
  readonly connector: Connector;
  readonly extensions: Extensions;
  readonly settings: SessionSettings;
  readonly options: ClientOptions;
}

/** One request as the program made it; the parameters grow by answers from round to round. */
interface Call {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: CallOptions | undefined;
  /** How often it was sent to be answered, this time included. */
  readonly round: number;
  /** Whether it was sent before to a session that was lost. */
  readonly isRepeated: boolean;
  /** How many changes were told when it was sent. */
  readonly changes: number;
  /** See `AuthContextual`. */
  readonly authContext: string | undefined;
}

export class Requests {
  readonly #parts: RequestParts;
  readonly #outer: MiddlewareEntry[] = [];
  readonly #inner: MiddlewareEntry[] = [];
  #middleware: readonly MiddlewareEntry[] = [];
  /** The methods that this session's server was found to answer. */
  readonly #allowed = new Set<string>();
  /** Loaded with the first result that may be kept. */
  #cache: CachedResults | undefined;
  #tracing: typeof import('./tracing.ts') | undefined;
  /** What was learnt before a change was told must not be kept after it. */
  #changes = 0;

  constructor(parts: RequestParts) {
    this.#parts = parts;
  }

  request(method: string, params: JsonObject, options: CallOptions | undefined): Promise<JsonObject> {
    const { connector } = this.#parts;
    if (connector.session) return this.#call(connector.session, method, params, options);
    return connector.whenOpen().then((opened) => this.#call(opened, method, params, options));
  }

  /** Sends a request that no middleware sees and nobody checks. */
  async sendUnchecked(method: string, params: JsonObject, options: CallOptions | undefined): Promise<JsonObject> {
    return this.#send(await this.#parts.connector.whenOpen(), this.#toCall(method, params, options));
  }

  async requestRaw(method: string, params: JsonObject | undefined, options: CallOptions | undefined): Promise<JsonRpcResponse> {
    const session = await this.#parts.connector.whenOpen();
    // The caller's own progress token must not be replaced.
    const own = { ...options, resetTimeoutOnProgress: options?.resetTimeoutOnProgress ?? false } as LinkRequestOptions;
    const send = (on: Session): Promise<JsonRpcResponse> => on.link.requestRaw(method, on.toRaw(params, options?.meta), own);
    return send(session).catch(async (error: unknown) => send(await this.#replaceIfLost(session, error, options)));
  }

  use(method: string | undefined, run: ClientMiddleware): void {
    this.#outer.push({ method, run });
    this.#middleware = [...this.#outer, ...this.#inner];
  }

  /** Adds middleware within all that the program adds. */
  useInner(entry: MiddlewareEntry): void {
    this.#inner.push(entry);
    this.#middleware = [...this.#outer, ...this.#inner];
  }

  onSession(): void {
    this.#allowed.clear();
  }

  /** Loads what has to be there before the first request. */
  async load(): Promise<void> {
    if (this.#parts.options.resultCache) await this.#loadCache();
  }

  /** Whether any result may have been one that was kept. */
  get keepsResults(): boolean {
    return this.#cache !== undefined;
  }

  /** Something changed at the server. */
  onChange(notification: JsonRpcNotification): void {
    this.#changes += 1;
    this.#cache?.onChange(notification);
  }

  /** Whatever was kept of this server may be out of date. */
  forgetResults(): void {
    this.#changes += 1;
    this.#cache?.clear();
  }

  // ---- on the way out

  #call(session: Session, method: string, params: JsonObject, options: CallOptions | undefined): Promise<JsonObject> {
    if (!this.#allowed.has(method)) {
      const refusal = findRefusal(session, method);
      if (refusal) return Promise.reject(refusal);
      this.#allowed.add(method);
    }
    if (this.#parts.options.tracer) return this.#callTraced(session, method, params, options);
    return this.#callWithin(session, method, params, options);
  }

  async #callTraced(session: Session, method: string, params: JsonObject, options: CallOptions = {}): Promise<JsonObject> {
    const { tracer } = this.#parts.options;
    this.#tracing ??= await import('./tracing.ts');
    const call = { method, target: toTarget(params), protocolVersion: session.revision.version };
    if (!tracer) return this.#callWithin(session, method, params, options);
    return this.#tracing.traceCall(tracer, call, (context) =>
      this.#callWithin(session, method, params, { ...options, meta: { ...context, ...options.meta } }),
    );
  }

  #callWithin(session: Session, method: string, params: JsonObject, options: CallOptions | undefined): Promise<JsonObject> {
    if (this.#middleware.length === 0) return this.#sendUnlessKept(session, method, params, options);
    const { revision, server } = session;
    const state = new Map<unknown, unknown>();
    const describe = (current: JsonObject) => ({
      method,
      params: current,
      target: toTarget(current),
      revision,
      era: revision.era,
      server,
      signal: options?.signal,
      onProgress: options?.onProgress,
      state,
    });
    return runMiddleware(this.#middleware, describe, params, (current) => this.#sendUnlessKept(session, method, current, options));
  }

  #sendUnlessKept(session: Session, method: string, params: JsonObject, options: CallOptions | undefined): Promise<JsonObject> {
    const kept = this.#cache?.find(method, params, options);
    if (kept) return Promise.resolve(kept);
    return this.#send(session, this.#toCall(method, params, options));
  }

  #toCall(method: string, params: JsonObject, options: CallOptions | undefined): Call {
    return { method, params, options, round: 1, isRepeated: false, changes: this.#changes, authContext: this.#parts.connector.authContext };
  }

  #send(session: Session, call: Call): Promise<JsonObject> {
    const { method, params, options } = call;
    let wire: JsonObject | undefined;
    try {
      wire = session.toWire(method, params, options?.meta);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    const named = this.#parts.extensions.headersOf(method, params);
    const sent = named === undefined ? options : { ...options, headers: { ...named, ...options?.headers } };
    return session.link.request(method, wire, sent as LinkRequestOptions | undefined).then(
      (result) => this.#read(session, call, result),
      (error: unknown) => this.#recover(session, call, error),
    );
  }

  // ---- on the way back

  #read(session: Session, call: Call, result: JsonObject): JsonObject | Promise<JsonObject> {
    const { revision } = session;
    const { resultType } = result;
    if (resultType !== undefined && resultType !== 'complete' && revision.rules.resultType) return this.#readOther(session, call, result);
    const convert = revision.fromWire.results.get(call.method);
    const canonical = convert ? convert(result) : result;
    const { ttlMs } = canonical;
    if (ttlMs === undefined || (this.#cache === undefined && !(typeof ttlMs === 'number' && ttlMs > 0))) return canonical;
    return this.#keep(session, call, canonical);
  }

  #readOther(session: Session, call: Call, result: JsonObject): Promise<JsonObject> {
    const { settings, options, extensions } = this.#parts;
    const { method, params, round } = call;
    const resultType = String(result['resultType']);
    const signal = call.options?.signal;
    if (resultType === 'input_required' && findRequest(session.revision, method, 'client')?.inputRequired) {
      const maxRounds = options.maxInputRounds ?? 10;
      return import('./input-required.ts')
        .then(({ answerInputRequired }) =>
          answerInputRequired(params, result, {
            method,
            answers: settings.answers,
            signal,
            round,
            maxRounds,
            tracer: options.tracer,
            protocolVersion: session.revision.version,
          }),
        )
        .then((retry) => this.#send(session, { ...call, params: retry, round: round + 1 }));
    }
    const read = extensions.readerOf(resultType, session.server.capabilities);
    if (read) return read(result, { method, params, ...(signal && { signal }) });
    const text = `the server answered "${method}" with a result of the type ${JSON.stringify(result['resultType'])}, which nobody here understands`;
    throw new UnknownResultTypeError(text, resultType, result);
  }

  /** Sends the request again where that mends what went wrong. */
  #recover(session: Session, call: Call, error: unknown): Promise<JsonObject> | never {
    const { connector, settings, options } = this.#parts;
    const { method, params, round, isRepeated } = call;
    if (session.renegotiate(error)) return this.#send(session, call);
    if (error instanceof SessionLostError && !isRepeated && connector.canRestart) {
      return this.#replaceIfLost(session, error, call.options).then((other) => this.#send(other, { ...call, isRepeated: true }));
    }
    if (error instanceof RemoteError) {
      if (error.rpcCode === session.revision.errorCodes.get('URL_ELICITATION_REQUIRED')) {
        const { signal } = call.options ?? {};
        const parts = { method, answers: settings.answers, clock: settings.clock, signal, round, maxRounds: options.maxInputRounds ?? 10 };
        return import('./answers/show-required-pages.ts')
          .then(({ showRequiredPages }) => showRequiredPages(error, parts))
          .then(() => this.#send(session, { ...call, round: round + 1 }));
      }
      if (params['cursor'] !== undefined) this.#cache?.onCursorRejected(method);
    }
    throw toClientError(error, { method, params, era: session.revision.era, isReopened: connector.canRestart });
  }

  /** What a lost session did not carry out may be sent again in the one that takes its place. @throws Any other error. */
  #replaceIfLost(session: Session, error: unknown, options: CallOptions | undefined): Promise<Session> {
    const { connector } = this.#parts;
    if (!(error instanceof SessionLostError) || !connector.canRestart) return Promise.reject(error as Error);
    return abortable(connector.replace(session), options?.signal);
  }

  // ---- results that may be used again

  /** Gives the result back, which waits for the cache to be loaded if it is the first to be kept. */
  #keep(session: Session, call: Call, result: JsonObject): JsonObject | Promise<JsonObject> {
    const { options, settings } = this.#parts;
    const isCacheable = options.resultCache !== false && findRequest(session.revision, call.method, 'client')?.cacheable === true;
    if (!isCacheable || call.round > 1 || !this.#isAsItWas(call)) return result;
    if (this.#cache) {
      this.#cache.keep(call, result);
      return result;
    }
    const receivedAtMs = settings.clock.monotonicMs();
    return this.#loadCache().then(
      (cache) => {
        if (this.#isAsItWas(call)) cache.keep(call, result, receivedAtMs);
        return result;
      },
      (error: unknown) => {
        settings.onError(error as Error);
        return result;
      },
    );
  }

  /** Nothing changed at the server since the request was sent, nor on whose behalf this client speaks. */
  #isAsItWas({ changes, authContext }: Call): boolean {
    return changes === this.#changes && authContext === this.#parts.connector.authContext;
  }

  async #loadCache(): Promise<CachedResults> {
    const { options, settings, connector } = this.#parts;
    const { CachedResults } = await import('./result-cache.ts');
    return (this.#cache ??= new CachedResults({
      cache: options.resultCache || undefined,
      clock: settings.clock,
      server: options.eraKey ?? connector.serverKey,
      partition: options.cachePartition,
      authContext: () => connector.authContext,
    }));
  }
}

/** Why a request cannot be sent to this server; undefined where it can. Methods that MCP does not know are an extension's. */
function findRefusal({ revision, server, isDiscovered }: Session, method: string): Error | undefined {
  const facts = findRequest(revision, method, 'client');
  if (!facts) {
    const isForeign = REVISIONS.some(({ requests }) => requests.has(method));
    return isForeign ? new UnsupportedMethodError(`clients do not send "${method}" in ${revision.version}`, method) : undefined;
  }
  const needed = facts.serverCapability;
  if (needed === undefined || !isDiscovered || hasCapability(server.capabilities, needed)) return undefined;
  return lackingCapability(needed, method);
}

/** The server does not declare what a method needs. */
export function lackingCapability(capability: string, method: string): MissingCapabilityError {
  return new MissingCapabilityError(`"${method}" needs the capability "${capability}", which the server does not declare`, 'server', [
    capability,
  ]);
}

function toTarget({ name, uri }: JsonObject): string | undefined {
  if (typeof name === 'string') return name;
  return typeof uri === 'string' ? uri : undefined;
}
