/** The wire of a v1 `Server`: our low-level `Server`, which serves clients of every revision. */

import {
  type JsonObject,
  type JsonRpcRequest,
  isMortiseError,
  ProtocolError,
  type RequestId,
  type ServerConnection,
  type Transport as OurTransport,
} from '@mortise/jsonrpc-core';
import { type Revision, revisionsOf } from '@mortise/protocol';
import type { EndpointTransport, ExtensionCall } from '@mortise/protocol/contracts';
import type { HandlerContext } from '@mortise/server';
import { isModernParams } from '@mortise/protocol/wire';
import { type MiddlewareCall, Server as Core } from '@mortise/server/low-level';
import { wrapTransport } from '@mortise/jsonrpc-core/wrap';
import type { Transport } from '../shared/transport.ts';
import { type Inbound, toErrorObject, type Wire, type WireRequestOptions } from '../shared/wire.ts';
import * as v1 from '../types.ts';
import { current, incoming, type Running } from './incoming.ts';
import type { Server } from './index.ts';

/** The newest revision with sessions: the shapes that v1 programs know. */
const [NEWEST_LEGACY] = revisionsOf('legacy');
/** What our server answers by itself. */
const OWN_METHODS: ReadonlySet<string> = new Set(['initialize', 'ping', 'server/discover', 'subscriptions/listen', 'logging/setLevel']);
const OPENING = 'notifications/initialized';
/** Notifications that v1 handles itself, so that its fallback handler never gets them. */
const OWN_NOTIFICATIONS: ReadonlySet<string> = new Set([OPENING, 'notifications/cancelled', 'notifications/progress']);

/** `initialize` for a client that sends requests without it, which v1 serves. Nobody gets its response. */
const SILENT_OPENING: JsonRpcRequest = {
  jsonrpc: '2.0',
  id: 'compat-v1: initialize',
  method: 'initialize',
  params: {
    protocolVersion: v1.LATEST_PROTOCOL_VERSION,
    // v1 lets the client refuse what it does not know.
    capabilities: { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } },
    clientInfo: { name: 'unknown', version: '0' },
  },
};

/** What the server says of itself. */
interface Declared {
  readonly info: v1.Implementation;
  readonly capabilities: v1.ServerCapabilities;
  readonly instructions: string | undefined;
}
interface ClientFacts {
  readonly info: v1.Implementation | undefined;
  readonly capabilities: v1.ClientCapabilities;
}

export class ServerWire implements Wire {
  readonly #core: Core;
  readonly #server: Server;
  readonly #transport: Transport;
  readonly #onClosed: () => void;
  #connection: ServerConnection | undefined;
  /** The result of the first `initialize`. */
  #opened: Promise<JsonObject> | undefined;
  #client: ClientFacts | undefined;
  /** The way to the client outside of its requests. */
  #session: ExtensionCall | undefined;
  /** The requests that are being handled, by the ids that their clients gave them. */
  readonly #running = new Map<RequestId, HandlerContext>();
  /** The revision of the last request. */
  #revision: Revision | undefined;

