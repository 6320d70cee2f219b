/** One server behind the gateway as one caller (or, if it is pooled, all callers) uses it: its connection and its calls in flight. */

import type { ClientTransportSource, McpClient } from '@mortise/client';
import type { Clock, JsonObject, LogLevel } from '@mortise/jsonrpc-core';
import type { Ask } from '@mortise/protocol/contracts';
import type { ClientCapabilities, LoggingMessageNotificationParams } from '@mortise/protocol/model';
import { HostedServer, type HostedServerEvents } from '../hosted-server.ts';
import type { GatewayOptions, GatewayServer } from './gateway-options.ts';
import type { PendingCall } from './pending-call.ts';

/** What a server behind reports to its caller, or asks it. */
export interface BackendOwner extends HostedServerEvents {
  onUpdated(uri: string): void;
  onLog(message: LoggingMessageNotificationParams): void;
  onElicitationComplete(elicitationId: string): void;
}

/** The client in front, as the server behind may ask it. */
export interface Asked {
  readonly capabilities: ClientCapabilities;
  ask(ask: Ask, signal: AbortSignal): Promise<JsonObject>;
}

export interface BackendInit {
  readonly name: string;
  readonly given: GatewayServer;
  readonly source: ClientTransportSource;
  readonly options: GatewayOptions;
  readonly clock: Clock;
  readonly owner: BackendOwner;
  /** Undefined for a pooled server, which can ask nobody. */
  readonly asked: Asked | undefined;
}

/** What a server may ask, by the client capability that allows it. */
const ASKS = { elicitation: 'elicitation/create', sampling: 'sampling/createMessage', roots: 'roots/list' } as const;

const DEFAULT_INFO = { name: 'mortise-gateway', version: '1.0.0' };

export class Backend {
  readonly name: string;
  readonly given: GatewayServer;
  readonly server: HostedServer;
  readonly calls: Set<PendingCall> = new Set();
  #logLevel: LogLevel | undefined;

  constructor({ name, given, source, options, clock, owner, asked }: BackendInit) {
    const capabilities = asked ? pickAsked(asked.capabilities) : {};
    this.name = name;
    this.given = given;
    this.server = new HostedServer({
      name,
      source,
      info: options.info ?? DEFAULT_INFO,
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
        if (asked) answerBy(client, asked, capabilities);
        client.onResourceUpdated(({ uri }) => owner.onUpdated(uri));
        client.onLog((message) => owner.onLog(message));
        client.onElicitationComplete(({ elicitationId }) => owner.onElicitationComplete(elicitationId));
      },
      events: {
        onState: (state) => {
          if (state.status === 'ready' && this.#logLevel) this.#sendLogLevel(this.#logLevel).catch(owner.onError);
          owner.onState(state);
        },
        onListChanged: (list) => owner.onListChanged(list),
        onError: (error) => owner.onError(error),
      },
    });
  }

  /** The call that a question of the server is most likely about: the newest one. */
  get newestCall(): PendingCall | undefined {
    return [...this.calls].at(-1);
  }

  /** Asks the server for log messages of this level. */
  async setLogLevel(level: LogLevel): Promise<void> {
    if (level === this.#logLevel) return;
    this.#logLevel = level;
    await this.#sendLogLevel(level);
  }

  async close(): Promise<void> {
    await this.server.close();
  }

  async #sendLogLevel(level: LogLevel): Promise<void> {
    const { client } = this.server;
    if (client?.serverCapabilities.logging) await client.setLoggingLevel(level);
  }
}

function pickAsked(capabilities: ClientCapabilities): ClientCapabilities {
  return Object.fromEntries(Object.keys(ASKS).flatMap((name) => (capabilities[name] === undefined ? [] : [[name, capabilities[name]]])));
}

function answerBy(client: McpClient, asked: Asked, capabilities: ClientCapabilities): void {
  for (const [name, method] of Object.entries(ASKS))
    if (capabilities[name] !== undefined)
      client.setRequestHandler(method, (params, { signal, key }) =>
        asked.ask({ method, params, ...(key !== undefined && { key }) }, signal),
      );
}
