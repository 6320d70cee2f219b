/** `Inspector`: all servers of one inspector. Answers the requests of pages, and sends events to all of them. */

import { randomUUID } from 'node:crypto';
import {
  type Connectable,
  type JsonObject,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type JsonRpcResultResponse,
  ProtocolError,
  RemoteError,
  type ServerConnection,
  type Transport,
} from '@mortise/jsonrpc-core';
import { Connection, type InboundCall } from '@mortise/jsonrpc-core/connection';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { toError } from '@mortise/jsonrpc-core/transport';
import { REVISIONS } from '@mortise/protocol';
import type { InspectorEvent, InspectorMethod, InspectorRequests, ServerTarget } from '../messages.ts';
import { copyMessage } from './copy.ts';
import { InspectedServer } from './inspected-server.ts';
import { checkTarget } from './to-transport.ts';

type Handlers = {
  readonly [M in InspectorMethod]: (
    params: InspectorRequests[M][0],
    call: InboundCall,
  ) => InspectorRequests[M][1] | Promise<InspectorRequests[M][1]>;
};

/** How long events wait for others to be sent with them, in milliseconds. */
const EVENT_MS = 25;
/** A longer text of a message is cut for the page. A longer result is not sent to it, but kept on the wire's record. */
const MAX_RESULT = 8 * 1024 * 1024;
const MAX_SERVERS = 50;
/** The code of errors that are not the server's own. */
const FAILED = -32_000;
const NOTHING = {};

export class Inspector implements Connectable {
  readonly #suggested: readonly ServerTarget[];
  readonly #servers = new Map<string, InspectedServer>();
  readonly #pages = new Set<Connection>();
  #events: InspectorEvent[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param suggested Offered in the page. */
  constructor(suggested: readonly ServerTarget[]) {
    for (const target of suggested) checkTarget(target);
    this.#suggested = suggested;
  }

