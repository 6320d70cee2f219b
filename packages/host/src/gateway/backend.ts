/** One server behind the gateway as one caller (or, if it is pooled, all callers) uses it: its connection and its calls in flight. */

import type { ClientTransportSource, McpClient } from '@mortise/client';
import type { Clock, JsonObject, JsonValue, LogLevel } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import type { ClientCapabilities, Implementation, LoggingMessageNotificationParams } from '@mortise/protocol/model';
import { HostedServer, type HostedServerEvents } from '../hosted-server.ts';
import type { GatewayCaller, GatewayOptions, GatewayServer } from './gateway-options.ts';

/** A call of a server in progress: it reaches whoever made the call. */
export interface OpenCall {
  /** Aborts when the call is cancelled. */
  readonly signal: AbortSignal;
  ask(ask: Ask, signal: AbortSignal): Promise<JsonObject>;
  log(level: LogLevel, data: JsonValue, logger: string | undefined): void;
}

/** What a server behind reports to its caller, or asks it. */
export interface BackendOwner extends Pick<HostedServerEvents, 'onListChanged' | 'onError'> {
  /** Called when the server was lost, and when it is back: its items leave the lists, and come back. */
  onAllChanged(): void;
  onUpdated(uri: string): void;
  onLog(message: LoggingMessageNotificationParams): void;
  onElicitationComplete(elicitationId: string): void;
}

/** The client in front, as the server behind may ask it. */
export interface Asked {
  /** As `pickAsked` returns them. */
  readonly capabilities: ClientCapabilities;
  /** @param callSignal The signal of the call that the question belongs to, if the server says which one. */
  ask(ask: Ask, signal: AbortSignal, callSignal: AbortSignal | undefined): Promise<JsonObject>;
}

export interface BackendInit {
  readonly name: string;
  readonly options: GatewayOptions;
  readonly clock: Clock;
  readonly owner: BackendOwner;
  /** Undefined for a pooled server. */
  readonly caller: GatewayCaller | undefined;
  /** Undefined for a pooled server, which can ask nobody. */
  readonly asked: Asked | undefined;
}

/** What a server may ask, by the client capability that allows it, and the members of the capability that matter for it. */
const ASKS = {
  elicitation: { method: 'elicitation/create', members: ['form', 'url'] },
  sampling: { method: 'sampling/createMessage', members: ['tools', 'context'] },
  roots: { method: 'roots/list', members: ['listChanged'] },
} as const;

/** What clients and servers see as the name of a gateway, by default. */
export const GATEWAY_INFO: Implementation = { name: 'mortise-gateway', version: '1.0.0' };

export class Backend {
  readonly name: string;
  readonly given: GatewayServer;
  readonly server: HostedServer;
  readonly calls: Set<OpenCall> = new Set();
  /** Whether clients may run tools as tasks. */
  readonly hasTasks: boolean;
  /** How many callers watch each resource. */
  readonly #watched = new Map<string, number>();
  #logLevel: LogLevel | undefined;
  #hasFailed = false;

  constructor({ name, options, clock, owner, caller, asked }: BackendInit) {
    const given = options.servers[name] as GatewayServer;
    const capabilities = asked?.capabilities ?? {};
    this.name = name;
    this.hasTasks = options.tasks !== undefined;
    this.given = given;
    this.server = new HostedServer({
      name,
      // Each server has one of the two, and a pooled one `transport`.
      source: () => ((caller && given.transportFor?.(caller)) ?? given.transport) as ClientTransportSource,
      info: options.info ?? GATEWAY_INFO,
      clock,
      // What servers send is checked by the client in front, and what the client answers by the server.
      clientOptions: () => ({
        requestTimeoutMs: 600_000,
        ...given.client,
        capabilities,
        validator: false,
        asksPerMinute: 1_000,
        extensions: options.extensions?.(name),
      }),
      prepare: (client) => {
        if (asked) answerBy(client, asked);
        client.onResourceUpdated(({ uri }) => owner.onUpdated(uri));
        client.onLog((message) => owner.onLog(message));
        client.onElicitationComplete(({ elicitationId }) => owner.onElicitationComplete(elicitationId));
      },
      events: {
        onState: (state) => {
          const { status } = state;
          if (state.status === 'failed' || state.status === 'needs sign-in') owner.onError(new Error(state.reason));
          if (status === 'ready' && this.#logLevel) this.#sendLogLevel(this.#logLevel).catch(owner.onError);
          if (status === 'failed' || (status === 'ready' && this.#hasFailed)) owner.onAllChanged();
          this.#hasFailed = status === 'failed' || (this.#hasFailed && status !== 'ready');
        },
        onListChanged: (list) => owner.onListChanged(list),
        onError: (error) => owner.onError(error),
      },
    });
  }

  /** Returns the call with this signal; without one, the newest, which a message is most likely about. */
  findCall(signal?: AbortSignal): OpenCall | undefined {
    const calls = [...this.calls];
    return signal ? calls.find((call) => call.signal === signal) : calls.at(-1);
  }

  /** Asks the server for log messages of this level. */
  async setLogLevel(level: LogLevel): Promise<void> {
    if (level === this.#logLevel) return;
    this.#logLevel = level;
    await this.#sendLogLevel(level);
  }

  async watch(uri: string): Promise<void> {
    await this.server.watch(uri);
    this.#watched.set(uri, (this.#watched.get(uri) ?? 0) + 1);
  }

  /** Ends one `watch`. Updates end with the last one. */
  async unwatch(uri: string): Promise<void> {
    const count = (this.#watched.get(uri) ?? 1) - 1;
    if (count > 0) this.#watched.set(uri, count);
    else if (this.#watched.delete(uri)) await this.server.unwatch(uri);
  }

  async close(): Promise<void> {
    await this.server.close();
  }

  async #sendLogLevel(level: LogLevel): Promise<void> {
    const { client } = this.server;
    if (client?.serverCapabilities.logging) await client.setLoggingLevel(level);
  }
}

/** Returns what of a client's capabilities servers behind can use: what they may ask it. Whatever else a client declares is not kept. */
export function pickAsked(capabilities: ClientCapabilities): ClientCapabilities {
  return Object.fromEntries(
    Object.entries(ASKS).flatMap(([name, { members }]) => {
      const given = capabilities[name];
      if (!isJsonObject(given)) return [];
      const kept = members.flatMap((member) => (given[member] ? [[member, given[member] === true ? true : {}]] : []));
      return [[name, Object.fromEntries(kept) as JsonObject]];
    }),
  );
}

function answerBy(client: McpClient, asked: Asked): void {
  for (const [name, { method }] of Object.entries(ASKS))
    if (asked.capabilities[name] !== undefined)
      client.setRequestHandler(method, (params, { signal, key, callSignal }) =>
        asked.ask({ method, params, ...(key !== undefined && { key }) }, signal, callSignal),
      );
}
