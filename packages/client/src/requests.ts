/** The way of a call: what may be asked, middleware, kept results, the wire, and what becomes of the answer. */

import {
  ConnectionClosedError,
  ConnectionLostError,
  type JsonObject,
  type JsonRpcResponse,
  RemoteError,
  type RequestId,
  SessionLostError,
} from '@mortise/jsonrpc-core';
import { abortable, type RequestOptions } from '@mortise/jsonrpc-core/connection';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { REVISIONS } from '@mortise/protocol';
import { hasCapability } from '@mortise/protocol/checks';
import type { Tracer } from '@mortise/protocol/contracts';
import type { CallToolResult, ListToolsResult } from '@mortise/protocol/model';
import { findRequest } from '@mortise/protocol/revisions';
import { isResourceNotFound, readMissingCapabilities } from '@mortise/protocol/wire';
import { checkResult } from './check-result.ts';
import { CALL_OPTIONS, type CallOptions, type ClientOptions } from './client-options.ts';
import type { Connector } from './connector.ts';
import { InvalidResultError, MissingCapabilityError, ResourceNotFoundError } from './errors.ts';
import type { Extensions } from './extensions.ts';
import { type AskedRequest, answerInputRequired, showRequiredPages } from './input-required.ts';
import { MiddlewareChain, toTarget } from './middleware.ts';
import { OutputChecks } from './output-checks.ts';
import { CachedResults } from './result-cache.ts';
import type { Session, SessionSettings } from './session.ts';
import { traceCall } from './tracing.ts';

/** What requests take from their client. */
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
  /** Whether the result is checked and kept. What an extension sends by itself is not. */
  readonly isOwn: boolean;
  /** How often it was sent to be answered, this time included. */
  readonly round: number;
  /** Whether it was sent before to a session that was lost. */
  readonly isRepeated: boolean;
  /** Keeps the result; undefined where it may not be kept. */
  readonly keep?: ((result: JsonObject) => void) | undefined;
}

export class Requests {
  readonly middleware: MiddlewareChain = new MiddlewareChain();
  readonly #parts: RequestParts;
  readonly #cache: CachedResults | undefined;
  readonly #outputs: OutputChecks | undefined;
  /** The methods that this session's server was found to answer. */
  readonly #allowed = new Set<string>();

  constructor(parts: RequestParts) {
    this.#parts = parts;
    const { options, settings, connector } = parts;
    const { resultCache, validator } = options;
    if (validator !== false) this.#outputs = new OutputChecks({ validator, onError: settings.onError });
    if (resultCache !== false) this.#cache = new CachedResults(connector, settings.clock, options);
  }

  // ---- on the way out

  /** Sends a request and gives its result in the canonical model. */
  request(method: string, params: JsonObject, options?: CallOptions): Promise<JsonObject> {
    try {
      if (options) checkOptions(`the options of "${method}"`, options, CALL_OPTIONS);
    } catch (error) {
      return Promise.reject(error as TypeError);
    }
    const call: Call = { method, params, options, isOwn: true, round: 1, isRepeated: false };
    const { session } = this.#parts.connector;
    const answered = session ? this.#start(session, call) : this.whenOpen(options).then((opened) => this.#start(opened, call));
    const outputs = this.#outputs;
    if (outputs && method === 'tools/call') return answered.then((result) => outputs.check(params['name'], result as CallToolResult));
    if (outputs && method === 'tools/list') return answered.then((result) => outputs.learn(result as ListToolsResult));
    return answered;
  }

  /** Waits for the session, which is opened again if it was lost. */
  whenOpen(options: CallOptions | undefined): Promise<Session> {
    return abortable(this.#parts.connector.whenOpen(), options?.signal);
  }

  #start(session: Session, call: Call): Promise<JsonObject> {
    if (!this.#allowed.has(call.method)) {
      const refusal = findRefusal(session, call.method);
      if (refusal) return Promise.reject(refusal);
      this.#allowed.add(call.method);
    }
    const { tracer } = this.#parts.options;
    if (tracer) return this.#trace(tracer, session, call);
    return this.middleware.isEmpty ? this.#fetch(session, call) : this.#runMiddleware(session, call);
  }

