/** The legacy era: `initialize`, then a session in which both sides may send requests. */

import {
  InvalidResponseError,
  isMortiseError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  ProtocolError,
  type RequestId,
} from '@mortise/jsonrpc-core';
import type { ConnectionRules, InboundCall, RequestOutcome } from '@mortise/jsonrpc-core/connection';
import {
  copyObject,
  INTERNAL_ERROR,
  isJsonObject,
  METHOD_NOT_FOUND,
  type MutableJsonObject,
  toErrorResponse,
} from '@mortise/jsonrpc-core/messages';
import { toError } from '@mortise/jsonrpc-core/transport';
import { REVISIONS, type Revision } from '@mortise/protocol';
import { hasCapability } from '@mortise/protocol/checks';
import type { ClientCapabilities, InitializeResult, LoggingLevel, MetaObject, SubscriptionFilter } from '@mortise/protocol/model';
import { clientCapabilitiesFor, findRequest } from '@mortise/protocol/revisions';
import { capabilityNames } from '../capabilities.ts';
import type { CallOptions } from '../client-options.ts';
import { MissingCapabilityError, UnsupportedVersionError } from '../errors.ts';
import type { ChannelLink, LinkHost } from '../link.ts';
import type { ServerFacts } from '../middleware.ts';
import type { ListenHandle, ListenSink, Session, SessionSettings } from '../session.ts';
import { LegacyListens } from './legacy-listens.ts';

/** How long the timeouts of requests pause at most while a user answers the server, unless `maxRequestTimeoutMs` is longer. */
const LEAST_ANSWER_TIME_MS = 600_000;

/** The version that the client offers in `initialize`, and the versions that it accepts from the server. */
export interface HandshakeTerms {
  readonly offered: Revision;
  /** The revisions that the server may choose, newest first. */
  readonly acceptable: readonly Revision[];
  /** The timeout of `initialize`, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a session of the legacy era on a started channel.
 *
 * @throws {UnsupportedVersionError} The server chose a version that is not acceptable. The channel is then closed.
 * @see 2025-11-25 basic/lifecycle#initialization
 */
export async function handshake(link: ChannelLink, terms: HandshakeTerms, settings: SessionSettings): Promise<Session> {
  const { offered, acceptable, timeoutMs, signal } = terms;
  const declared = settings.capabilitiesFor(offered);
  const params = { protocolVersion: offered.version, capabilities: declared, clientInfo: settings.info };
  const answer = await link.requests.request('initialize', convert(offered.toWire.params, 'initialize', params), {
    resetTimeoutOnProgress: false,
    timeoutMs,
    signal,
  });
  const { protocolVersion } = answer;
  const revision = acceptable.find(({ version }) => version === protocolVersion);
  if (!revision) {
    await link.close();
    const known = acceptable.map(({ version }) => version);
    const message = `the server chose version ${JSON.stringify(protocolVersion)}, this client supports ${known.join(', ')}: update one of the two`;
    throw new UnsupportedVersionError(message, typeof protocolVersion === 'string' ? [protocolVersion] : [], known);
  }
  const result = convert(revision.fromWire.results, 'initialize', answer) as InitializeResult;
  if (!isJsonObject(result.capabilities)) throw new InvalidResponseError('the "initialize" result of the server has no "capabilities"');
  const session = new LegacySession(link, revision, { result, declared }, settings);
  link.host = session;
  link.transport.setProtocolVersion?.(revision.version);
  await link.notify('notifications/initialized');
  if (settings.logLevel !== undefined && hasCapability(result.capabilities, 'logging')) await session.setLoggingLevel(settings.logLevel);
  return session;
}

class LegacySession implements Session, LinkHost {
  readonly link: ChannelLink;
  readonly revision: Revision;
  readonly server: ServerFacts;
  readonly instructions: string | undefined;
  readonly isDiscovered = true;
  readonly rules: ConnectionRules;
  readonly #settings: SessionSettings;
  readonly #listens: LegacyListens;
  /** The capabilities that the client declared in `initialize`. They hold for the whole session. */
  readonly #declared: ClientCapabilities;

  constructor(
    link: ChannelLink,
    revision: Revision,
    { result, declared }: { readonly result: InitializeResult; readonly declared: ClientCapabilities },
    settings: SessionSettings,
  ) {
    this.link = link;
    this.revision = revision;
    this.server = { info: result.serverInfo, capabilities: result.capabilities };
    this.instructions = result.instructions;
    this.rules = { isBatchingOn: revision.rules.batching, isErrorIdOptional: revision.rules.errorIdOptional, isAnswering: true };
    this.#settings = settings;
    this.#declared = declared;
    this.#listens = new LegacyListens(link, result.capabilities);
  }

  toWire(method: string, params: JsonObject, meta?: MetaObject, progressToken?: RequestId): JsonObject {
    const wire = convert(this.revision.toWire.params, method, params);
    return meta === undefined && progressToken === undefined ? wire : withMeta(wire, meta, progressToken);
  }

