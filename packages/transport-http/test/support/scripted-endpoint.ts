/** An `McpEndpoint` whose tools do exactly what a test of the transport wants, in both eras. */

import { type JsonObject, type JsonRpcMessage, type JsonRpcRequest, type JsonRpcResponse, ProtocolError } from '@mortise/jsonrpc-core';
import { toWireError } from '@mortise/jsonrpc-core/messages';
import { findRevision, NEWEST_LEGACY, REVISIONS, supportedVersions } from '@mortise/protocol';
import { META_SUBSCRIPTION_ID, readRequestMeta, unsupportedVersionError } from '@mortise/protocol/wire';
import type { Call, LegacySession, McpEndpoint, ParamHeaders, SessionLink, SessionState } from '@mortise/protocol/contracts';

/** What a tool is given. */
export interface ToolRun {
  readonly args: JsonObject;
  readonly call: Call;
  readonly request: JsonRpcRequest;
  readonly link: SessionLink | undefined;
}

export type ScriptedTool = (run: ToolRun) => JsonObject | Promise<JsonObject>;

export class ScriptedEndpoint implements McpEndpoint {
  readonly tools: Map<string, ScriptedTool> = new Map();
  readonly paramsOf: Map<string, ParamHeaders> = new Map();
  /** Every message that reached the endpoint, in order. */
  readonly received: JsonRpcMessage[] = [];
  readonly sessions: ScriptedSession[] = [];
  /** Calls with their signals, for tests that cancel. */
  readonly calls: Call[] = [];

  constructor() {
    this.tools.set('echo', ({ args }) => text(JSON.stringify(args)));
  }

  async handle(request: JsonRpcRequest, call: Call): Promise<JsonRpcResponse> {
    this.received.push(request);
    this.calls.push(call);
    const meta = readRequestMeta(request.params);
    if (typeof meta === 'string') return failure(request, -32602, meta);
    if (findRevision(meta.protocolVersion)?.era !== 'modern') {
      return {
        jsonrpc: '2.0',
        id: request.id,
        error: toWireError(unsupportedVersionError(meta.protocolVersion, supportedVersions(REVISIONS))),
      };
    }
    if (request.method === 'subscriptions/listen') return this.#listen(request, call);
    return this.run(request, call, undefined);
  }

  openSession(link: SessionLink, saved?: SessionState): LegacySession {
    const session = new ScriptedSession(this, link, saved);
    this.sessions.push(session);
    return session;
  }

  paramHeaders(toolName: string): ParamHeaders | undefined {
    return this.paramsOf.get(toolName);
  }

  nameParam(method: string): string | undefined {
    return { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' }[method];
  }

  async run(request: JsonRpcRequest, call: Call, link: SessionLink | undefined): Promise<JsonRpcResponse> {
    const { method, params = {} } = request;
    if (method === 'ping' && link !== undefined) return { jsonrpc: '2.0', id: request.id, result: {} };
    if (method === 'tools/list') return { jsonrpc: '2.0', id: request.id, result: { tools: [], ...complete(link) } };
    if (method !== 'tools/call') return failure(request, -32601, 'Method not found');
    const tool = this.tools.get(String(params['name']));
    if (call.paramFault) return { jsonrpc: '2.0', id: request.id, error: toWireError(call.paramFault) };
    if (tool === undefined) return failure(request, -32602, 'Unknown tool');
    const args = (params['arguments'] ?? {}) as JsonObject;
    try {
      return { jsonrpc: '2.0', id: request.id, result: { ...(await tool({ args, call, request, link })), ...complete(link) } };
    } catch (error) {
      if (error instanceof ProtocolError) return { jsonrpc: '2.0', id: request.id, error: toWireError(error) };
      return failure(request, -32603, error instanceof Error ? error.message : 'failed');
    }
  }

  async #listen(request: JsonRpcRequest, call: Call): Promise<JsonRpcResponse> {
    const _meta = { [META_SUBSCRIPTION_ID]: request.id };
    await call.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { _meta, notifications: {} } });
    await aborted(call.signal);
    return { jsonrpc: '2.0', id: request.id, result: { resultType: 'complete', _meta } };
  }
}

