/** The legacy era: `initialize`, then a session in which either side may ask. */

import { type JsonObject, type JsonRpcNotification, type JsonRpcRequest, type JsonRpcResponse, ProtocolError } from '@mortise/jsonrpc-core';
import { isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { InboundCall, RequestOutcome } from '@mortise/jsonrpc-core/connection';
import { REVISIONS, type Revision } from '@mortise/protocol';
import type { ClientCapabilities, InitializeResult, LoggingLevel, MetaObject, SubscriptionFilter } from '@mortise/protocol/model';
import { findRequest } from '@mortise/protocol/revisions';
import { hasCapability } from '@mortise/protocol/checks';
import type { CallOptions } from '../call-options.ts';
import type { ChannelLink } from '../channel-link.ts';
import { InvalidResultError, MissingCapabilityError, UnsupportedVersionError } from '../errors.ts';
import type { LinkHost } from '../link.ts';
import type { ServerFacts } from '../middleware.ts';
import { type ListenHandle, type ListenSink, type Session, type SessionSettings, withMeta } from '../session.ts';
import { LegacyListens } from './legacy-listens.ts';

/** What to offer, and what to take instead. */
export interface HandshakeTerms {
  readonly offered: Revision;
  /** Newest first. */
  readonly acceptable: readonly Revision[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a session of the legacy era on a started channel.
 *
 * @throws {UnsupportedVersionError} The server chose a version that is not acceptable. The channel is then closed.
 * @see 2025-11-25 basic/lifecycle#initialization
 */
export async function handshake(link: ChannelLink, terms: HandshakeTerms, settings: SessionSettings): Promise<Session> {
  const { offered, acceptable, signal } = terms;
  const capabilities = settings.capabilitiesFor(offered);
  const params = { protocolVersion: offered.version, capabilities, clientInfo: settings.info };
  const answer = await link.request('initialize', convert(offered.toWire.params, 'initialize', params), {
    // The one request that must not be cancelled: whoever gives it up closes the channel.
    isCancellable: false,
    resetTimeoutOnProgress: false,
    timeoutMs: settings.initializeTimeoutMs,
    signal,
  });
  const { protocolVersion } = answer;
  const revision = acceptable.find((one) => Object.is(one.version, protocolVersion));
  if (!revision) {
    await link.close();
    const known = acceptable.map((one) => one.version);
    const theirs = typeof protocolVersion === 'string' ? [protocolVersion] : [];
    throw new UnsupportedVersionError(
      `the server wants to speak ${JSON.stringify(protocolVersion)}, this client speaks ${known.join(', ')}: update one of the two`,
      theirs,
      known,
    );
  }
  const result = convert(revision.fromWire.results, 'initialize', answer) as InitializeResult;
  if (!isJsonObject(result.capabilities)) throw new InvalidResultError('the result of "initialize" has no capabilities');
  const session = new LegacySession(link, revision, { result, declared: capabilities }, settings);
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
  readonly isBatchingOn: boolean;
  readonly isErrorIdOptional: boolean;
  readonly #settings: SessionSettings;
  readonly #listens: LegacyListens;
  /** What `initialize` told the server of the client, once and for all. */
  readonly #declared: ClientCapabilities;

  constructor(
    link: ChannelLink,
    revision: Revision,
    { result, declared }: { readonly result: InitializeResult; readonly declared: ClientCapabilities },
    settings: SessionSettings,
  ) {
    this.#declared = declared;
    this.link = link;
    this.revision = revision;
    this.server = { info: result.serverInfo, capabilities: result.capabilities };
    this.instructions = result.instructions;
    this.isBatchingOn = revision.rules.batching;
    this.isErrorIdOptional = revision.rules.errorIdOptional;
    this.#settings = settings;
    this.#listens = new LegacyListens(link, result.capabilities);
  }

  toWire(method: string, params: JsonObject, meta?: MetaObject): JsonObject | undefined {
    return withMeta(convert(this.revision.toWire.params, method, params), meta);
  }

  toRaw(params: JsonObject | undefined, meta?: MetaObject): JsonObject | undefined {
    return meta === undefined ? params : withMeta(params ?? {}, meta);
  }

  async ping(options?: CallOptions): Promise<void> {
    await this.link.request('ping', undefined, { ...options, resetTimeoutOnProgress: false } as object);
  }

  async setLoggingLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    await this.link.request('logging/setLevel', withMeta({ level }, options?.meta), options as object);
    this.#settings.logLevel = level;
  }

  /** What `initialize` agreed on holds. */
  renegotiate(): boolean {
    return false;
  }

  onCapabilitiesChanged(): void {
    const missing = namesOf(this.#settings.capabilitiesFor(this.revision)).filter((name) => !hasCapability(this.#declared, name));
    if (missing.length === 0) return;
    throw new MissingCapabilityError(
      `this session was opened without declaring ${missing.map((name) => `"${name}"`).join(', ')}, so its server will not ask: ` +
        'give the handler to connect(), or set it before',
      'client',
      missing,
    );
  }

  /** Nobody is told who was not told that there are roots. */
  async sendRootsChanged(): Promise<void> {
    if (hasCapability(this.#declared, 'roots')) await this.link.notify('notifications/roots/list_changed');
  }

  listen(filter: SubscriptionFilter, sink: ListenSink): ListenHandle {
    return this.#listens.open(filter, sink);
  }

  onNotification(notification: JsonRpcNotification): void {
    const { method, params } = notification;
    if (method === 'notifications/elicitation/complete') return this.#onPageCompleted(notification);
    const toCanonical = this.revision.fromWire.notifications.get(method);
    const canonical = toCanonical && params ? { ...notification, params: toCanonical(params) } : notification;
    this.#listens.deliver(canonical);
    this.#settings.onNotification(canonical);
  }

  /** Only the first word of a page that the user was asked to open counts. */
  #onPageCompleted(notification: JsonRpcNotification): void {
    void this.#settings.answers.answerer?.then(({ pages }) => {
      if (pages.complete(notification.params?.['elicitationId'])) this.#settings.onNotification(notification);
    });
  }

  onRequest(request: JsonRpcRequest, call: InboundCall): RequestOutcome {
    if (request.method === 'ping') return toResult(request, {});
    return this.#answer(request, call);
  }

  async #answer(request: JsonRpcRequest, call: InboundCall): Promise<JsonRpcResponse> {
    const { method, params = {} } = request;
    this.#assertAnswerable(method);
    const { answers, tracer } = this.#settings;
    const context = {
      method,
      get signal() {
        return call.signal;
      },
    };
    const asked = convert(this.revision.fromWire.params, method, params);
    const ask = (): Promise<JsonObject> => answers.answer(method, asked, context);
    // The server waits for the user here, and which of its calls it asks for nothing on this wire tells.
    const resumeTimeouts = this.link.pauseTimeouts(call.signal);
    try {
      const answer = await (tracer ? this.#traced(method, params, ask) : ask());
      return toResult(request, convert(this.revision.toWire.results, method, answer));
    } finally {
      resumeTimeouts();
    }
  }

  async #traced(method: string, params: JsonObject, ask: () => Promise<JsonObject>): Promise<JsonObject> {
    const { traceAnswer } = await import('../tracing.ts');
    const { tracer } = this.#settings;
    const parent = params['_meta'];
    if (!tracer) return ask();
    return traceAnswer(tracer, { method, protocolVersion: this.revision.version }, isJsonObject(parent) ? parent : undefined, ask);
  }

  /** A method of MCP is answered only where this revision lets servers ask it and the client said that it can. */
  #assertAnswerable(method: string): void {
    const facts = findRequest(this.revision, method, 'server');
    const isDeclared = facts?.clientCapability === undefined || hasCapability(this.#declared, facts.clientCapability);
    const isForeign = !facts && REVISIONS.some((revision) => revision.requests.has(method));
    if (isForeign || !isDeclared) throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found', { method });
  }
}

/** A capability and each of its parts, dotted. */
function namesOf(capabilities: ClientCapabilities): readonly string[] {
  return Object.entries(capabilities).flatMap(([name, settings]) => {
    if (name === 'experimental' || name === 'extensions') return [];
    return isJsonObject(settings) ? [name, ...Object.keys(settings).map((key) => `${name}.${key}`)] : [name];
  });
}

function convert(table: ReadonlyMap<string, (value: JsonObject) => JsonObject>, method: string, value: JsonObject): JsonObject {
  return table.get(method)?.(value) ?? value;
}

function toResult(request: JsonRpcRequest, result: JsonObject): JsonRpcResponse {
  return { jsonrpc: '2.0', id: request.id, result };
}