  toRaw(params: JsonObject | undefined, meta?: MetaObject): JsonObject | undefined {
    return meta === undefined ? params : withMeta(params ?? {}, meta);
  }

  async ping(options?: CallOptions): Promise<void> {
    await this.link.requests.request('ping', undefined, { ...options, resetTimeoutOnProgress: false } as object);
  }

  async setLoggingLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    await this.link.requests.request('logging/setLevel', this.toWire('logging/setLevel', { level }, options?.meta), options as object);
    this.#settings.logLevel = level;
  }

  /** Always false: in the legacy era, the version agreed by `initialize` holds for the whole session. */
  renegotiate(): boolean {
    return false;
  }

  onDeclare(added: ClientCapabilities): void {
    const names = capabilityNames(clientCapabilitiesFor(this.revision, added));
    const missing = names.filter((name) => !hasCapability(this.#declared, name));
    if (missing.length === 0) return;
    throw new MissingCapabilityError(
      `this session was opened without declaring ${missing.map((name) => `"${name}"`).join(', ')}, so the server cannot use it: ` +
        'set the handler before connect(), or pass it as an option of the client',
      'client',
      missing,
    );
  }

  /** Notifies the server that the roots have changed, if the client declared roots in `initialize`. */
  async sendRootsChanged(): Promise<void> {
    if (hasCapability(this.#declared, 'roots')) await this.link.notify('notifications/roots/list_changed');
  }

  listen(filter: SubscriptionFilter, sink: ListenSink): ListenHandle {
    return this.#listens.open(filter, sink);
  }

  onNotification(notification: JsonRpcNotification): void {
    const { method, params } = notification;
    // A repeated notification, or one for an unknown page, is dropped.
    const isPageDone = method === 'notifications/elicitation/complete';
    if (isPageDone && !this.#settings.answers.pages.complete(params?.['elicitationId'])) return;
    const toCanonical = this.revision.fromWire.notifications.get(method);
    const canonical = toCanonical && params ? { ...notification, params: toCanonical(params) } : notification;
    this.#listens.deliver(canonical);
    this.#settings.onNotification(canonical);
  }

  onRequest(request: JsonRpcRequest, call: InboundCall): RequestOutcome {
    if (request.method === 'ping') return { jsonrpc: '2.0', id: request.id, result: {} };
    return this.#answer(request, call.signal);
  }

  async #answer({ id, method, params = {} }: JsonRpcRequest, signal: AbortSignal): Promise<JsonRpcResponse> {
    const { revision } = this;
    if (!this.#mayAsk(method)) throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found', { method });
    const ask = { method, params: convert(revision.fromWire.params, method, params) };
    // The server's calls wait for the user. A request does not say which call it belongs to, so the timeouts of all calls pause.
    const resumeTimeouts = this.link.requests.pauseTimeouts();
    const { clock, maxRequestTimeoutMs } = this.#settings;
    const timer = clock.schedule(resumeTimeouts, Math.max(maxRequestTimeoutMs, LEAST_ANSWER_TIME_MS));
    signal.addEventListener('abort', resumeTimeouts, { once: true });
    try {
      const answer = await this.#settings.answers.answer(ask, signal, this);
      return { jsonrpc: '2.0', id, result: convert(revision.toWire.results, method, answer) };
    } catch (error) {
      if (signal.aborted || (isMortiseError(error) && error.code === 'ERR_PROTOCOL')) throw error;
      this.#settings.onAnswerFailed(method, toError(error));
      return toErrorResponse({ code: INTERNAL_ERROR, message: `The client could not answer "${method}": its handler failed` }, id);
    } finally {
      timer.cancel();
      resumeTimeouts();
    }
  }

  /** Whether the server may send this request: the revision has it and the client declared its capability. Extension methods pass. */
  #mayAsk(method: string): boolean {
    const facts = findRequest(this.revision, method, 'server');
    if (!facts) return !REVISIONS.some((revision) => revision.requests.has(method));
    return facts.clientCapability === undefined || hasCapability(this.#declared, facts.clientCapability);
  }
}

function convert(table: ReadonlyMap<string, (value: JsonObject) => JsonObject>, method: string, value: JsonObject): JsonObject {
  return table.get(method)?.(value) ?? value;
}

/** Adds the caller's `_meta` members and the progress token to those of the parameters. */
function withMeta(params: JsonObject, meta: MetaObject | undefined, progressToken?: RequestId): JsonObject {
  const own = params['_meta'] as JsonObject | undefined;
  // Spread is slow for members that are undefined.
  const members: MutableJsonObject = own === undefined && meta === undefined ? {} : { ...own, ...meta };
  if (progressToken !== undefined) members['progressToken'] = progressToken;
  const wire = copyObject(params);
  wire['_meta'] = members;
  return wire;
}
