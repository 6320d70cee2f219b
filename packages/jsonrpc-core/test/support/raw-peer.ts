/** The other end of a connection under test: sends any value and keeps what it gets. */

import { onTestFinished } from 'vitest';
import {
  createInMemoryPair,
  type InMemoryOptions,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Transport,
} from '../../src/index.ts';
import type { ExchangeOptions, ExchangeTransport } from '../../src/transport.ts';
import { Connection, type ConnectionOptions, type ConnectionRules } from '../../src/connection.ts';

/** Lets everything that is ready run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export class RawPeer {
  readonly received: unknown[] = [];
  readonly transport: Transport;
  closes = 0;

  constructor(transport: Transport) {
    this.transport = transport;
    transport.onmessage = (message) => this.received.push(message);
    transport.onclose = () => this.closes++;
  }

  /** Sends any value, message or not, and lets it arrive and be worked on. */
  async send(...values: readonly unknown[]): Promise<void> {
    for (const value of values) await this.transport.send(value as JsonRpcMessage);
    await turn();
  }

  /** Takes what has arrived since the last time. */
  take(): unknown[] {
    return this.received.splice(0);
  }

  /** Takes the one request that has arrived. */
  takeRequest(): JsonRpcRequest {
    const [request] = this.take();
    return request as JsonRpcRequest;
  }
}

export interface Rig {
  readonly connection: Connection;
  readonly peer: RawPeer;
  /** What was reported to `onError`. */
  readonly errors: Error[];
}

/** Connects a connection to a raw peer. */
export async function connectToRawPeer(options: ConnectionOptions = {}, memory: InMemoryOptions = {}): Promise<Rig> {
  const [near, far] = createInMemoryPair(memory);
  const errors: Error[] = [];
  const connection = new Connection(near, { onError: (error) => errors.push(error), ...options });
  const peer = new RawPeer(far);
  await far.start();
  await connection.start();
  onTestFinished(() => connection.close());
  return { connection, peer, errors };
}

/** Connects two connections with each other. */
export async function connectPair(
  one: ConnectionOptions = {},
  other: ConnectionOptions = {},
  memory: InMemoryOptions = {},
): Promise<readonly [Connection, Connection]> {
  const [a, b] = createInMemoryPair(memory);
  const connections = [new Connection(a, one), new Connection(b, other)] as const;
  await Promise.all(connections.map((connection) => connection.start()));
  onTestFinished(() => connections[0].close());
  return connections;
}

/** The rules of a connection that takes batches. */
export const batching: ConnectionRules = { isBatchingOn: true, isErrorIdOptional: false, isAnswering: true };

/** A promise and its two ends. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function defer<T>(): Deferred<T> {
  let ends: Omit<Deferred<T>, 'promise'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    ends = { resolve, reject };
  });
  return Object.assign({ promise }, ends as Omit<Deferred<T>, 'promise'>);
}

export function request(id: unknown, method = 'work', params?: unknown): object {
  return params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params };
}

export function notification(method: string, params?: unknown): object {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

export function result(id: JsonRpcRequest['id'], value: JsonRpcResultValue = {}): JsonRpcResponse {
  return { jsonrpc: '2.0', id, result: value };
}

type JsonRpcResultValue = Extract<JsonRpcResponse, { readonly result: unknown }>['result'];

export function errorOf(id: unknown, code: number): object {
  return { jsonrpc: '2.0', id, error: { code, message: matchText } };
}

/** Equals any text, in the comparisons of vitest. */
export const matchText: { asymmetricMatch(value: unknown): boolean } = {
  asymmetricMatch: (value) => typeof value === 'string' && value !== '',
};

/** How a promise ends, learnt without leaving a rejection unheard meanwhile. */
export function outcomeOf<T>(promise: Promise<T>): Promise<{ readonly value?: T; readonly error?: unknown }> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/** An exchange without a wire: each is one call of a function. */
export function exchangeBy(
  handle: (asked: JsonRpcRequest, options: ExchangeOptions) => JsonRpcResponse | Promise<JsonRpcResponse>,
): ExchangeTransport {
  return {
    async exchange(asked, options = {}) {
      options.signal?.throwIfAborted();
      return handle(asked, options);
    },
  };
}
