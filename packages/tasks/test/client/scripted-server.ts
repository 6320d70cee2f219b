/** A server that says exactly what a test tells it to, and keeps what it was sent. */

import { createInMemoryPair, type JsonObject, type JsonRpcErrorObject, type Transport } from '@mortise/jsonrpc-core';

import type { RawMessage } from '../support/raw-peer.ts';
import type { Told } from '../support/told.ts';

export type Reply = JsonObject | { readonly error: JsonRpcErrorObject } | undefined;
export type Script = Readonly<Record<string, (params: Told, server: ScriptedServer) => Reply | Promise<Reply>>>;

export const MODERN = '2026-07-28';
export const CORE = '2025-11-25';
export const EXTENSION = 'io.modelcontextprotocol/tasks';
export const RELATED = 'io.modelcontextprotocol/related-task';

const serverInfo = { name: 'scripted', version: '1.0.0' };

/** What a modern server with tasks says when it is discovered. */
export const discovery: Reply = {
  resultType: 'complete',
  supportedVersions: [MODERN],
  capabilities: { tools: {}, resources: {}, extensions: { [EXTENSION]: {} } },
  ttlMs: 0,
  cacheScope: 'private',
};

/** What a legacy server with tasks says to `initialize`. */
export const initialized: Reply = {
  protocolVersion: CORE,
  capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  serverInfo,
};

export class ScriptedServer {
  readonly received: { readonly method: string; readonly params: Told }[] = [];
  readonly transport: Transport;
  readonly #far: Transport;
  readonly #script: Script;
  readonly #answers = new Map<unknown, (answer: RawMessage) => void>();
  #wake: (() => void)[] = [];
  /** The id of the last request. */
  lastId: string | number = 0;
  #nextId = 1000;

  constructor(script: Script) {
    this.#script = script;
    [this.transport, this.#far] = createInMemoryPair({ passBy: 'json' });
    this.#far.onmessage = (message) => void this.#receive(message as RawMessage);
    void this.#far.start();
  }

  /** What was sent by a method so far. */
  sent(method: string): readonly Told[] {
    return this.received.filter((message) => message.method === method).map(({ params }) => params);
  }

  /** Resolves once a method was sent so often. */
  async untilSent(method: string, times = 1): Promise<Told> {
    while (this.sent(method).length < times) await new Promise<void>((resolve) => this.#wake.push(resolve));
    return this.sent(method)[times - 1] as Told;
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return this.#far.send({ jsonrpc: '2.0', method, params });
  }

  /** Asks the client, as legacy servers do. @returns The whole answer. */
  ask(method: string, params: JsonObject): Promise<RawMessage> {
    const id = this.#nextId++;
    const answer = new Promise<RawMessage>((resolve) => this.#answers.set(id, resolve));
    void this.#far.send({ jsonrpc: '2.0', id, method, params });
    return answer;
  }

  async #receive(message: RawMessage): Promise<void> {
    const { id, method, params = {} as Told } = message;
    if (method === undefined) return this.#answers.get(id)?.(message);
    this.received.push({ method, params });
    for (const wake of this.#wake.splice(0)) wake();
    if (id === undefined || id === null) return;
    this.lastId = id;
    const reply = this.#script[method]
      ? await this.#script[method](params, this)
      : { error: { code: -32601, message: 'Method not found' } };
    if (reply === undefined) return;
    const isError = typeof reply['error'] === 'object' && !('resultType' in reply);
    await this.#far.send({ jsonrpc: '2.0', id, ...(isError ? (reply as { error: JsonRpcErrorObject }) : { result: reply as JsonObject }) });
  }
}

/** Lets what was sent arrive. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
}
