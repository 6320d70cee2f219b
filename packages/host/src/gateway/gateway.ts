/** `createGateway`: an endpoint for clients of any era, with servers of any era behind it. */

import type { Clock, JsonObject, JsonValue, LogLevel } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { MemoryMessageBus } from '@mortise/protocol';
import type { CloseOptions, ParamHeaders } from '@mortise/protocol/contracts';
import { type MiddlewareCall, Server } from '@mortise/server/low-level';
import { LIST_FILTERS, type ServerState } from '../hosted-server.ts';
import type { ListName } from '../server-list.ts';
import { Backend, GATEWAY_INFO } from './backend.ts';
import { Caller } from './caller.ts';
import { Callers } from './callers.ts';
import { checkGatewayOptions, type GatewayOptions } from './gateway-options.ts';
import { type Offers, toPage } from './offers.ts';
import { createGatewayTasks, META_CALLER } from './tasks.ts';

/** The state of the servers behind a gateway, for a health endpoint. */
export interface GatewayHealth {
  /** `degraded` if a connection to a server has failed. */
  readonly status: 'ok' | 'degraded';
  /** How many callers have connections. */
  readonly callers: number;
  /** The connections to each server, by the server's name: how many have each state. A server that nobody uses has none. */
  readonly servers: Readonly<Record<string, Readonly<Partial<Record<ServerState['status'], number>>>>>;
}

/** A gateway: an endpoint like a server. Serve it with `serveHttp`, `serveStdio`, `serveWebSocket` or `createHttpHandler`. */
export interface Gateway extends Server<Caller> {
  /** Returns the state of the servers, for a health endpoint. Sends nothing. */
  health(): GatewayHealth;
}

/**
 * Creates a gateway. It serves nothing until it is passed to `serveHttp(gateway)` or the like. Servers are started when a caller needs them.
 *
 * Each caller has connections of its own to the servers: a legacy session, or in the modern era, which has no sessions, a principal with its
 * capabilities. Callers without a token are one principal there. The caller's token is never passed on.
 *
 * @throws {TypeError} An option is missing, unknown or of the wrong type, or two servers have names that are too much alike.
 */
export function createGateway(options: GatewayOptions): Gateway {
  checkGatewayOptions(options);
  return new GatewayEndpoint(options);
}

const LISTS = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const satisfies readonly (readonly [string, ListName])[];

/** What a gateway declares, whatever its servers have: it knows them only when a caller needs them. */
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

class GatewayEndpoint extends Server<Caller> implements Gateway {
  readonly #options: GatewayOptions;
  readonly #bus: MemoryMessageBus;
  readonly #clock: Clock;
  readonly #callers: Callers;
  readonly #paramHeaders = new Map<string, ParamHeaders>();
  readonly #pool = new Map<string, Backend>();