  /** Serves one page. */
  async connect(transport: Transport): Promise<ServerConnection> {
    const page = new Connection(transport, {
      onRequest: (request, call) => this.#onRequest(request, call),
      requestTimeoutMs: 60_000,
    });
    await page.start();
    this.#pages.add(page);
    void page.closed.then(() => this.#pages.delete(page));
    return page;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const servers = [...this.#servers.values()];
    this.#servers.clear();
    await Promise.all(servers.map((server) => server.close()));
    await Promise.all([...this.#pages].map((page) => page.close()));
  }

  async reconnect(): Promise<void> {
    await Promise.all(Array.from(this.#servers.values(), (server) => server.open()));
  }

  /** Connects a server. @throws {TypeError} The target is not valid. */
  add(target: ServerTarget): string {
    checkTarget(target);
    if (this.#servers.size >= MAX_SERVERS) throw new Error(`At most ${MAX_SERVERS} servers can be inspected at once: remove one`);
    const server = new InspectedServer(randomUUID(), target, (event) => this.#tell(event));
    this.#servers.set(server.id, server);
    void server.open();
    return server.id;
  }

  async #onRequest({ id, method, params = {} }: JsonRpcRequest, call: InboundCall): Promise<JsonRpcResponse> {
    try {
      const handler = Object.hasOwn(this.#handlers, method) ? this.#handlers[method as InspectorMethod] : undefined;
      if (!handler) throw new ProtocolError(METHOD_NOT_FOUND, `The inspector has no method "${method}"`);
      return { jsonrpc: '2.0', id, result: (await handler(params as never, call)) as JsonRpcResultResponse['result'] };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: toErrorObject(error) };
    }
  }

  readonly #handlers: Handlers = {
    // All that was told before is part of the snapshot.
    hello: () => {
      this.#flush();
      return {
        servers: Array.from(this.#servers.values(), (server) => server.snapshot()),
        suggested: this.#suggested,
        revisions: REVISIONS.map(({ version }) => version),
      };
    },
    connect: ({ target }) => ({ server: this.add(target) }),
    disconnect: async ({ server: id, forgets }) => {
      const server = this.#find(id);
      if (forgets) this.#servers.delete(id);
      await server.close();
      if (forgets) this.#tell({ type: 'gone', server: id });
      return NOTHING;
    },
    reconnect: async ({ server }) => {
      await this.#find(server).open();
      return NOTHING;
    },
    list: ({ server, list }) => this.#find(server).list(list),
    request: async ({ server, method, params }, call) => {
      const { _meta, ...own } = params;
      const token = (call.message.params?.['_meta'] as JsonObject | undefined)?.['progressToken'];
      const onProgress = (progress: object): void => {
        if (token !== undefined) void call.notify('notifications/progress', { ...progress, progressToken: token });
      };
      const meta = _meta === undefined ? {} : { _meta };
      const answer = await this.#find(server).request(method, { ...own, ...meta }, { signal: call.signal, onProgress });
      assertShowable(answer.result);
      return answer;
    },
    startTask: ({ server, tool, args }, { signal }) => this.#find(server).startTask(tool, args, signal),
    cancelTask: async ({ server, task }) => {
      await this.#find(server).cancelTask(task);
      return NOTHING;
    },
    subscribe: async ({ server, uri, isOn }) => {
      await this.#find(server).subscribe(uri, isOn);
      return NOTHING;
    },
    answer: ({ server, ask, answer }) => {
      this.#find(server).answer(ask, answer);
      return NOTHING;
    },
    setRoots: async ({ server, roots }) => {
      await this.#find(server).setRoots(roots);
      return NOTHING;
    },
    setLogLevel: async ({ server, level }) => {
      await this.#find(server).setLogLevel(level);
      return NOTHING;
    },
    message: ({ server, seq, most }) => {
      const text = this.#text(server, seq);
      const shown = Math.min(most, MAX_RESULT);
      return { text: text.slice(0, shown), isCut: text.length > shown };
    },
    copy: ({ server: id, seq, as }) => {
      const { wire, state } = this.#find(id);
      const response = wire.responseTo(seq);
      const texts = { text: this.#text(id, seq), response: response && wire.text(response.seq) };
      return { text: copyMessage(as, texts, state) };
    },
  };

  #find(id: string): InspectedServer {
    const server = this.#servers.get(id);
    if (server) return server;
    throw new ProtocolError(INVALID_PARAMS, 'There is no such server: it was removed');
  }

  #text(server: string, seq: number): string {
    const text = this.#find(server).wire.text(seq);
    if (text === undefined) throw new ProtocolError(INVALID_PARAMS, 'This message was dropped to make room for later ones');
    return text;
  }

  #tell(event: InspectorEvent): void {
    if (this.#pages.size === 0) return;
    this.#events.push(event);
    this.#timer ??= setTimeout(() => this.#flush(), EVENT_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#events as unknown as readonly JsonObject[];
    this.#events = [];
    if (events.length === 0) return;
    // A page that is gone opens another connection, and says hello.
    for (const page of this.#pages) page.notify('events', { events }).catch(() => undefined);
  }
}

function assertShowable(result: JsonObject): void {
  const length = JSON.stringify(result).length;
  if (length > MAX_RESULT)
    throw new Error(`The result has ${length} characters, and the page shows at most ${MAX_RESULT}: its beginning stands in the wire view`);
}

function toErrorObject(thrown: unknown): { readonly code: number; readonly message: string; readonly data?: JsonObject } {
  if (thrown instanceof ProtocolError) return { code: thrown.rpcCode, message: thrown.message };
  const { message, cause } = toError(thrown);
  const remote = thrown instanceof RemoteError ? thrown : cause instanceof RemoteError ? cause : undefined;
  if (remote) return { code: remote.rpcCode, message: remote.message, ...(remote.data !== undefined && { data: { data: remote.data } }) };
  return { code: FAILED, message: cause instanceof Error ? `${message}: ${cause.message}` : message };
}
