/** The wire of a v1 `Client`: our `McpClient`, which speaks to servers of every revision. */

import { type JsonObject, isMortiseError, ProtocolError, type Transport as OurTransport } from '@mortise/jsonrpc-core';
import { type EraMemory, McpClient, type ClientTransportSource } from '@mortise/client';
import { isExchangeTransport } from '@mortise/jsonrpc-core/transport';
import { wrapTransport } from '@mortise/jsonrpc-core/wrap';
import { revisionsOf } from '@mortise/protocol';
import type { ClientExtensionHost } from '@mortise/protocol/contracts';
import { DEFAULT_REQUEST_TIMEOUT_MSEC, type RequestOptions } from '../shared/protocol.ts';
import type { Transport } from '../shared/transport.ts';
import { type AnyProtocol, toErrorObject, type Wire, type WireRequestOptions } from '../shared/wire.ts';
import * as v1 from '../types.ts';

/** The newest revision with sessions: the shapes that v1 programs know. */
const [NEWEST_LEGACY] = revisionsOf('legacy');

/**
 * Says of every server that it speaks the legacy era, so that the handshake that v1 knows comes first: a v1 program relies on the session
 * that it opens. A server without that era refuses it, and is then asked for its own.
 */
const HANDSHAKE_FIRST: EraMemory = {
  get: () => ({ era: 'legacy', protocolVersion: NEWEST_LEGACY?.version ?? '' }),
  set: () => undefined,
  delete: () => undefined,
};

/** A notification of a changed list, and how to subscribe to it in the modern era. */
const LIST_CHANGES: Readonly<Record<string, 'onToolsChanged' | 'onPromptsChanged' | 'onResourcesChanged'>> = {
  'notifications/tools/list_changed': 'onToolsChanged',
  'notifications/prompts/list_changed': 'onPromptsChanged',
  'notifications/resources/list_changed': 'onResourcesChanged',
};
/** Our client drops this for pages that it did not open. v1 passes each one on. */
const PAGE_DONE = 'notifications/elicitation/complete';

/** What the client says of itself, and how it connects. */
interface Declared {
  readonly info: v1.Implementation;
  readonly capabilities: v1.ClientCapabilities;
  readonly options: RequestOptions;
}

export class ClientWire implements Wire {
  readonly #core: McpClient;
  readonly #protocol: AnyProtocol;
  readonly #source: ClientTransportSource;
  readonly #signal: AbortSignal | undefined;
  readonly #subscribed = new Set<string>();
  #host: ClientExtensionHost | undefined;
  /** What the server answered to `initialize`, until the client is connected. */
  #handshake: v1.JSONRPCMessage | undefined;
  #lastId = 0;