export class ScriptedSession implements LegacySession {
  readonly link: SessionLink;
  readonly ready: Promise<void> = Promise.resolve();
  readonly #endpoint: ScriptedEndpoint;
  readonly #running: Map<unknown, (response: undefined) => void> = new Map();
  #state: SessionState;
  isClosed = false;

  constructor(endpoint: ScriptedEndpoint, link: SessionLink, saved: SessionState | undefined) {
    this.#endpoint = endpoint;
    this.link = link;
    this.#state = { layout: 1 };
    if (saved !== undefined) this.restore(saved);
  }

  get state(): SessionState {
    return this.#state;
  }

  async receive(message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined> {
    this.#endpoint.received.push(message);
    if (!('method' in message)) return undefined;
    if (message.method === 'notifications/initialized') this.#change({ isReady: true });
    if (message.method === 'notifications/cancelled') this.#running.get(message.params?.['requestId'])?.(undefined);
    if (!('id' in message)) return undefined;
    if (message.method === 'initialize') return this.#initialize(message);
    if (message.method === 'logging/setLevel') {
      this.#change({ level: message.params?.['level'] });
      return { jsonrpc: '2.0', id: message.id, result: {} };
    }
    if (this.#state['revision'] === undefined) return failure(message, -32602, 'Not initialized');
    this.#endpoint.calls.push(call);
    const cancelled = new Promise<undefined>((resolve) => this.#running.set(message.id, resolve));
    try {
      return await Promise.race([this.#endpoint.run(message, call, this.link), cancelled]);
    } finally {
      this.#running.delete(message.id);
    }
  }

  announceAll(): void {
    // It has nothing that changes.
  }

  restore(saved: SessionState): void {
    if (saved.layout !== 1) throw new Error('unknown layout');
    this.#state = saved;
  }

  close(): Promise<void> {
    this.isClosed = true;
    for (const cancel of this.#running.values()) cancel(undefined);
    return Promise.resolve();
  }

  #initialize(request: JsonRpcRequest): JsonRpcResponse {
    const offered = findRevision(request.params?.['protocolVersion']);
    if (request.params?.['protocolVersion'] === undefined) return failure(request, -32602, 'protocolVersion is missing');
    const revision = offered?.era === 'legacy' ? offered : NEWEST_LEGACY;
    this.#change({ revision: revision.version });
    return {
      jsonrpc: '2.0',
      id: request.id,
      result: { protocolVersion: revision.version, capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } },
    };
  }

  #change(changes: JsonObject): void {
    this.#state = { ...this.#state, ...changes };
    this.link.onStateChange?.();
  }
}

export function text(value: string): JsonObject {
  return { content: [{ type: 'text', text: value }] };
}

export function progress(
  token: string | number,
  value: number,
): { readonly jsonrpc: '2.0'; readonly method: string; readonly params: JsonObject } {
  return { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: value } };
}

/** Resolves when a signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function complete(link: SessionLink | undefined): JsonObject {
  return link === undefined ? { resultType: 'complete' } : {};
}

function failure(request: JsonRpcRequest, code: number, message: string): JsonRpcResponse {
  return { jsonrpc: '2.0', id: request.id, error: { code, message } };
}

/** A promise that the test settles. */
export interface Gate<T = void> {
  readonly promise: Promise<T>;
  open(value: T): void;
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (open = resolve));
  return { promise, open: (value) => open(value) };
}

/** Only what ends a wait for what never comes: a busy machine may need many seconds for what takes milliseconds alone. */
const UNTIL_MS = 60_000;

/** Waits for something that other parts of the process bring about, and fails loudly where they do not. */
export async function until(isSo: () => boolean, what = isSo.toString()): Promise<void> {
  const startedAt = performance.now();
  while (!isSo()) {
    if (performance.now() - startedAt > UNTIL_MS) throw new Error(`Never came to be: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