  constructor(options: GatewayOptions) {
    const { info = GATEWAY_INFO, endpoint, logger, clock = systemClock } = options;
    const bus = new MemoryMessageBus();
    super(info, {
      ...endpoint,
      // A server behind may ask more often than the default of an endpoint allows. The calls that wait for answers are in this process, so
      // that no other needs the key.
      requestState: { maxRounds: 100, keys: [crypto.getRandomValues(new Uint8Array(32))], ...endpoint?.requestState },
      capabilities: CAPABILITIES,
      extensions: options.tasks ? [createGatewayTasks(options.tasks, (id) => this.#callers.findById(id))] : [],
      cache: { listScope: 'private' },
      messageBus: bus,
      context: (call) => this.#callers.find(call),
      logger,
      clock,
    });
    this.#options = options;
    this.#bus = bus;
    this.#clock = clock;
    for (const [name, given] of Object.entries(options.servers))
      if (given.isPooled === true) this.#pool.set(name, this.#createPooled(name));
    this.#callers = new Callers(options, clock, (call) => this.#createCaller(call));
    this.#addLists();
    this.#addCalls();
    this.#addSubscriptions();
  }

  /** Headers of tools that any caller has listed. The middleware below ignores a fault if they are not those of this caller's tool. */
  override paramHeaders(toolName: string): ParamHeaders | undefined {
    return this.#paramHeaders.get(toolName);
  }

  #learnParamHeaders({ places }: Offers): void {
    for (const [name, { headers }] of places)
      if (headers) {
        // The next lists fill it again.
        if (this.#paramHeaders.size >= 10_000) this.#paramHeaders.clear();
        this.#paramHeaders.set(name, headers);
      } else this.#paramHeaders.delete(name);
  }

  health(): GatewayHealth {
    const { all } = this.#callers;
    const servers = Object.keys(this.#options.servers).map((name) => {
      const backends = [this.#pool.get(name), ...all.flatMap(({ own }) => own)].filter((backend) => backend?.name === name);
      const counts: Partial<Record<ServerState['status'], number>> = {};
      for (const backend of backends) {
        const status = backend?.server.state.status ?? 'idle';
        counts[status] = (counts[status] ?? 0) + 1;
      }
      return [name, counts] as const;
    });
    const isDegraded = servers.some(([, counts]) => counts.failed !== undefined || counts['needs sign-in'] !== undefined);
    return { status: isDegraded ? 'degraded' : 'ok', callers: all.length, servers: Object.fromEntries(servers) };
  }

  override async close(options?: CloseOptions): Promise<void> {
    await super.close(options);
    await this.#callers.close();
    await Promise.all([...this.#pool.values()].map((backend) => backend.close()));
    await this.#bus.close();
  }

  // ---- what clients send

  #addLists(): void {
    const { pageSize = 1_000 } = this.#options.endpoint ?? {};
    for (const [method, list] of LISTS)
      this.setRequestHandler(method as string, async ({ params }, { app }) =>
        toPage(list, await app.offers(list, params['cursor'] === undefined), params['cursor'], pageSize),
      );
  }

  #addCalls(): void {
    this.setRequestHandler('tools/call' as string, ({ params }, ctx) => ctx.app.callNamed('tools', 'tools/call', params, ctx));
    this.setRequestHandler('prompts/get' as string, ({ params }, ctx) => ctx.app.callNamed('prompts', 'prompts/get', params, ctx));
    this.setRequestHandler('resources/read' as string, ({ params }, ctx) => ctx.app.read(params, ctx));
    this.setRequestHandler('completion/complete' as string, ({ params }, ctx) => ctx.app.complete(params, ctx));
    // Counts requests, so that the connections of a busy caller are kept.
    this.use(async ({ app }, next) => {
      app.inFlight += 1;
      try {
        return await next();
      } finally {
        app.inFlight -= 1;
        app.lastUsedMs = this.#clock.monotonicMs();
      }
    });
    this.use('tools/call', async ({ app, params, paramFault }, next) => {
      const name = String(params['name']);
      const own = paramFault && (await app.offers('tools')).places.get(name)?.headers;
      if (own && isEqual(own, this.paramHeaders(name))) throw paramFault;
      return next();
    });
    if (this.#options.tasks)
      this.use('tools/call', async ({ app, params, meta }, next) => {
        await app.offers('tools');
        return next({ ...params, _meta: { ...meta, [META_CALLER]: app.id } });
      });
    this.use('logging/setLevel', async ({ app, params }, next) => {
      const result = await next();
      await app.setLogLevel(params['level'] as LogLevel);
      return result;
    });
    this.setNotificationHandler('notifications/roots/list_changed', async (_notification, { principal }) => {
      // The notification names no session: all of its principal are asked again, which is never wrong.
      await Promise.all(
        this.#callers.all.filter((caller) => caller.session && caller.principal === principal).map((caller) => caller.rootsChanged()),
      );
    });
  }

  #addSubscriptions(): void {
    this.use('resources/subscribe', async ({ app, params }, next) => {
      const uri = String(params['uri']);
      const isNew = !app.watches.has(uri);
      await app.watches.add(uri);
      try {
        return await next();
      } catch (error) {
        // The session has too many subscriptions.
        if (isNew) await app.watches.remove(uri).catch(() => undefined);
        throw error;
      }
    });
    this.use('resources/unsubscribe', async ({ app, params }, next) => {
      await app.watches.remove(String(params['uri']));
      return next();
    });
    this.use('subscriptions/listen', async ({ app, params }, next) => {
      const filter = params['notifications'] as JsonObject;
      const wanted = Array.isArray(filter['resourceSubscriptions']) ? filter['resourceSubscriptions'].map(String) : [];
      // The endpoint refuses more than that.
      if (new Set(wanted).size > (this.#options.endpoint?.maxSubscriptions ?? 1_000)) return next();
      const watched: string[] = [];
      // A connection to each server, which reports the changes that the client wants.
      const lists = LIST_FILTERS.flatMap(([key, , names]) => (filter[key] === true ? names : []));
      await Promise.all(lists.map((list) => app.offers(list)));
      try {
        // What the server behind refuses is left out of what the gateway acknowledges.
        for (const uri of wanted)
          await app.watches.add(uri).then(
            () => watched.push(uri),
            () => undefined,
          );
        const accepted = wanted.length > 0 ? { ...filter, resourceSubscriptions: watched as JsonValue } : filter;
        return await next({ ...params, notifications: accepted });
      } finally {
        for (const uri of watched) await app.watches.remove(uri).catch(() => undefined);
      }
    });
  }

  // ---- connections

  #createCaller(call: Omit<MiddlewareCall<undefined>, 'app'>): Caller {
    return new Caller({
      options: this.#options,
      clock: this.#clock,
      pool: this.#pool,
      publish: (event) => void this.#bus.publish(event),
      onTools: (offers) => this.#learnParamHeaders(offers),
      report: (server, error) => this.#report(server, error),
      call,
    });
  }

  /** Makes the one connection to a server that all callers share. */
  #createPooled(name: string): Backend {
    return new Backend({
      name,
      options: this.#options,
      clock: this.#clock,
      caller: undefined,
      asked: undefined,
      owner: {
        onAllChanged: () => this.#callers.all.forEach((caller) => caller.onAllChanged()),
        onListChanged: (list) => this.#callers.all.forEach((caller) => caller.onListChanged(list)),
        onError: (error) => this.#report(name, error),
        onUpdated: (uri) => this.#callers.all.forEach((caller) => caller.onUpdated(uri)),
        onLog: () => undefined,
        onElicitationComplete: () => undefined,
      },
    });
  }

  #report(server: string, error: Error): void {
    this.#options.logger?.log('warning', `The server "${server}" behind the gateway: ${error.message}`);
  }
}

function isEqual(one: ParamHeaders, other: ParamHeaders | undefined): boolean {
  return other !== undefined && JSON.stringify([...one]) === JSON.stringify([...other]);
}
