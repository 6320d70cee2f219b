/** The options of a gateway and their checks. */

import type { AnswerOptions, ClientOptions, ClientTransportSource } from '@mortise/client';
import type { Clock, Logger } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, ClientExtension, Principal, ServerExtension } from '@mortise/protocol/contracts';
import type { Implementation, Prompt, Resource, ResourceTemplate, Tool } from '@mortise/protocol/model';
import type { ServerOptions } from '@mortise/server/low-level';
import { checkServers } from '../host-options.ts';

/** Who calls the gateway. */
export interface GatewayCaller {
  /** The verified caller, or `anonymous`. */
  readonly principal: Principal;
  /** The claims of the caller's verified token. The gateway never passes the token itself on. */
  readonly auth: AuthInfo | undefined;
}

/** One server behind a gateway. */
export interface GatewayServer {
  /** How the server is reached, for each caller anew: a factory such as `stdioTransport({ command })` or `httpTransport(url)`. */
  readonly transport?: ClientTransportSource | undefined;
  /**
   * Makes the transport of each connection of a caller, in place of `transport`: with an authorizer that gets a token for this server, by
   * exchange or from a configuration. The caller's own token is for the gateway alone and must not be passed on. If it throws, the caller
   * cannot use this server.
   */
  readonly transportFor?: ((caller: GatewayCaller) => ClientTransportSource) | undefined;
  /**
   * Whether all callers share one connection. Only for a server that keeps nothing of its callers; it cannot ask them anything.
   * Callers share its bounds, too, such as the number of its subscriptions.
   *
   * @default false: each caller has a connection of its own
   */
  readonly isPooled?: boolean | undefined;
  /** Whether tools and prompts keep the names that the server gave them, without `server__` before them. @default false */
  readonly keepsNames?: boolean | undefined;
  /** Returns a tool as this caller is offered it, perhaps under another name; undefined leaves it out. @default as the server lists it */
  readonly tools?: ((tool: Tool, caller: GatewayCaller) => Tool | undefined) | undefined;
  /** As `tools`, for prompts. */
  readonly prompts?: ((prompt: Prompt, caller: GatewayCaller) => Prompt | undefined) | undefined;
  /**
   * Whether a resource is offered, in lists and to be read. Resources keep their URIs; of two servers with the same URI the first one has it.
   * For a URI that no list has, the function gets that URI as the name. @default all
   */
  readonly resources?: ((resource: Resource, caller: GatewayCaller) => boolean) | undefined;
  /** As `resources`, for templates. */
  readonly resourceTemplates?: ((template: ResourceTemplate, caller: GatewayCaller) => boolean) | undefined;
  /** More options of the clients of this server, such as `era` or `requestTimeoutMs` (600_000 here). @default those of `McpClient` */
  readonly client?:
    Omit<ClientOptions, keyof AnswerOptions | 'capabilities' | 'extensions' | 'restart' | 'onError' | 'clock' | 'validator'> | undefined;
}

/** The options of `createGateway`. */
export interface GatewayOptions {
  /** The servers behind the gateway, by the names that come before their tools. */
  readonly servers: Readonly<Record<string, GatewayServer>>;
  /** The name and version that clients and servers see. @default { name: 'mortise-gateway', version: '1.0.0' } */
  readonly info?: Implementation | undefined;
  /**
   * How long a list waits for slow servers, in milliseconds; it then lacks their items, and clients are notified when they arrive.
   *
   * @default 5_000
   */
  readonly listWaitMs?: number | undefined;
  /**
   * How long a modern caller's connections are kept without a request, in milliseconds. Sessions keep theirs until they end.
   *
   * @default 600_000
   */
  readonly callerIdleMs?: number | undefined;
  /**
   * How many callers may have connections at once; those of one principal at most half as many. When the limit is reached, the caller that
   * has been idle longest loses its connections.
   *
   * @default 1_000
   */
  readonly maxCallers?: number | undefined;
  /** Makes the extensions of a server's clients, such as `[taskClient()]`, with which the gateway waits for tasks. @default none */
  readonly extensions?: ((server: string) => readonly ClientExtension[]) | undefined;
  /**
   * Lets clients run tools as tasks: `createTasks()` of `@mortise/tasks/server`. Tools whose `execution.taskSupport` allows it may be tasks;
   * servers of 2026-07-28 list no `execution`, so say it by `tools` of the server. A task ends with the session that began it.
   * Keep its default queue: only this process has the caller's connections.
   *
   * @default none: the gateway waits for tasks itself, and its clients see results
   */
  readonly tasks?: ServerExtension | undefined;
  /** More options of the endpoint, such as `instructions`, `pageSize`, `requestState` or `tracer`. @default those of `Server` */
  readonly endpoint?:
    Omit<ServerOptions, 'capabilities' | 'context' | 'extensions' | 'messageBus' | 'logger' | 'clock' | 'cache'> | undefined;
  /** Gets errors of servers that belong to no call, and warnings. @default that of what serves the gateway */
  readonly logger?: Logger | undefined;
  /** The clock of pauses and timeouts. @default the platform's */
  readonly clock?: Clock | undefined;
}

const GATEWAY_OPTIONS: OptionTable<GatewayOptions> = {
  servers: 'object',
  info: 'object',
  listWaitMs: 0,
  callerIdleMs: 0,
  maxCallers: 1,
  extensions: 'function',
  tasks: 'object',
  endpoint: 'object',
  logger: 'object',
  clock: 'object',
};

const SERVER_OPTIONS: OptionTable<GatewayServer> = {
  transport: ['object', 'function'],
  transportFor: 'function',
  isPooled: 'boolean',
  keepsNames: 'boolean',
  tools: 'function',
  prompts: 'function',
  resources: 'function',
  resourceTemplates: 'function',
  client: 'object',
};

/** @throws {TypeError} An option is missing, unknown or of the wrong type, or two servers have names that are too much alike. */
export function checkGatewayOptions(options: GatewayOptions): void {
  checkOptions('createGateway options', options, GATEWAY_OPTIONS);
  checkServers('createGateway options', options.servers, SERVER_OPTIONS);
  for (const [name, { isPooled, transport, transportFor }] of Object.entries(options.servers)) {
    if ((transport === undefined) === (transportFor === undefined))
      throw new TypeError(`createGateway options: the server "${name}" needs either transport or transportFor`);
    if (isPooled === true && transportFor)
      throw new TypeError(`createGateway options: the server "${name}" is pooled, so that transportFor cannot depend on the caller`);
  }
}
