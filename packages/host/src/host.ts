/** `createHost`: several servers at once, as one list of tools, prompts and resources. */

import type { CallOptions, McpClient } from '@mortise/client';
import { toolHints } from '@mortise/client/host';
import { ConnectionClosedError, type JsonObject } from '@mortise/jsonrpc-core';
import { abortable, linkSignals, runCallback } from '@mortise/jsonrpc-core/connection';
import { systemClock, toError } from '@mortise/jsonrpc-core/transport';
import type {
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from '@mortise/protocol/model';
import { createAsks } from './asks.ts';
import { changedError, type ToolUse } from './consent.ts';
import { toolDigest } from './digest.ts';
import { ToolRefusedError } from './errors.ts';
import { HostedServer, type ServerState } from './hosted-server.ts';
import { checkHostOptions, type HostOptions, type HostServer } from './host-options.ts';
import { type HostListOptions, ListReader } from './list-reader.ts';
import { exposedName, labelOf, serverLabel } from './names.ts';
import type { ListedItems, ListName } from './server-list.ts';
import { withServerName } from './tracing.ts';

/** A tool of one of the servers. */
export interface HostTool {
  /** The name for the model: at most 64 characters of `a-z`, `A-Z`, `0-9`, `_` and `-`, and the same for as long as the tool has its name. */
  readonly name: string;
  /** The program's name for the server. */
  readonly server: string;
  /** The tool as the server lists it. */
  readonly tool: Tool;
}

/** A prompt of one of the servers. */
export interface HostPrompt {
  /** As the name of a `HostTool`. */
  readonly name: string;
  /** The program's name for the server. */
  readonly server: string;
  /** The prompt as the server lists it. */
  readonly prompt: Prompt;
}

/** A resource of one of the servers. Different servers may use the same URI for different resources. */
export interface HostResource {
  /** The program's name for the server. */
  readonly server: string;
  /** The resource as the server lists it. */
  readonly resource: Resource;
}

/** A resource template of one of the servers. */
export interface HostResourceTemplate {
  /** The program's name for the server. */
  readonly server: string;
  /** The resource template as the server lists it. */
  readonly resourceTemplate: ResourceTemplate;
}

/** Something that happened at one of the servers. */
export type HostEvent =
  | { readonly type: 'state'; readonly server: string; readonly state: ServerState }
  /** A list has changed: read it again. */
  | { readonly type: 'list changed'; readonly server: string; readonly list: ListName }
  | { readonly type: 'resource updated'; readonly server: string; readonly uri: string }
  | { readonly type: 'log'; readonly server: string; readonly level: string; readonly logger: string | undefined; readonly data: unknown }
  /** An error that belongs to no call, such as a malformed item of a list. */
  | { readonly type: 'error'; readonly server: string; readonly error: Error };

/** Where something is: a server, and a URI there. */
export interface ResourcePlace {
  /** The program's name for the server. */
  readonly server: string;
  /** The URI of the resource at that server. */
  readonly uri: string;
}

/** Several servers as one. Each item and event names the server that it comes from. */
export interface Host extends AsyncDisposable {
  /** The states of all servers, by name, in the order of the option `servers`. */
  readonly states: ReadonlyMap<string, ServerState>;
  /** Returns the client of a server that is ready; undefined for any other. Its tool calls bypass the policy. */
  client(server: string): McpClient | undefined;
  /**
   * Starts a server now, for example one that failed, or after the user has signed in.
   *
   * @throws {ServerUnavailableError} It could not be started.
   */
  start(server: string): Promise<void>;
  /** Reads the tools of all servers, and starts those that are not started yet. Leaves out servers that fail or take longer than `waitMs`. */
  tools(options?: HostListOptions): Promise<readonly HostTool[]>;
  /** As `tools`, for prompts. */
  prompts(options?: HostListOptions): Promise<readonly HostPrompt[]>;
  /** As `tools`, for resources. */
  resources(options?: HostListOptions): Promise<readonly HostResource[]>;
  /** As `tools`, for resource templates. */
  resourceTemplates(options?: HostListOptions): Promise<readonly HostResourceTemplate[]>;
  /**
   * Calls a tool, if the policy allows it.
   *
   * @param name The name of a `HostTool`. @param args The arguments, which the policy sees and the server gets.
   * @throws {ToolRefusedError} `ERR_TOOL_REFUSED`, `ERR_TOOL_CHANGED`, `ERR_TOOL_UNKNOWN`: the tool was not called.
   * @throws {ServerUnavailableError} The tool's server cannot be reached. @throws As `McpClient.callTool` does.
   */
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult>;
  /** Gets a prompt. @param name The name of a `HostPrompt`. @throws As `McpClient.getPrompt` does, and `ServerUnavailableError`. */
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<GetPromptResult>;
  /** Reads a resource of a server. @throws As `McpClient.readResource` does, and `ServerUnavailableError`. */
  readResource(place: ResourcePlace, options?: CallOptions): Promise<ReadResourceResult>;
  /** Completes an argument of a server's prompt or template; `ref` has the server's own name for it. */
  complete(server: string, params: CompleteRequestParams, options?: CallOptions): Promise<CompleteResult>;
  /** Subscribes to updates of a resource, which arrive as events. Lasts when the server is started again. */
  subscribeResource(place: ResourcePlace): Promise<void>;
  /** Ends a subscription of `subscribeResource`. */
  unsubscribeResource(place: ResourcePlace): Promise<void>;
  /** Calls the handler with each event. @returns A function that removes the handler. */
  onEvent(handler: (event: HostEvent) => unknown): () => void;
  /** Ends the connections to all servers and their processes. Calls in flight reject. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Creates a host: a client for each of several servers.
 *
 * @throws {TypeError} An option is missing, unknown or of the wrong type, or the names of two servers are too much alike.
 */
export function createHost(options: HostOptions): Host {
  checkHostOptions(options);
  return new ServerHost(options);
}

/** One server, and what the program said of it. */
interface Member {
  readonly server: HostedServer;
  readonly given: HostServer;
}

class ServerHost implements Host {
  readonly #options: HostOptions;
  readonly #members = new Map<string, Member>();
  readonly #byLabel = new Map<string, Member>();
  readonly #handlers = new Set<(event: HostEvent) => unknown>();
  readonly #lists: ListReader;
  readonly #closing = new AbortController();

  constructor(options: HostOptions) {
    this.#options = options;
    const asks = createAsks(options);
    const { clock = systemClock, listWaitMs = 5_000 } = options;
    this.#lists = new ListReader(clock, listWaitMs, ({ name }, list) => this.#emit({ type: 'list changed', server: name, list }));
    for (const [name, given] of Object.entries(options.servers)) {
      const member = { server: this.#createServer(name, given, asks), given };
      this.#members.set(name, member);
      this.#byLabel.set(serverLabel(name), member);
    }
    for (const { server, given } of this.#members.values())
      if (given.startsAtOnce ?? options.startsAtOnce) server.start().catch(() => undefined);
  }

  #createServer(name: string, given: HostServer, asks: ReturnType<typeof createAsks>): HostedServer {
    const { info = { name: 'mortise-host', version: '1.0.0' }, extensions, tracer, logLevel, clock = systemClock } = this.#options;
    const server: HostedServer = new HostedServer({
      name,
      source: () => given.transport,
      info,
      clock,
      clientOptions: () => ({
        ...given.client,
        ...asks(name),
        ...(given.roots && { roots: given.roots }),
        extensions: extensions?.(name),
        tracer: tracer && withServerName(tracer, name),
      }),
      prepare: (client) => this.#listenTo(name, client),
      events: {
        onState: (state) => {
          if (state.status === 'ready' && logLevel !== undefined && server.client?.serverCapabilities.logging)
            server.client.setLoggingLevel(logLevel).catch((error: Error) => this.#emit({ type: 'error', server: name, error }));
          this.#emit({ type: 'state', server: name, state });
        },
        onListChanged: (list) => this.#emit({ type: 'list changed', server: name, list }),
        onError: (error) => this.#emit({ type: 'error', server: name, error }),
      },
    });
    return server;
  }

  #listenTo(server: string, client: McpClient): void {
    client.onResourceUpdated(({ uri }) => this.#emit({ type: 'resource updated', server, uri }));
    client.onLog(({ level, logger, data }) => this.#emit({ type: 'log', server, level, logger, data }));
  }

  // ---- servers

  get states(): ReadonlyMap<string, ServerState> {
    return new Map([...this.#members].map(([name, { server }]) => [name, server.state]));
  }

  client(server: string): McpClient | undefined {
    return this.#serverOf(server).client;
  }

  async start(server: string): Promise<void> {
    await this.#serverOf(server).start();
  }

  #serverOf(name: string): HostedServer {
    const member = this.#members.get(name);
    if (member) return member.server;
    throw new TypeError(`there is no server "${name}" (servers: ${[...this.#members.keys()].join(', ')})`);
  }

  // ---- lists

  tools(options?: HostListOptions): Promise<readonly HostTool[]> {
    return this.#merge('tools', options, (member, tool) => {
      const { name: server } = member.server;
      return this.#hasTool(member, tool) ? { name: exposedName(server, tool.name), server, tool } : undefined;
    });
  }

  /** Calls the filter of the program. One that throws leaves out the tool: what a server lists must not hide the other tools. */
  #hasTool({ server, given }: Member, tool: Tool): boolean {
    try {
      return given.tools?.(tool) !== false;
    } catch (error) {
      this.#emit({ type: 'error', server: server.name, error: toError(error) });
      return false;
    }
  }

  prompts(options?: HostListOptions): Promise<readonly HostPrompt[]> {
    return this.#merge('prompts', options, ({ server }, prompt) => ({
      name: exposedName(server.name, prompt.name),
      server: server.name,
      prompt,
    }));
  }

  resources(options?: HostListOptions): Promise<readonly HostResource[]> {
    return this.#merge('resources', options, ({ server }, resource) => ({ server: server.name, resource }));
  }

  resourceTemplates(options?: HostListOptions): Promise<readonly HostResourceTemplate[]> {
    return this.#merge('resourceTemplates', options, ({ server }, resourceTemplate) => ({ server: server.name, resourceTemplate }));
  }

  async #merge<N extends ListName, T>(
    name: N,
    options: HostListOptions | undefined,
    toItem: (member: Member, item: ListedItems[N]) => T | undefined,
  ): Promise<readonly T[]> {
    const members = [...this.#members.values()];
    const lists = await this.#lists.read(
      members.map(({ server }) => server),
      name,
      options,
    );
    return members.flatMap((member, index) => (lists[index] ?? []).flatMap((item) => toItem(member, item) ?? []));
  }

  // ---- calls

  async callTool(name: string, args: JsonObject = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const { signal, dispose } = linkSignals(options.signal, this.#closing.signal);
    try {
      return await this.#callTool(name, args, { ...options, signal });
    } finally {
      dispose();
    }
  }

  async #callTool(name: string, args: JsonObject, options: CallOptions & { readonly signal: AbortSignal }): Promise<CallToolResult> {
    const member = this.#memberOf(name);
    const { server } = member;
    const tool = await this.#findTool(member, name, options.signal);
    const digest = await toolDigest(tool);
    const given = structuredClone(args);
    await this.#consent({ member, name, tool, digest, arguments: given }, options.signal);
    // The list may have changed while the user was deciding.
    const now = await this.#findTool(member, name, options.signal);
    if ((await toolDigest(now)) !== digest)
      throw changedError(name, `the tool "${name}" changed while the call was being decided: ask again, with its new description`);
    return server.run((client) => client.callTool(tool.name, given, options), options.signal);
  }

  async #findTool(member: Member, name: string, signal: AbortSignal | undefined): Promise<Tool> {
    const { server } = member;
    const isIt = (each: Tool): boolean => exposedName(server.name, each.name) === name;
    const tool = (await server.list('tools', signal)).find(isIt) ?? (await server.list('tools', signal, true)).find(isIt);
    if (tool && this.#hasTool(member, tool)) return tool;
    throw new ToolRefusedError('ERR_TOOL_UNKNOWN', name, `the server "${server.name}" has no tool "${name}": see host.tools()`);
  }

  async #consent(
    use: Pick<ToolUse, 'name' | 'tool' | 'digest' | 'arguments'> & { readonly member: Member },
    signal: AbortSignal,
  ): Promise<void> {
    const { member, name, tool, digest, arguments: args } = use;
    const { policy, lock = this.#lock } = this.#options;
    const isTrusted = member.given.isTrusted === true;
    const before = await lock.get(name);
    const decision = policy({
      server: member.server.name,
      isTrusted,
      name,
      tool,
      arguments: args,
      hints: toolHints(tool, { isTrusted }),
      digest,
      isChanged: before !== undefined && before !== digest,
      signal,
    });
    if (!(await abortable(Promise.resolve(decision), signal)))
      throw new ToolRefusedError('ERR_TOOL_REFUSED', name, `the tool "${name}" was not called: the policy did not allow it`);
    if (before !== digest) await lock.set(name, digest);
  }

  readonly #lock = new Map<string, string>();

  #memberOf(name: string): Member {
    const member = this.#byLabel.get(labelOf(name) ?? '');
    if (member) return member;
    throw new ToolRefusedError('ERR_TOOL_UNKNOWN', name, `no server has "${name}": use a name of host.tools() or host.prompts()`);
  }

  async getPrompt(name: string, args?: Readonly<Record<string, string>>, options: CallOptions = {}): Promise<GetPromptResult> {
    const { server } = this.#memberOf(name);
    const prompts = await server.list('prompts', options.signal);
    const prompt = prompts.find((each) => exposedName(server.name, each.name) === name);
    if (!prompt) throw new ToolRefusedError('ERR_TOOL_UNKNOWN', name, `the server "${server.name}" has no prompt "${name}"`);
    return server.run((client) => client.getPrompt(prompt.name, args, options), options.signal);
  }

  async readResource({ server, uri }: ResourcePlace, options: CallOptions = {}): Promise<ReadResourceResult> {
    return this.#serverOf(server).run((client) => client.readResource(uri, options), options.signal);
  }

  async complete(server: string, params: CompleteRequestParams, options: CallOptions = {}): Promise<CompleteResult> {
    return this.#serverOf(server).run((client) => client.complete(params, options), options.signal);
  }

  async subscribeResource({ server, uri }: ResourcePlace): Promise<void> {
    await this.#serverOf(server).watch(uri);
  }

  async unsubscribeResource({ server, uri }: ResourcePlace): Promise<void> {
    await this.#serverOf(server).unwatch(uri);
  }

  // ---- events and end

  onEvent(handler: (event: HostEvent) => unknown): () => void {
    this.#handlers.add(handler);
    return () => void this.#handlers.delete(handler);
  }

  #emit(event: HostEvent): void {
    // A handler that fails disturbs neither the others nor the server.
    for (const handler of [...this.#handlers])
      runCallback(
        () => handler(event),
        () => undefined,
      );
  }

  async close(): Promise<void> {
    this.#closing.abort(new ConnectionClosedError('the host was closed'));
    await Promise.all([...this.#members.values()].map(({ server }) => server.close()));
    this.#handlers.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