  /** @param onClosed Called once, when the connection has ended. */
  constructor(server: Server, { info, capabilities, instructions }: Declared, transport: Transport, onClosed: () => void) {
    this.#server = server;
    this.#transport = transport;
    this.#onClosed = onClosed;
    this.#core = new Core(info as ConstructorParameters<typeof Core>[0], {
      capabilities: capabilities as JsonObject,
      instructions,
      // v1 lets a handler run for as long as it likes.
      handlerTimeoutMs: Infinity,
      logger: { log: (_level, _message, data) => data?.['error'] !== undefined && server._report(data['error']) },
    });
    this.#core.use('initialize', (call, next) => {
      if (call.requestId !== SILENT_OPENING.id) this.#client = toClient(call.client);
      const opened = next();
      this.#opened = opened;
      opened.catch(() => (this.#opened = undefined));
      return server._handles('initialize') ? this.#initialize(call, opened) : opened;
    });
    this.#core.onAnyRequest(({ method }) => {
      // Removed when the request ends, because a client can invent any number of methods.
      if (server.fallbackRequestHandler && !server._handles(method) && !OWN_METHODS.has(method)) this.handle(method, true);
      return undefined;
    });
    this.listen(OPENING, false);
  }

  // ---- the connection

  async open(): Promise<void> {
    const transport = this.#transport;
    const isEndpoint = isEndpointTransport(transport);
    this.#connection = await this.#core.connect(isEndpoint ? transport : this.#adapt(transport));
    if (isEndpoint) void this.#connection.closed.then(() => this.#end());
  }

  #adapt(transport: Transport): OurTransport {
    const server = this.#server;
    return wrapTransport(transport as unknown as OurTransport, {
      receive: (message, info, next) => {
        const method = 'method' in message && !('id' in message) ? message.method : OPENING;
        const isUnhandled = !OWN_NOTIFICATIONS.has(method) && !server._hears(method);
        if (server.fallbackNotificationHandler && isUnhandled) server._notice(message as v1.Notification);
        if ('method' in message && 'id' in message && message.method !== 'ping' && !isModernParams(message.params)) {
          if (this.#opened && message.method === 'initialize') return void this.#openAgain(message).catch((error) => server._report(error));
          if (!this.#opened && message.method !== 'initialize') next(SILENT_OPENING);
        }
        // Also without `info`, if this message is delivered while another is handled.
        if (info || incoming.getStore()) incoming.run(info as v1.MessageExtraInfo, () => next(message));
        else next(message);
      },
      send: async (message, options, next) => {
        if ('method' in message || message.id !== SILENT_OPENING.id) await next(message, options);
      },
      error: (error, next) => {
        next(error);
        server._report(error);
      },
      close: (next) => {
        next();
        this.#end();
      },
    });
  }

  #end(): void {
    this.#session = undefined;
    this.#onClosed();
  }

  async close(): Promise<void> {
    await (this.#connection ?? this.#transport).close();
  }

  // ---- in

  handle(method: string, isSet: boolean): void {
    if (method === 'ping' || method === 'initialize') return;
    if (isSet) this.#core.setRequestHandler(method as string, (request, ctx) => this.#serve(request, ctx));
    else this.#core.removeRequestHandler(method);
  }

  listen(method: string, isSet: boolean): void {
    const isOpening = method === OPENING;
    if (!isSet && !isOpening) {
      this.#core.removeNotificationHandler(method);
      return;
    }
    this.#core.setNotificationHandler(method, ({ params }, call) => {
      if (isOpening) this.#session = call;
      if (this.#server._hears(method)) this.#server._notice({ method, params });
      else if (isOpening) this.#server.oninitialized?.();
    });
  }

  /** Answers a further `initialize` on the connection, such as that of a second client behind a bridge. The session stays as it is. */
  async #openAgain(request: JsonRpcRequest): Promise<void> {
    const { id } = request;
    const { data, error } = v1.InitializeRequestSchema.safeParse(request);
    if (!data) return this.#transport.send({ jsonrpc: '2.0', id, error: { code: v1.ErrorCode.InvalidParams, message: error.message } });
    const { protocolVersion, capabilities, clientInfo } = data.params;
    this.#client = toClient({ info: clientInfo, capabilities });
    const result = { ...(await this.#opened) } as v1.InitializeResult;
    if (v1.SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion)) result.protocolVersion = protocolVersion;
    await this.#transport.send({ jsonrpc: '2.0', id, result });
  }

  /** Opens the session as always, and answers what the program's own handler of `initialize` says. */
  async #initialize({ requestId, params, signal, sessionId }: MiddlewareCall, opening: Promise<JsonObject>): Promise<JsonObject> {
    await opening;
    const request = { jsonrpc: '2.0', id: requestId, method: 'initialize', params } as v1.JSONRPCRequest;
    return (await this.#server._answer(request, { signal, sessionId, info: incoming.getStore() })) as JsonObject;
  }

  /** Runs a handler. What it throws reaches the client with its message, as in v1. */
  async #serve({ method, params }: { readonly method: string; readonly params: JsonObject }, ctx: HandlerContext): Promise<JsonObject> {
    this.#revision = ctx.revision;
    const isModern = ctx.era === 'modern';
    const known = isModern ? (NEWEST_LEGACY?.toWire.params.get(method)?.(params) ?? params) : params;
    const id = ctx.requestId ?? 0;
    const request = { jsonrpc: '2.0', id, method, params: known } as v1.JSONRPCRequest;
    const inbound: Inbound = {
      // Made when a handler asks for it.
      get signal() {
        return ctx.signal;
      },
      sessionId: ctx.sessionId,
      info: incoming.getStore(),
    };
    // A task outlives the request that started it, so its questions go through the session.
    const running: Running = { ctx, isOver: params['task'] !== undefined };
    if (!running.isOver) this.#running.set(id, ctx);
    const answer = (): unknown => this.#server._answer(request, inbound);
    try {
      // With one connection and a session, all that a handler sends has one way. The storage would make every promise of the program dearer.
      return (await (isModern || isEndpointTransport(this.#transport) ? current.run(running, answer) : answer())) as JsonObject;
    } catch (error) {
      // Asking a modern client throws ERR_SUSPENDED, which our server must catch.
      if (isMortiseError(error) && (error.code === 'ERR_SUSPENDED' || error.code === 'ERR_PROTOCOL')) throw error;
      const { code, message, data } = toErrorObject(error);
      throw new ProtocolError(code, message, data as JsonObject | undefined, { cause: error });
    } finally {
      running.isOver = true;
      if (this.#running.get(id) === ctx) this.#running.delete(id);
      if (!this.#server._handles(method)) this.#core.removeRequestHandler(method);
    }
  }

  // ---- out

  request(method: string, params: JsonObject | undefined, options: WireRequestOptions): Promise<JsonObject> {
    const { signal, onProgress, relatedRequestId, timeoutMs, maxTimeoutMs, resetTimeoutOnProgress } = options;
    const times = { timeoutMs, maxTimeoutMs, resetTimeoutOnProgress };
    const ask = { method, ...times, ...(params && { params }), ...(signal && { signal }), ...(onProgress && { onProgress }) };
    const ctx = this.#find(relatedRequestId);
    if (ctx) return ctx.run.ask(ask);
    if (this.#session) return this.#session.request(ask);
    return Promise.reject(
      new v1.McpError(
        v1.ErrorCode.ConnectionClosed,
        `"${method}" cannot reach a client: there is no session, and no request is being handled`,
      ),
    );
  }

  async notify(method: string, params: JsonObject | undefined, relatedRequestId: RequestId | undefined): Promise<void> {
    const core = this.#core;
    const ctx = this.#find(relatedRequestId);
    const isModern = (ctx?.revision ?? this.#revision)?.era === 'modern';
    if (ctx && (isModern || relatedRequestId !== undefined)) return ctx.sendNotification({ method, params });
    if (!isModern) return core.notify(method, params);
    if (method === 'notifications/tools/list_changed') return core.sendToolListChanged();
    if (method === 'notifications/prompts/list_changed') return core.sendPromptListChanged();
    if (method === 'notifications/resources/list_changed') return core.sendResourceListChanged();
    if (method === 'notifications/resources/updated') return core.sendResourceUpdated({ uri: String(params?.['uri']) });
  }

  /** Finds the request that is being handled: the one whose handler calls, or the one named. */
  #find(id: RequestId | undefined): HandlerContext | undefined {
    const ctx = handled() ?? (id === undefined ? undefined : this.#running.get(id));
    return ctx?.signal.aborted === true ? undefined : ctx;
  }

  /** Sends a log message, if the client's log level includes it. */
  async log({ level, logger, ...params }: v1.LoggingMessageNotificationParams, sessionId: string | undefined): Promise<void> {
    const data = params.data as JsonObject;
    const ctx = handled();
    if (ctx?.era === 'modern') return ctx.log(level, data, logger);
    await this.#core.sendLoggingMessage({ level, data, ...(logger !== undefined && { logger }) }, sessionId);
  }

  // ---- the client

  /** Whether the client that is being served has no core tasks. Read before the handler of its request awaits anything. */
  get isWithoutTasks(): boolean {
    return this.#revision?.rules.coreTasks === false;
  }

  /** The client that asks, or that has opened the session. */
  get client(): ClientFacts | undefined {
    const ctx = current.getStore()?.ctx;
    return ctx?.era === 'modern' ? toClient(ctx.client) : this.#client;
  }
}

/** The context of the request whose handler calls. Undefined outside of handlers, and in what a handler left running. */
function handled(): HandlerContext | undefined {
  const running = current.getStore();
  return running && !running.isOver && !running.ctx.signal.aborted ? running.ctx : undefined;
}

function toClient({ info, capabilities }: { readonly info: object | undefined; readonly capabilities: object }): ClientFacts {
  const read = v1.ClientCapabilitiesSchema.safeParse(capabilities);
  return { info: info as v1.Implementation | undefined, capabilities: read.success ? read.data : {} };
}

function isEndpointTransport(transport: object): transport is Transport & EndpointTransport {
  return typeof (transport as Partial<EndpointTransport>).attach === 'function';
}
