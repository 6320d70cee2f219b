/** One caller of the gateway: a legacy session, or a modern principal with its capabilities. Has its own connections to the servers. */

import { CancelledError, type Clock, type JsonObject, type LogLevel, ProtocolError, RemoteError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { type Revision, UriTemplate } from '@mortise/protocol';
import type { Ask, BusMessage, HandlerRun, Principal, ToolCallRecord } from '@mortise/protocol/contracts';
import type { CallToolResult, ClientCapabilities, Progress } from '@mortise/protocol/model';
import { invalidParamsError, META_LOG_LEVEL, META_PROGRESS_TOKEN, resourceNotFoundError } from '@mortise/protocol/wire';
import type { MiddlewareCall, RawSession } from '@mortise/server/low-level';
import type { HostedServer } from '../hosted-server.ts';
import { ListReader } from '../list-reader.ts';
import { labelOf, serverLabel } from '../names.ts';
import type { ListName } from '../server-list.ts';
import { Backend, type OpenCall, pickAsked } from './backend.ts';
import type { GatewayCaller, GatewayOptions } from './gateway-options.ts';
import { collectOffers, type Offers, type Place } from './offers.ts';
import { type GatewayContext, PendingCall } from './pending-call.ts';
import { withoutOwnMeta, withoutServerInfo } from './own-meta.ts';
import { toProtocolError } from './to-protocol-error.ts';
import { Watches } from './watches.ts';

export interface CallerInit {
  readonly options: GatewayOptions;
  readonly clock: Clock;
  /** The servers that all callers share, by name. */
  readonly pool: ReadonlyMap<string, Backend>;
  readonly publish: (event: BusMessage) => void;
  /** Called with the tools of a caller each time they were read. */
  readonly onTools: (offers: Offers) => void;
  readonly report: (server: string, error: Error) => void;
  /** The first request of the caller. */
  readonly call: Pick<MiddlewareCall<unknown>, 'principal' | 'auth' | 'session' | 'revision' | 'client'>;
}

/** How many calls of one caller may be in progress, those that wait for its answers included. */
const MAX_PENDING = 1_000;

/** The kind of list that clients are told of, by the list that changed. */
const TOPICS = { tools: 'tools', prompts: 'prompts', resources: 'resources', resourceTemplates: 'resources' } as const;

export class Caller {
  readonly id: string = crypto.randomUUID();
  readonly principal: Principal;
  readonly session: RawSession | undefined;
  /** The resources that the caller is subscribed to. */
  readonly watches: Watches;
  lastUsedMs = 0;
  /** How many requests are being served now. */
  inFlight = 0;
  readonly #init: Omit<CallerInit, 'call'>;
  readonly #facts: GatewayCaller;
  readonly #revision: Revision;
  readonly #backends: readonly Backend[];
  readonly #lists: ListReader;
  readonly #pending = new Map<string, PendingCall>();
  readonly #offers = new Map<ListName, Promise<Offers>>();
  /** The tools that were read last. */
  #tools: Offers | undefined;
  /** The lists that changed in this turn of the event loop: each is announced once. */
  readonly #changed = new Set<string>();
  #lastContext: GatewayContext | undefined;

  constructor({ call, ...init }: CallerInit) {
    const { options, clock, pool } = init;
    this.#init = init;
    this.principal = call.principal;
    this.#facts = { principal: call.principal, auth: call.auth };
    this.session = call.session;
    this.watches = new Watches(this.session !== undefined, (uri) => this.#watchAt(uri));
    this.#revision = call.revision;
    this.#lists = new ListReader(clock, options.listWaitMs ?? 5_000, (_server, list) => this.onListChanged(list));
    const capabilities = pickAsked(call.client.capabilities);
    this.#backends = Object.keys(options.servers).map((name) => pool.get(name) ?? this.#createBackend(name, capabilities));
  }

  /** Whether the caller has requests in flight, subscriptions, or calls that wait for its answers. */
  get isBusy(): boolean {
    return this.inFlight > 0 || this.#pending.size > 0 || this.watches.size > 0;
  }

  /** The connections of this caller alone. */
  get own(): readonly Backend[] {
    return this.#backends.filter(({ name }) => !this.#init.pool.has(name));
  }

  async close(): Promise<void> {
    for (const call of this.#pending.values()) call.stop(new ProtocolError(INTERNAL_ERROR, 'The caller has left the gateway'));
    await Promise.all(this.own.map((backend) => backend.close()));
    // The other callers of a pooled server go on.
    await this.watches.close();
  }

  #createBackend(name: string, capabilities: ClientCapabilities): Backend {
    const { options, clock, report } = this.#init;
    const backend: Backend = new Backend({
      name,
      options,
      clock,
      caller: this.#facts,
      asked: { capabilities, ask: (...question) => this.#ask(backend, ...question) },
      owner: {
        onAllChanged: () => this.onAllChanged(),
        onListChanged: (list) => this.onListChanged(list),
        onError: (error) => report(name, error),
        onUpdated: (uri) => this.onUpdated(uri),
        onLog: ({ level, data, logger }) => this.#log(backend, level, data as JsonObject, logger),
        onElicitationComplete: (id) => void this.#lastContext?.completeElicitation(id),
      },
    });
    return backend;
  }

  // ---- lists

  /**
   * Returns what the servers offer under this list's names, read when first needed and again after a change.
   *
   * @param isFresh Whether lists of servers that do not say when they change are read again.
   */
  offers(list: ListName, isFresh = false): Promise<Offers> {
    const known = this.#offers.get(list);
    if (known && !(isFresh && this.#backends.some(({ server }) => server.mayBeStale(list)))) return known;
    const read = this.#lists
      .read(
        this.#backends.map(({ server }) => server),
        list,
      )
      .then((items) => {
        const offers = collectOffers(list, this.#backends, items, { caller: this.#facts, report: this.#init.report });
        if (list === 'tools') {
          this.#tools = offers;
          this.#init.onTools(offers);
        }
        return offers;
      });
    this.#offers.set(list, read);
    const forget = (): void => {
      if (this.#offers.get(list) === read) this.#offers.delete(list);
    };
    // What lacks a server is read again for the next request.
    read.then(() => this.#backends.every(({ server }) => server.state.status === 'ready') || forget(), forget);
    return read;
  }

  onListChanged(list: ListName): void {
    this.#offers.delete(list);
    if (this.#changed.size === 0) queueMicrotask(() => this.#announceLists());
    this.#changed.add(TOPICS[list]);
  }

  #announceLists(): void {
    for (const kind of this.#changed) this.#publish({ topic: `${kind}/list_changed` });
    this.#changed.clear();
  }

  /** Sends an event to the clients of this caller: a session is one, and other sessions of its principal have callers of their own. */
  #publish(event: BusMessage): void {
    if (this.session) this.session.onEvent(event);
    else this.#init.publish({ ...event, principal: this.principal });
  }

  onAllChanged(): void {
    this.#offers.clear();
    for (const list of ['tools', 'prompts', 'resources'] as const) this.onListChanged(list);
  }

  // ---- calls

  /** Serves a request that names a tool or a prompt. */
  async callNamed(list: 'tools' | 'prompts', method: string, params: JsonObject, context: GatewayContext): Promise<JsonObject> {
    const resumed = this.#findPending(context);
    if (resumed) return resumed.serve(context);
    const name = String(params['name']);
    const place = (await this.offers(list)).places.get(name) ?? (await this.#findLate(list, name, context.signal));
    if (!place) throw invalidParamsError(`Unknown ${list === 'tools' ? 'tool' : 'prompt'}: ${name.slice(0, 200)}`);
    return this.#call(place.backend, method, { ...params, name: place.name }, context, undefined);
  }

  /** Finds what no list has: its server may be slow, or have got it without saying so. @throws {ProtocolError} The server is away. */
  async #findLate(list: 'tools' | 'prompts', name: string, signal: AbortSignal): Promise<Place | undefined> {
    const slow = this.#backends.filter(
      ({ server, given }) =>
        (given.keepsNames === true || labelOf(name) === serverLabel(server.name)) &&
        (server.state.status !== 'ready' || this.#lists.isLate(server, list)),
    );
    const tried = await Promise.allSettled(slow.map((backend) => this.#use(backend, undefined, (server) => server.list(list, signal))));
    if (slow.length > 0) this.#offers.delete(list);
    const place = (await this.offers(list, true)).places.get(name);
    const failed = tried.find((each) => each.status === 'rejected');
    if (!place && failed) throw failed.reason;
    return place;
  }

  async read(params: JsonObject, context: GatewayContext): Promise<JsonObject> {
    const resumed = this.#findPending(context);
    if (resumed) return resumed.serve(context);
    const uri = String(params['uri']);
    return this.#call(await this.#backendOf(uri), 'resources/read', params, context, uri);
  }

  async complete(params: JsonObject, context: GatewayContext): Promise<JsonObject> {
    const ref = params['ref'] as JsonObject;
    const isPrompt = ref['type'] === 'ref/prompt';
    const offers = await this.offers(isPrompt ? 'prompts' : 'resourceTemplates');
    const place = offers.places.get(String(isPrompt ? ref['name'] : ref['uri']));
    if (!place) throw invalidParamsError(`Unknown ${isPrompt ? 'prompt' : 'resource template'} in "ref"`);
    const own = isPrompt ? { ...params, ref: { ...ref, name: place.name } } : params;
    const { signal } = context;
    return this.#use(place.backend, undefined, (server) =>
      server.run((client) => client.request('completion/complete' as string, withoutOwnMeta(own), { signal })),
    );
  }

  /** Uses a server behind. @throws What failed, as the error for the client in front. */
  async #use<T>({ server, name }: Backend, uri: string | undefined, use: (server: HostedServer) => Promise<T>): Promise<T> {
    try {
      return await use(server);
    } catch (error) {
      throw toProtocolError(error, name, this.#revision, uri);
    }
  }

  /** The task options of a tool in the list that was read last. */
  taskOptions(name: string): Readonly<Record<string, unknown>> | undefined {
    const execution = this.#tools?.places.get(name)?.execution;
    return execution && { execution };
  }

  /** Runs a tool as a task of the gateway: its questions and its progress go to the task. */
  async runTask(record: ToolCallRecord, run: HandlerRun): Promise<CallToolResult> {
    this.inFlight += 1;
    try {
      return await this.#callInTask(record, run);
    } finally {
      this.inFlight -= 1;
      this.lastUsedMs = this.#init.clock.monotonicMs();
    }
  }

  async #callInTask({ tool, arguments: args, meta = {} }: ToolCallRecord, run: HandlerRun): Promise<CallToolResult> {
    const { signal } = run;
    const place = (await this.offers('tools')).places.get(tool) ?? (await this.#findLate('tools', tool, signal));
    if (!place) throw invalidParamsError(`Unknown tool: ${tool.slice(0, 200)}`);
    const { backend, name } = place;
    const token = meta[META_PROGRESS_TOKEN];
    const call: OpenCall = {
      signal,
      ask: ({ method, params = {}, ...ask }, asking) =>
        this.#convert(method, params, (wire) => run.ask({ ...ask, method, params: wire, signal: asking })),
      log: (...message) => this.session?.sendLog(...message),
    };
    const onProgress = (progress: Progress): void =>
      void run.report({ jsonrpc: '2.0', method: 'notifications/progress', params: { ...progress, progressToken: token } as JsonObject });
    const params = withoutOwnMeta({ name, arguments: args, _meta: meta });
    const options = { signal, onProgress: token === undefined ? undefined : onProgress };
    backend.calls.add(call);
    try {
      const result = await this.#use(backend, undefined, (server) =>
        server.run((client) => client.request('tools/call' as string, params, options), signal),
      );
      return withoutServerInfo(result) as unknown as CallToolResult;
    } finally {
      backend.calls.delete(call);
    }
  }

  #findPending({ requestState }: GatewayContext): PendingCall | undefined {
    const id = (requestState as { readonly call?: unknown } | undefined)?.call;
    if (id === undefined) return undefined;
    const call = this.#pending.get(String(id));
    if (call) return call;
    throw invalidParamsError('The call that "requestState" belongs to has ended: send the request again without it');
  }

  #call(backend: Backend, method: string, params: JsonObject, context: GatewayContext, uri: string | undefined): Promise<JsonObject> {
    if (this.#pending.size >= MAX_PENDING) this.#endOldest();
    if (this.#pending.size >= MAX_PENDING)
      throw new ProtocolError(INTERNAL_ERROR, `This caller has ${MAX_PENDING} calls in progress, the maximum: wait for one to end`);
    const sent = withoutOwnMeta(params);
    const call = new PendingCall(
      context,
      this.#init.clock,
      async (options) => {
        await this.#wantLogs(backend, context);
        const result = await this.#use(backend, uri, (server) =>
          server.run((client) => client.request(method, sent, options), options.signal),
        );
        return withoutServerInfo(result);
      },
      { settled: (ended) => backend.calls.delete(ended), over: ({ id }) => this.#pending.delete(id) },
    );
    backend.calls.add(call);
    this.#pending.set(call.id, call);
    this.#lastContext = context;
    return call.serve(context);
  }

  /** Ends the call that has waited longest for its client's answer: clients without a token are one caller, and may just have left. */
  #endOldest(): void {
    const oldest = [...this.#pending.values()].find(({ isWaiting }) => isWaiting);
    oldest?.stop(new CancelledError('the client did not answer in time'));
    if (oldest) this.#pending.delete(oldest.id);
  }

  /** Finds the server of a resource: the one that lists it, or whose template fits, or the only one that has resources. */
  async #backendOf(uri: string): Promise<Backend> {
    const listed = (await this.offers('resources')).places.get(uri);
    if (listed) return listed.backend;
    // What the filter leaves out of the list cannot be read by its URI either.
    const offers = async (backend: Backend): Promise<boolean> => {
      const { resources } = backend.given;
      if (!resources) return true;
      const items = await this.#use(backend, uri, (server) => server.list('resources'));
      return resources(items.find((each) => each.uri === uri) ?? { uri, name: uri }, this.#facts);
    };
    const { places } = await this.offers('resourceTemplates');
    for (const [template, { backend }] of places) if (fits(template, uri) && (await offers(backend))) return backend;
    const having = this.#backends.filter(({ server }) => server.client?.serverCapabilities.resources !== undefined);
    const [only] = having;
    if (only && having.length === 1 && only.given.resourceTemplates === undefined && (await offers(only))) return only;
    throw resourceNotFoundError(uri, this.#revision.rules.resourceNotFoundCode);
  }

  // ---- what servers ask

  async #ask(backend: Backend, ask: Ask, signal: AbortSignal, callSignal: AbortSignal | undefined): Promise<JsonObject> {
    const { method } = ask;
    // The token of the connection behind means nothing in front.
    const params = withoutOwnMeta(ask.params ?? {});
    const call = backend.findCall(callSignal);
    const { session } = this;
    try {
      if (call) return await call.ask({ ...ask, params }, signal);
      if (session) return await this.#convert(method, params, (wire) => session.request(method, wire, { signal }));
    } catch (error) {
      if (error instanceof RemoteError) throw new ProtocolError(error.rpcCode, error.message, error.data, { cause: error });
      throw error;
    }
    throw new ProtocolError(INTERNAL_ERROR, `"${method}" cannot reach the client: it has no request in progress`);
  }

  /** Asks a client outside of any request, as servers do that want the roots at once: in the shapes of its revision. */
  async #convert(method: string, params: JsonObject, send: (params: JsonObject) => Promise<JsonObject>): Promise<JsonObject> {
    const { toWire, fromWire } = this.#revision;
    const answer = await send(toWire.params.get(method)?.(params) ?? params);
    return fromWire.results.get(method)?.(answer) ?? answer;
  }

  async rootsChanged(): Promise<void> {
    await Promise.all(this.own.map(({ server }) => server.client?.sendRootsListChanged().catch(() => undefined)));
  }

  // ---- logs

  async setLogLevel(level: LogLevel): Promise<void> {
    await Promise.all(this.own.map((backend) => backend.setLogLevel(level)));
  }

  async #wantLogs(backend: Backend, { meta }: GatewayContext): Promise<void> {
    const level = meta[META_LOG_LEVEL];
    if (typeof level === 'string' && !this.#init.pool.has(backend.name)) await backend.setLogLevel(level as LogLevel);
  }

  #log(backend: Backend, level: LogLevel, data: JsonObject, logger: string | undefined): void {
    const call = backend.findCall();
    // Clients without a session may share this caller: with several calls, the message may be about another's.
    if (call && (this.session || backend.calls.size === 1)) call.log(level, data, logger);
    else this.session?.sendLog(level, data, logger);
  }

  async #watchAt(uri: string): Promise<Backend> {
    const backend = await this.#backendOf(uri);
    await this.#use(backend, uri, () => backend.watch(uri));
    return backend;
  }

  onUpdated(uri: string): void {
    for (const watched of this.watches.within(uri)) this.#publish({ topic: `resource:${watched}`, payload: { uri } });
  }
}

function fits(template: string, uri: string): boolean {
  try {
    return UriTemplate.parse(template).match(uri) !== undefined;
  } catch {
    return false;
  }
}