  constructor(protocol: AnyProtocol, declared: Declared, transport: Transport, onClosed: () => void) {
    const { info, capabilities, options } = declared;
    this.#protocol = protocol;
    this.#signal = options.signal;
    this.#core = new McpClient(info as ConstructorParameters<typeof McpClient>[0], {
      capabilities: capabilities as JsonObject,
      eraMemory: HANDSHAKE_FIRST,
      requestTimeoutMs: options.timeout ?? DEFAULT_REQUEST_TIMEOUT_MSEC,
      validator: false,
      asksPerMinute: Infinity,
      restart: false,
      // Requests go out without our checks: v1 leaves it to the server to refuse what it does not declare.
      extensions: [{ id: 'mortise.compat/v1', settings: () => undefined, install: (host) => void (this.#host = host) }],
      onError: (error) => protocol._report(error),
    });
    this.#core.onAnyNotification((notification) => {
      if (notification.method !== PAGE_DONE) protocol._notice(notification as v1.Notification);
    });
    this.#source = this.#toSource(transport, onClosed);
  }

  get core(): McpClient {
    return this.#core;
  }

  get #isModern(): boolean {
    return this.#core.era === 'modern';
  }

  // ---- connecting

  async open(): Promise<void> {
    try {
      await this.#core.connect(this.#source, { signal: this.#signal });
    } catch (error) {
      throw this.#explain() ?? error;
    } finally {
      this.#handshake = undefined;
    }
    for (const method of Object.keys(LIST_CHANGES)) if (this.#protocol._hears(method)) this.listen(method);
  }

  #toSource(transport: Transport, onClosed: () => void): ClientTransportSource {
    void this.#core.closed.then(onClosed);
    const watched = wrapTransport(transport as unknown as OurTransport, {
      receive: (message, info, next) => {
        this.#see(message as v1.JSONRPCMessage);
        next(message, info);
      },
    });
    if (isExchangeTransport(transport)) return watched;
    // Our client asks its memory, and so learns that the handshake comes first, only for a transport that names its server.
    const named = { eraKey: 'https://compat-v1.invalid', renew: undefined };
    return new Proxy(watched, { get: (target, key) => Reflect.get(key in named ? named : target, key) as unknown });
  }

  /** Looks at a message before our client does. */
  #see(message: v1.JSONRPCMessage): void {
    if (!('method' in message)) {
      if (this.#host && !this.#core.isConnected) this.#handshake = message;
      return;
    }
    const { method } = message;
    if (method === PAGE_DONE) this.#protocol._notice(message);
    const isUnhandled = 'id' in message && method !== 'ping' && !this.#protocol._handles(method);
    if (isUnhandled && this.#protocol.fallbackRequestHandler) this.handle(method);
  }

  /** Returns the error that v1 throws for a refused handshake. */
  #explain(): Error | undefined {
    const answer = this.#handshake;
    if (!answer) return undefined;
    if ('error' in answer) return v1.McpError.fromError(answer.error.code, answer.error.message, answer.error.data);
    const version = 'result' in answer ? answer.result['protocolVersion'] : undefined;
    if (typeof version !== 'string' || v1.SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return undefined;
    return new Error(`Server's protocol version is not supported: ${version}`);
  }

  close(): Promise<void> {
    return this.#core.close();
  }

  // ---- out

  async request(method: string, params: JsonObject = {}, options: WireRequestOptions): Promise<JsonObject> {
    const { signal, timeoutMs, maxTimeoutMs, resetTimeoutOnProgress, onProgress } = options;
    if (this.#isModern) {
      const done = this.#withoutRequest(method, params, { signal, timeoutMs });
      if (done) return done;
    }
    const host = this.#host as ClientExtensionHost;
    const result = await host.request(method, params, {
      timeoutMs,
      maxTimeoutMs,
      resetTimeoutOnProgress,
      ...(signal && { signal }),
      ...(onProgress && { onProgress: onProgress as (progress: object) => void }),
    });
    return this.#isModern ? (NEWEST_LEGACY?.toWire.results.get(method)?.(result) ?? result) : result;
  }

  /** Does what a method of sessions did, where the era has no such method. */
  #withoutRequest(method: string, params: JsonObject, options: Parameters<McpClient['ping']>[0]): Promise<JsonObject> | undefined {
    const core = this.#core;
    const { uri, level } = params as { readonly uri?: string; readonly level?: Parameters<McpClient['setLoggingLevel']>[0] };
    let done: Promise<void> | undefined;
    if (method === 'ping') done = core.ping(options);
    else if (method === 'logging/setLevel' && level !== undefined) done = core.setLoggingLevel(level, options);
    else if (method === 'resources/subscribe' && uri !== undefined) done = core.subscribeResource(uri);
    else if (method === 'resources/unsubscribe' && uri !== undefined) done = core.unsubscribeResource(uri);
    return done?.then(() => ({}));
  }

  async notify(method: string, params: JsonObject | undefined): Promise<void> {
    if (method === 'notifications/roots/list_changed') return this.#core.sendRootsListChanged();
    await this.#core.notify(method, params);
  }

  // ---- in

  /** Lets our client pass requests of a method to the program's handler. */
  handle(method: string, isSet = true): void {
    if (method === 'ping' || !isSet) return;
    this.#core.setRequestHandler(method, (params, { signal }) => this.#answer(method, params, signal));
  }

  /** Subscribes to the changes of a list, where notifications come to subscribers only. */
  listen(method: string, isSet = true): void {
    const subscribe = isSet ? LIST_CHANGES[method] : undefined;
    if (!subscribe || this.#subscribed.has(method) || !this.#core.isConnected || !this.#isModern) return;
    this.#subscribed.add(method);
    // The notification itself comes with all others.
    this.#core[subscribe](() => undefined);
  }

  async #answer(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const id = ++this.#lastId;
    const request = { jsonrpc: '2.0', id, method, params } as v1.JSONRPCRequest;
    try {
      const inbound = { signal, sessionId: this.#protocol.transport?.sessionId, info: undefined };
      return (await this.#protocol._answer(request, inbound)) as JsonObject;
    } catch (error) {
      if (isMortiseError(error)) throw error;
      const { code, message, data } = toErrorObject(error);
      throw new ProtocolError(code, message, data as JsonObject | undefined, { cause: error });
    }
  }
}