  #trace(tracer: Tracer, session: Session, call: Call): Promise<JsonObject> {
    const { method, params, options } = call;
    return traceCall(tracer, { method, target: toTarget(params), protocolVersion: session.revision.version }, (context) =>
      this.#runMiddleware(session, { ...call, options: { ...options, meta: { ...context, ...options?.meta } } }),
    );
  }

  #runMiddleware(session: Session, call: Call): Promise<JsonObject> {
    const { method, params, options } = call;
    const { revision, server } = session;
    const { era } = revision;
    const state = new Map<unknown, unknown>();
    const { signal, onProgress } = options ?? {};
    const seen = { method, params, target: toTarget(params), revision, era, server, signal, onProgress, state };
    return this.middleware.run(seen, (changed) => this.#fetch(session, { ...call, params: changed }));
  }

  /** Finds a result that was kept, or sends the request. */
  #fetch(session: Session, call: Call): Promise<JsonObject> {
    const { method, params, options } = call;
    const cache = session.revision.requests.get(method)?.cacheable === true ? this.#cache : undefined;
    if (!cache) return this.#send(session, call);
    const kept = cache.find(method, params, options);
    if (kept) return Promise.resolve(kept);
    return this.#send(session, { ...call, keep: cache.keeper(method, params, options) });
  }

  #send(session: Session, call: Call): Promise<JsonObject> {
    const { method, params, options } = call;
    const named = this.#parts.extensions.headersOf(method, params);
    const sent = named === undefined ? options : { ...options, headers: { ...named, ...options?.headers } };
    const toWire = (progressToken: RequestId | undefined): JsonObject | undefined =>
      session.toWire(method, params, options?.meta, progressToken);
    return session.link.request(method, toWire, sent as RequestOptions | undefined).then(
      (result) => this.#read(session, call, result),
      (error: unknown) => this.#recover(session, call, error),
    );
  }

  // ---- on the way back

  #read(session: Session, call: Call, result: JsonObject): JsonObject | Promise<JsonObject> {
    const { revision } = session;
    const { method } = call;
    const { resultType } = result;
    if (resultType !== undefined && resultType !== 'complete' && revision.rules.resultType) return this.#readOther(session, call, result);
    const convert = revision.fromWire.results.get(method);
    const canonical = convert ? convert(result) : result;
    if (!call.isOwn) return canonical;
    const checked = checkResult(method, canonical, this.#parts.settings.onError);
    if (call.round === 1) call.keep?.(checked);
    return checked;
  }

  /** A result that is not complete: the server asks for input, or an extension knows its type. */
  #readOther(session: Session, call: Call, result: JsonObject): Promise<JsonObject> {
    const { method, params, options, round } = call;
    const resultType = String(result['resultType']);
    if (resultType === 'input_required' && findRequest(session.revision, method, 'client')?.inputRequired) {
      return answerInputRequired(params, result, this.#toAsked(session, call)).then((retry) =>
        this.#send(session, { ...call, params: retry, round: round + 1 }),
      );
    }
    const signal = options?.signal;
    const read = this.#parts.extensions.readerOf(resultType, session.server.capabilities);
    if (read) return read(result, { method, params, ...(signal && { signal }) });
    const shown = JSON.stringify(result['resultType']);
    const message = `the server answered "${method}" with a result of the type ${shown}, which neither this client nor an extension of it understands`;
    throw new InvalidResultError(message, { result });
  }

  #toAsked(session: Session, { method, options, round }: Call): AskedRequest {
    const { answers, clock } = this.#parts.settings;
    return { method, signal: options?.signal, round, answers, protocolVersion: session.revision.version, clock };
  }

  /** Sends the request again where that mends what went wrong. */
  #recover(session: Session, call: Call, error: unknown): Promise<JsonObject> | never {
    const { connector } = this.#parts;
    const { method, params, options, round } = call;
    if (session.renegotiate(error)) return this.#send(session, call);
    if (error instanceof SessionLostError && !call.isRepeated && connector.canRestart) {
      return this.#replaceIfLost(session, error, options).then((other) => this.#send(other, { ...call, isRepeated: true }));
    }
    if (error instanceof RemoteError) {
      if (error.rpcCode === session.revision.errorCodes.get('URL_ELICITATION_REQUIRED')) {
        return showRequiredPages(error, this.#toAsked(session, call)).then(() => this.#send(session, { ...call, round: round + 1 }));
      }
      if (params['cursor'] !== undefined) this.#cache?.onCursorRejected(method);
      throw toClientError(session, call, error);
    }
    if (error instanceof ConnectionClosedError && connector.canRestart) {
      const message = `the connection broke before "${method}" was answered: whether it was carried out is not known`;
      throw new ConnectionLostError(message, { cause: error });
    }
    throw error;
  }

  /** What a lost session did not carry out may be sent again in the one that takes its place. @throws Any other error. */
  #replaceIfLost(session: Session, error: unknown, options: CallOptions | undefined): Promise<Session> {
    const { connector } = this.#parts;
    if (!(error instanceof SessionLostError) || !connector.canRestart) return Promise.reject(error as Error);
    return abortable(connector.replace(session), options?.signal);
  }

  // ---- results that may be used again

  /** Whether a page of a list may be one that was kept. */
  get hasKeptResults(): boolean {
    return this.#cache?.isEmpty === false;
  }

  onSession(): void {
    this.#allowed.clear();
  }

  /** Something changed at the server. */
  onChange(notification: Parameters<CachedResults['onChange']>[0]): void {
    this.#cache?.onChange(notification);
    if (notification.method === 'notifications/tools/list_changed') this.#outputs?.forget();
  }

  /** Whatever was kept of this server may be out of date. */
  forgetResults(): void {
    this.#cache?.clear();
  }

  // ---- for extensions and gateways

  /** Sends a request that no middleware sees and nothing checks. */
  async sendUnchecked(method: string, params: JsonObject, options: CallOptions | undefined): Promise<JsonObject> {
    const call = { method, params, options, isOwn: false, round: 1, isRepeated: false };
    return this.#send(await this.whenOpen(options), call);
  }

  async requestRaw(method: string, params: JsonObject | undefined, options: CallOptions = {}): Promise<JsonRpcResponse> {
    checkOptions(`the options of "${method}"`, options, CALL_OPTIONS);
    const session = await this.whenOpen(options);
    // The caller's own progress token must not be replaced.
    const sent = { resetTimeoutOnProgress: false, ...options } as RequestOptions;
    const send = (on: Session): Promise<JsonRpcResponse> => on.link.requestRaw(method, on.toRaw(params, options.meta), sent);
    return send(session).catch(async (error: unknown) => send(await this.#replaceIfLost(session, error, options)));
  }
}

/** Why a request cannot be sent to this server; undefined where it can. Methods that MCP does not know are an extension's. */
function findRefusal({ revision, server, isDiscovered }: Session, method: string): Error | undefined {
  const facts = findRequest(revision, method, 'client');
  if (!facts) {
    const isForeign = REVISIONS.some(({ requests }) => requests.has(method));
    return isForeign ? new MissingCapabilityError(`clients do not send "${method}" in ${revision.version}`, 'server', [method]) : undefined;
  }
  const needed = facts.serverCapability;
  if (needed === undefined || !isDiscovered || hasCapability(server.capabilities, needed)) return undefined;
  return lackingCapability(needed, method);
}

/** The server does not declare what a method needs. */
export function lackingCapability(capability: string, method: string): MissingCapabilityError {
  const message = `"${method}" needs the capability "${capability}", which the server does not declare`;
  return new MissingCapabilityError(message, 'server', [capability]);
}

/** Gives errors of the server that a caller may want to act on a class of their own. */
function toClientError({ revision }: Session, { method, params }: Call, error: RemoteError): Error {
  const { uri } = params;
  if (method.startsWith('resources/') && typeof uri === 'string' && isResourceNotFound(error)) return new ResourceNotFoundError(uri, error);
  if (!revision.errorCodes.has('MISSING_CLIENT_CAPABILITY')) return error;
  const required = readMissingCapabilities({ code: error.rpcCode, ...(error.data !== undefined && { data: error.data }) });
  if (!required) return error;
  const missing = namesOf(required);
  const message = `the server needs what this client does not declare for "${method}": ${missing.join(', ')}. Give connect() a handler for it (elicitation, sampling, roots), or the extension`;
  return new MissingCapabilityError(message, 'client', missing, { cause: error });
}

/** Dotted names of capabilities, and the identifiers of extensions. */
function namesOf(capabilities: JsonObject): readonly string[] {
  return Object.entries(capabilities).flatMap(([name, settings]) => {
    const inner = isJsonObject(settings) ? Object.keys(settings) : [];
    if (name === 'extensions') return inner;
    return inner.length > 0 ? inner.map((key) => `${name}.${key}`) : [name];
  });
}
