/** A client that speaks raw JSON-RPC over an in-memory pair: what it sends and gets is what stands on the wire. */

import {
  createInMemoryPair,
  type InMemoryTransport,
  type JsonObject,
  type JsonRpcErrorObject,
  type JsonRpcMessage,
  type RequestId,
  type ServerConnection,
} from '@mortise/jsonrpc-core';
import type { MessageInfo } from '@mortise/jsonrpc-core/transport';

/** Something that can be connected to. */
export interface Served {
  connect(transport: InMemoryTransport): Promise<ServerConnection>;
}

export const MODERN = '2026-07-28';
export const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;
export const ALL = [...LEGACY, MODERN] as const;
export type Version = (typeof ALL)[number];

/** Any JSON, for looking into messages without a cast at each step. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Loose = any;

export interface RawMessage {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId | null;
  readonly method?: string;
  readonly params?: Loose;
  readonly result?: Loose;
  readonly error?: JsonRpcErrorObject & { readonly data?: Loose };
}

export interface PeerOptions {
  readonly capabilities?: JsonObject;
  readonly info?: MessageInfo;
  readonly logLevel?: string;
  readonly passBy?: 'json' | 'reference';
  readonly clientInfo?: JsonObject;
}

export class RawPeer {
  /** Everything that came, in order. */
  readonly received: RawMessage[] = [];
  readonly errors: Error[] = [];
  readonly version: Version;
  readonly options: PeerOptions;
  connection!: ServerConnection;
  isClosed = false;
  /** Answers requests of the server; without it they stay open. */
  onRequest: ((message: RawMessage) => JsonObject | { readonly error: JsonRpcErrorObject } | undefined) | undefined;
  #transport!: InMemoryTransport;
  #nextId = 1;
  readonly #given = new Set<RawMessage>();
  #waiting: { readonly test: (message: RawMessage) => boolean; readonly resolve: (message: RawMessage) => void }[] = [];

  private constructor(version: Version, options: PeerOptions) {
    this.version = version;
    this.options = options;
  }

  /** Connects without a word said. */
  static async attach(server: Served, version: Version, options: PeerOptions = {}): Promise<RawPeer> {
    const peer = new RawPeer(version, options);
    const [client, serverSide] = createInMemoryPair({ passBy: options.passBy ?? 'json', ...(options.info ? { info: options.info } : {}) });
    peer.#transport = client;
    client.onmessage = (message) => peer.#onMessage(message as RawMessage);
    client.onerror = (error) => peer.errors.push(error);
    client.onclose = () => {
      peer.isClosed = true;
    };
    peer.connection = await server.connect(serverSide);
    await client.start();
    return peer;
  }

  /** Connects, and in the legacy era opens the session. */
  static async open(server: Served, version: Version, options: PeerOptions = {}): Promise<RawPeer> {
    const peer = await RawPeer.attach(server, version, options);
    if (version !== MODERN) await peer.initialize();
    return peer;
  }

  get isModern(): boolean {
    return this.version === MODERN;
  }

  async initialize(version: string = this.version): Promise<RawMessage> {
    const answer = await this.rawRequest('initialize', {
      protocolVersion: version,
      capabilities: this.options.capabilities ?? {},
      clientInfo: this.options.clientInfo ?? { name: 'raw-peer', version: '1.0.0' },
    });
    if (!answer.error) this.notify('notifications/initialized');
    return answer;
  }

  /** Sends a request as the peer's revision wants it, and gives the whole answer. */
  request(method: string, params: JsonObject = {}, id?: RequestId): Promise<RawMessage> {
    return this.rawRequest(method, this.params(params), id);
  }

  /** Sends a request and gives its result; an error fails the test. */
  async call(method: string, params: JsonObject = {}): Promise<Loose> {
    const { result, error } = await this.request(method, params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result;
  }

  async callTool(name: string, args?: JsonObject): Promise<Loose> {
    return this.call('tools/call', { name, ...(args ? { arguments: args } : {}) });
  }

  /** Params with what the revision wants in `_meta`. */
  params(params: JsonObject = {}): JsonObject {
    if (!this.isModern) return params;
    const { capabilities = {}, logLevel, clientInfo } = this.options;
    return {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientCapabilities': capabilities,
        'io.modelcontextprotocol/clientInfo': clientInfo ?? { name: 'raw-peer', version: '1.0.0' },
        ...(logLevel ? { 'io.modelcontextprotocol/logLevel': logLevel } : {}),
        ...(params['_meta'] as JsonObject | undefined),
      },
    };
  }

  rawRequest(method: string, params?: JsonObject, id: RequestId = this.#nextId++): Promise<RawMessage> {
    const answer = this.next((message) => message.method === undefined && message.id === id);
    this.send({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
    return answer;
  }

  notify(method: string, params?: JsonObject): void {
    this.send({ jsonrpc: '2.0', method, ...(params ? { params } : {}) });
  }

  /** Sends anything at all. */
  send(message: unknown): void {
    void this.#transport.send(message as JsonRpcMessage).catch(() => undefined);
  }

  /** The next message that a test accepts. */
  next(test: (message: RawMessage) => boolean): Promise<RawMessage> {
    return new Promise((resolve) => this.#waiting.push({ test, resolve }));
  }

  /** The first notification of a method that this has not given yet: one that came already, or the next. */
  async nextNotification(method: string): Promise<RawMessage> {
    const isNew = (message: RawMessage): boolean => message.method === method && message.id === undefined && !this.#given.has(message);
    const message = this.received.find(isNew) ?? (await this.next(isNew));
    this.#given.add(message);
    return message;
  }

  notifications(method?: string): RawMessage[] {
    return this.received.filter(
      (message) => message.id === undefined && message.method !== undefined && (method === undefined || message.method === method),
    );
  }

  requests(): RawMessage[] {
    return this.received.filter((message) => message.id !== undefined && message.method !== undefined);
  }

  answersTo(id: RequestId): RawMessage[] {
    return this.received.filter((message) => message.id === id && message.method === undefined);
  }

  /** Resolves when everything sent before has been served and answered. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  #onMessage(message: RawMessage): void {
    this.received.push(message);
    if (message.method !== undefined && message.id !== undefined && message.id !== null) this.#answer(message);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) {
      if (each.test(message)) each.resolve(message);
      else this.#waiting.push(each);
    }
  }

  #answer(message: RawMessage): void {
    const outcome = message.method === 'ping' && !this.onRequest ? {} : this.onRequest?.(message);
    if (outcome === undefined) return;
    const body = 'error' in outcome ? { error: outcome.error } : { result: outcome };
    this.send({ jsonrpc: '2.0', id: message.id, ...body });
  }
}
