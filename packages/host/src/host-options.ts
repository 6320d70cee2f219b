/** The options of a host and their checks. */

import type { AnswerOptions, ClientOptions, ClientTransportSource } from '@mortise/client';
import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import type { ClientExtension, Tracer } from '@mortise/protocol/contracts';
import type { Implementation, LoggingLevel, Tool } from '@mortise/protocol/model';
import { type AskOptions, ELICITATION_OPTIONS, SAMPLING_OPTIONS } from './asks.ts';
import type { ToolLock, ToolPolicy } from './consent.ts';
import { serverLabel } from './names.ts';

/** One server of a host. */
export interface HostServer {
  /**
   * How the server is reached: what `stdioTransport({ command })` or `httpTransport(url, { authorizer })` returns, or a function of yours
   * that makes a transport. Each of these makes a new transport when the host starts the server again. `new StdioClientTransport(...)` is a
   * single transport, which connects once, so the host cannot start its server again.
   */
  readonly transport: ClientTransportSource;
  /** Whether the user trusts the server, so that its hints, such as `readOnlyHint`, count. @default false */
  readonly isTrusted?: boolean | undefined;
  /** Whether the server starts with the host, and not with the first call or list that needs it. @default the host's `startsAtOnce` */
  readonly startsAtOnce?: boolean | undefined;
  /** Returns whether the host offers a tool of the server. @default all */
  readonly tools?: ((tool: Tool) => boolean) | undefined;
  /** The folders that this server should work in, instead of the host's `roots`. @default the host's */
  readonly roots?: AnswerOptions['roots'];
  /** More options of this server's client, such as `requestTimeoutMs` or `era`. @default those of `McpClient` */
  readonly client?: Omit<ClientOptions, keyof AnswerOptions | 'extensions' | 'tracer' | 'restart' | 'onError' | 'clock'> | undefined;
}

/** The options of `createHost`. */
export interface HostOptions extends AskOptions {
  /** The servers, by the program's own names for them. Servers never see these names, nor each other. */
  readonly servers: Readonly<Record<string, HostServer>>;
  /**
   * Decides before each tool call whether it is made. `(use) => askTheUser(use)` always asks; see `rememberConsent`, `allowTools`,
   * `denyTools` and `allowReadOnly`. `() => true` allows all.
   */
  readonly policy: ToolPolicy;
  /**
   * Stores the digest of each tool that was allowed, so that a change of the tool is noticed after a restart of the program too. `lockFile`
   * of `@mortise/host/node` stores them in a file.
   *
   * @default memory of this host
   */
  readonly lock?: ToolLock | undefined;
  /** The name and version that servers see. @default { name: 'mortise-host', version: '1.0.0' } */
  readonly info?: Implementation | undefined;
  /** Whether servers start with the host. @default false: with the first call or list that needs them */
  readonly startsAtOnce?: boolean | undefined;
  /**
   * How long reading a list waits for slow servers, in milliseconds. The list leaves out servers that take longer; the event `list changed`
   * says when theirs has arrived.
   *
   * @default 5_000
   */
  readonly listWaitMs?: number | undefined;
  /** Handles elicitation: asks the user for what a server needs. A single function handles forms only. @default none: servers cannot ask */
  readonly elicitation?: AskOptions['elicitation'];
  /**
   * Lets servers use the program's model.
   *
   * @default none: servers cannot
   * @deprecated since 2026-07-28, with sampling: call a model's API in the server instead.
   */
  readonly sampling?: AskOptions['sampling'];
  /**
   * The folders that servers should work in, the same for all or by server.
   *
   * @default none
   * @deprecated since 2026-07-28, with roots: pass folders as arguments of tools instead.
   */
  readonly roots?: AskOptions['roots'];
  /** How many elicitation requests of each server the host answers in one minute, and how many sampling requests. @default 60 of each */
  readonly asksPerMinute?: number | undefined;
  /**
   * Makes the protocol extensions of a server's client, such as `[taskClient({ onTask })]` of `@mortise/tasks/client`. Called for each
   * connection. @default none
   */
  readonly extensions?: ((server: string) => readonly ClientExtension[]) | undefined;
  /** The level of log messages to ask servers for. @default what each server sends by itself */
  readonly logLevel?: LoggingLevel | undefined;
  /** Makes a span of each request, with the attribute `mortise.server`. @default none */
  readonly tracer?: Tracer | undefined;
  /** The clock of pauses and timeouts. @default the platform's */
  readonly clock?: Clock | undefined;
}

const HOST_OPTIONS: OptionTable<HostOptions> = {
  servers: 'object',
  policy: 'function',
  lock: 'object',
  info: 'object',
  startsAtOnce: 'boolean',
  listWaitMs: 0,
  elicitation: ['function', 'object'],
  sampling: 'object',
  roots: ['array', 'function'],
  asksPerMinute: 0,
  extensions: 'function',
  logLevel: 'string',
  tracer: 'object',
  clock: 'object',
};

const SERVER_OPTIONS: OptionTable<HostServer> = {
  transport: ['object', 'function'],
  isTrusted: 'boolean',
  startsAtOnce: 'boolean',
  tools: 'function',
  roots: ['array', 'function'],
  client: 'object',
};

/** @throws {TypeError} An option is missing, unknown or of the wrong type, or two servers have names that are too much alike. */
export function checkHostOptions(options: HostOptions): void {
  checkOptions('createHost options', options, HOST_OPTIONS);
  if (typeof options.elicitation === 'object') checkOptions('createHost options, elicitation', options.elicitation, ELICITATION_OPTIONS);
  if (options.sampling) {
    checkOptions('createHost options, sampling', options.sampling, SAMPLING_OPTIONS);
    for (const name of ['createMessage', 'approveRequest', 'approveResult'] as const)
      if (options.sampling[name] === undefined) throw new TypeError(`createHost options, sampling: "${name}" is missing: pass a function`);
  }
  if (typeof options.policy !== 'function')
    throw new TypeError('createHost needs a policy, which decides before each tool call: policy: (use) => askTheUser(use)');
  checkServers('createHost options', options.servers, SERVER_OPTIONS);
  for (const [name, { transport }] of Object.entries(options.servers))
    if (transport === undefined) throw new TypeError(`createHost options: the server "${name}" needs a transport`);
}

/** Checks the servers of a host or gateway. @throws {TypeError} As `checkHostOptions`. */
export function checkServers<S extends object>(owner: string, servers: Readonly<Record<string, S>>, table: OptionTable<S>): void {
  const labels = new Map<string, string>();
  for (const [name, server] of Object.entries(servers ?? {})) {
    checkOptions(`${owner}, server "${name}"`, server, table);
    const label = serverLabel(name);
    const other = labels.get(label);
    if (other !== undefined)
      throw new TypeError(`${owner}: the servers "${other}" and "${name}" would both prefix their tools with "${label}": rename one`);
    labels.set(label, name);
  }
}
