/** A server that says exactly what a test tells it to, over an in-memory pair, and keeps what it was sent. */

import {
  ConnectionClosedError,
  createInMemoryPair,
  type JsonObject,
  type JsonRpcErrorObject,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type Transport,
} from '@mortise/jsonrpc-core';
import { isJsonRpcRequest } from '@mortise/jsonrpc-core/messages';
import { NEWEST, type Revision } from '@mortise/protocol';
import { META_SERVER_INFO } from '@mortise/protocol/wire';

/** What a script says to a request: a result, an error, nothing at all, or that it dies. */
export type Reply = { readonly result: JsonObject } | { readonly error: JsonRpcErrorObject } | 'silence' | 'die';
export type Script = Readonly<Record<string, (request: JsonRpcRequest, server: ScriptedServer) => Reply | Promise<Reply>>>;

export const info = { name: 'test-client', version: '1.0.0' };
export const serverInfo = { name: 'scripted', version: '2.0.0' };

/** Everything that a server can declare. */
export const allCapabilities: JsonObject = {
  logging: {},
  completions: {},
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  tools: { listChanged: true },
};

export class ScriptedServer {
  /** Every message of the client, on whichever of the transports. */
  readonly received: JsonRpcMessage[] = [];
  /** How many transports were asked for. */
  starts = 0;
  script: Script;
  #far: Transport | undefined;
  #waiting: { readonly matches: (message: JsonRpcMessage) => boolean; readonly resolve: (message: JsonRpcMessage) => void }[] = [];

  constructor(script: Script) {
    this.script = script;
  }

  /** A factory of transports to this server. */
  readonly factory = (): Transport => {
    this.starts += 1;
    // Copied here and not by the pair, which would refuse what a server must not send.
    const [near, far] = createInMemoryPair();
    far.onmessage = (message: JsonRpcMessage) => void this.#receive(far, copy(message));
    const start = near.start.bind(near);
    near.start = async () => {
      this.#far = far;
      await far.start();
      await start();
    };
    return near;
  };

  /** The requests received so far, by method. */
  requests(method: string): JsonRpcRequest[] {
    return this.received.filter((message): message is JsonRpcRequest => isJsonRpcRequest(message) && message.method === method);
  }

  /** The methods received so far, in order. */
  get methods(): string[] {
    return this.received.map((message) => ('method' in message ? message.method : 'response'));
  }

  /** Resolves with the first message that matches, already received or not. */
  next(matches: (message: JsonRpcMessage) => boolean): Promise<JsonRpcMessage> {
    const known = this.received.find(matches);
    if (known) return Promise.resolve(known);
    return new Promise((resolve) => this.#waiting.push({ matches, resolve }));
  }

  /** The first message of a method, a request in most cases. */
  async nextMethod(method: string): Promise<JsonRpcRequest> {
    return (await this.next((message) => 'method' in message && message.method === method)) as JsonRpcRequest;
  }

  async send(message: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    await this.#far?.send(copy(message) as JsonRpcMessage);
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    return this.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  async die(): Promise<void> {
    await this.#far?.close();
  }

  async #receive(far: Transport, message: JsonRpcMessage): Promise<void> {
    this.received.push(message);
    for (const waiting of [...this.#waiting]) {
      if (!waiting.matches(message)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      waiting.resolve(message);
    }
    if (!isJsonRpcRequest(message)) return;
    const answer = this.script[message.method];
    try {
      const reply: Reply = answer ? await answer(message, this) : { error: { code: -32601, message: 'Method not found' } };
      if (reply === 'silence') return;
      if (reply === 'die') await far.close();
      else await far.send(copy({ jsonrpc: '2.0', id: message.id, ...reply }));
    } catch (error) {
      // The client may have left while the script was at it.
      if (!(error instanceof ConnectionClosedError)) throw error;
    }
  }
}

function copy<T>(message: T): T {
  return JSON.parse(JSON.stringify(message)) as T;
}

/** A script of a modern server. */
export function modernScript(rest: Script = {}, discovery: JsonObject = {}): Script {
  return {
    'server/discover': () => ({
      result: {
        resultType: 'complete',
        supportedVersions: [NEWEST.version],
        capabilities: allCapabilities,
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [META_SERVER_INFO]: serverInfo },
        ...discovery,
      },
    }),
    ...rest,
  };
}

/** A script of a legacy server of one revision: it chooses that one whatever it is offered. */
export function legacyScript(version: string, rest: Script = {}, initialization: JsonObject = {}): Script {
  return {
    initialize: () => ({ result: { protocolVersion: version, capabilities: allCapabilities, serverInfo, ...initialization } }),
    ping: () => ({ result: {} }),
    'resources/subscribe': () => ({ result: {} }),
    'resources/unsubscribe': () => ({ result: {} }),
    'logging/setLevel': () => ({ result: {} }),
    ...rest,
  };
}

/** A script that opens with whatever the revision opens with. */
export function scriptOf(revision: Revision, rest: Script = {}, opening: JsonObject = {}): Script {
  return revision.requests.has('initialize') ? legacyScript(revision.version, rest, opening) : modernScript(rest, opening);
}

/** A reply with a result, complete in the revision's own way. */
export function complete(revision: Revision, result: JsonObject): Reply {
  return { result: revision.rules.resultType ? { resultType: 'complete', ...result } : result };
}
