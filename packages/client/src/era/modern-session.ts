/** The modern era, in which each request has the protocol version, client info and client capabilities in `_meta`. */

import { type JsonObject, type JsonRpcNotification, RemoteError, type RequestId, TimeoutError } from '@mortise/jsonrpc-core';
import type { ConnectionRules } from '@mortise/jsonrpc-core/connection';
import { copyObject, isJsonObject, type MutableJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import type { DiscoverResult, Implementation, LoggingLevel, MetaObject, SubscriptionFilter } from '@mortise/protocol/model';
import { chooseModern } from '@mortise/protocol/revisions';
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
  META_SERVER_INFO,
  readSupportedVersions,
} from '@mortise/protocol/wire';
import type { CallOptions } from '../client-options.ts';
import type { Link, LinkHost } from '../link.ts';
import type { ServerFacts } from '../middleware.ts';
import type { ListenHandle, ListenSink, Session, SessionSettings } from '../session.ts';

/** Makes the `_meta` members that every modern request must have. @see 2026-07-28 basic/index#meta */
export function makeMeta(revision: Revision, settings: SessionSettings): JsonObject {
  const meta: MutableJsonObject = {
    [META_PROTOCOL_VERSION]: revision.version,
    [META_CLIENT_CAPABILITIES]: settings.capabilitiesFor(revision),
    [META_CLIENT_INFO]: settings.info,
  };
  if (settings.logLevel !== undefined) meta[META_LOG_LEVEL] = settings.logLevel;
  return meta;
}

/** A session with a modern server, opened by `server/discover`, or without any message if `discovers` is false. */
export class ModernSession implements Session, LinkHost {
  readonly link: Link;
  revision: Revision;
  readonly server: ServerFacts;
  readonly instructions: string | undefined;
  readonly isDiscovered: boolean;
  /** In the modern era a client sends no responses, so requests from the server are dropped. */
  readonly rules: ConnectionRules = { isBatchingOn: false, isErrorIdOptional: true, isAnswering: false };
  readonly #settings: SessionSettings;
  /** The standard `_meta` members of requests. Made for the first request, and again when the version, capabilities or log level change. */
  #meta: JsonObject | undefined;
  /** Other versions to switch to if the server refuses the current one. Each is tried once, so that two sides that disagree do not loop. */
  #others: readonly Revision[];

  /** @param result The result of `server/discover`; undefined if the request was not sent. */
  constructor(link: Link, revision: Revision, others: readonly Revision[], result: DiscoverResult | undefined, settings: SessionSettings) {
    const info = result?._meta?.[META_SERVER_INFO];
    this.link = link;
    this.revision = revision;
    this.server = { info: isJsonObject(info) ? (info as Implementation) : undefined, capabilities: result?.capabilities ?? {} };
    this.instructions = result?.instructions;
    this.isDiscovered = result !== undefined;
    this.#others = others.filter((other) => other !== revision);
    this.#settings = settings;
    link.host = this;
  }

  toWire(method: string, params: JsonObject, meta?: MetaObject, progressToken?: RequestId): JsonObject {
    const wire = copyObject(this.revision.toWire.params.get(method)?.(params) ?? params);
    const own = wire['_meta'];
    const standard = (this.#meta ??= makeMeta(this.revision, this.#settings));
    // The caller's members replace the standard ones, except the version, which must match the parameters.
    const members: JsonObject =
      own === undefined && meta === undefined
        ? standard
        : { ...standard, ...(own as JsonObject | undefined), ...meta, [META_PROTOCOL_VERSION]: this.revision.version };
    if (progressToken === undefined) wire['_meta'] = members;
    else (wire['_meta'] = copyObject(members))['progressToken'] = progressToken;
    return wire;
  }

  toRaw(params: JsonObject = {}, meta?: MetaObject): JsonObject {
    const own = params['_meta'] as JsonObject | undefined;
    if (meta === undefined && own?.[META_PROTOCOL_VERSION] !== undefined) return params;
    const standard = (this.#meta ??= makeMeta(this.revision, this.#settings));
    return { ...params, _meta: { ...standard, ...own, ...meta } };
  }

  /** Checks that the server still responds, by `server/discover`, because the modern era has no `ping`. */
  async ping(options?: CallOptions): Promise<void> {
    const params = this.toWire('server/discover', {}, options?.meta);
    await this.link.requests.request('server/discover', params, { ...options, resetTimeoutOnProgress: false } as object);
  }

  setLoggingLevel(level: LoggingLevel): Promise<void> {
    this.#settings.logLevel = level;
    this.#meta = undefined;
    return Promise.resolve();
  }

  renegotiate(error: unknown): boolean {
    if (!(error instanceof RemoteError)) return false;
    const supported = readSupportedVersions({ code: error.rpcCode, ...(error.data !== undefined && { data: error.data }) });
    const next = supported && chooseModern(supported, this.#others);
    if (!next) return false;
    this.#others = this.#others.filter((other) => other !== next);
    this.revision = next;
    this.#meta = undefined;
    return true;
  }

  onDeclare(): void {
    this.#meta = undefined;
  }

  /** Does nothing: modern servers ask for the roots when they need them. */
  sendRootsChanged(): Promise<void> {
    return Promise.resolve();
  }

  onNotification(notification: JsonRpcNotification): void {
    this.#settings.onNotification(notification);
  }

  listen(filter: SubscriptionFilter, sink: ListenSink): ListenHandle {
    const method = 'subscriptions/listen';
    const { clock, requestTimeoutMs } = this.#settings;
    let isOver = false;
    const end = (error?: Error): void => {
      timer.cancel();
      if (!isOver) sink.onEnd(error);
      isOver = true;
    };
    const receive = (notification: JsonRpcNotification): void => {
      if (isOver) return;
      if (notification.method !== 'notifications/subscriptions/acknowledged') return sink.onEvent(notification);
      timer.cancel();
      const accepted = notification.params?.['notifications'];
      sink.onAccepted(isJsonObject(accepted) ? accepted : {}, notification);
    };
    const timer = clock.schedule(() => {
      stream.abort(null);
      end(new TimeoutError(`"${method}" was not acknowledged within ${requestTimeoutMs} ms: raise requestTimeoutMs`, requestTimeoutMs));
    }, requestTimeoutMs);
    // Aborted with `null`, because a reason would be sent to the server.
    const stream = new AbortController();
    const options = { timeoutMs: Infinity, maxTimeoutMs: Infinity, signal: stream.signal, onNotification: receive };
    this.link.requests.request(method, this.toWire(method, { notifications: filter }), options).then(
      () => end(),
      (error: Error | null) => end(error ?? undefined),
    );
    const close = (): void => {
      isOver = true;
      timer.cancel();
      stream.abort(null);
    };
    return { close };
  }
}
