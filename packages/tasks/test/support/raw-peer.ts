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

import type { Told } from './told.ts';

export const CORE = '2025-11-25';
export const MODERN = '2026-07-28';
export const EXTENSION = 'io.modelcontextprotocol/tasks';
export const RELATED = 'io.modelcontextprotocol/related-task';

export interface RawMessage {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId | null;
  readonly method?: string;
  readonly params: Told;
  readonly result: Told;
  readonly error?: JsonRpcErrorObject;
}

export interface PeerOptions {
  readonly version?: string;
  readonly principal?: string;
  readonly capabilities?: JsonObject;
  /** Answers requests of the server; a question that it gives undefined to stays open. */
  readonly onRequest?: (message: RawMessage) => JsonObject | { readonly error: JsonRpcErrorObject } | undefined;
}

interface Served {
  connect(transport: InMemoryTransport): Promise<ServerConnection>;
}

/** What a client of the extension declares. */
export const TAKES_TASKS: JsonObject = { elicitation: {}, sampling: {}, extensions: { [EXTENSION]: {} } };

export class RawPeer {
  readonly received: RawMessage[] = [];
  readonly #options: PeerOptions;
  readonly #transport: InMemoryTransport;
  #nextId = 1;
  #waiting: { readonly test: (message: RawMessage) => boolean; readonly resolve: (message: RawMessage) => void }[] = [];

  private constructor(transport: InMemoryTransport, options: PeerOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  static async open(server: Served, options: PeerOptions = {}): Promise<RawPeer> {
    const { version = CORE, principal } = options;
    const [near, far] = createInMemoryPair({ passBy: 'json', ...(principal ? { info: { principal } } : {}) });
    const peer = new RawPeer(near, options);
    near.onmessage = (message) => peer.#onMessage(message as RawMessage);
    await server.connect(far);
    await near.start();
    if (version === MODERN) return peer;
    const { capabilities = { elicitation: {}, sampling: {} } } = options;
    await peer.request('initialize', { protocolVersion: version, capabilities, clientInfo: { name: 'raw', version: '1' } });
    peer.#send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return peer;
  }

  /** Sends a request as the peer's revision wants it, and gives the whole answer. */
  request(method: string, params: JsonObject = {}, id: RequestId = this.#nextId++): Promise<RawMessage> {
    const answer = this.next((message) => message.method === undefined && message.id === id);
    this.#send({ jsonrpc: '2.0', id, method, params: this.#withMeta(params) });
    return answer;
  }

  /** Sends a request and gives its result; an error fails the test. */
  async call(method: string, params: JsonObject = {}): Promise<Told> {
    const { result, error } = await this.request(method, params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result;
  }

  /** The code of the error that a request is answered with. */
  async refusal(method: string, params: JsonObject = {}): Promise<number | undefined> {
    return (await this.request(method, params)).error?.code;
  }

  /** Calls a tool as a task of the peer's generation, and gives the task as it was told. */
  async start(name: string, args: JsonObject = {}, task: JsonObject = {}): Promise<Told> {
    const isModern = this.#options.version === MODERN;
    const result = await this.call('tools/call', { name, arguments: args, ...(isModern ? {} : { task }) });
    return isModern ? result : result.task;
  }

  /** Asks for a task until `test` accepts it. */
  async until(taskId: string, test: (task: Told) => boolean): Promise<Told> {
    for (;;) {
      const task = await this.call('tasks/get', { taskId });
      if (test(task)) return task;
      await turn();
    }
  }

  notify(method: string, params: JsonObject): void {
    this.#send({ jsonrpc: '2.0', method, params });
  }

  next(test: (message: RawMessage) => boolean): Promise<RawMessage> {
    return new Promise((resolve) => this.#waiting.push({ test, resolve }));
  }

  /** The first message of a method, that came or comes. */
  async nextOf(method: string, test: (params: Told) => boolean = () => true): Promise<RawMessage> {
    const isIt = (message: RawMessage): boolean => message.method === method && test(message.params);
    return this.received.find(isIt) ?? this.next(isIt);
  }

  of(method: string): RawMessage[] {
    return this.received.filter((message) => message.method === method);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #withMeta(params: JsonObject): JsonObject {
    const { version, capabilities = TAKES_TASKS } = this.#options;
    if (version !== MODERN) return params;
    const meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      ...(params['_meta'] as JsonObject | undefined),
    };
    return { ...params, _meta: meta };
  }

  #send(message: unknown): void {
    void this.#transport.send(message as JsonRpcMessage).catch(() => undefined);
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
    const outcome = this.#options.onRequest?.(message);
    if (outcome === undefined) return;
    this.#send({ jsonrpc: '2.0', id: message.id, ...('error' in outcome ? { error: outcome.error } : { result: outcome }) });
  }
}

/** Lets everything that is ready happen. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
