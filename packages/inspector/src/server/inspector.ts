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
import { describe, InspectedServer } from './inspected-server.ts';
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
/** The code of errors that are not the server's own. */
const FAILED = -32_000;

export class Inspector implements Connectable {
  readonly #servers = new Map<string, InspectedServer>();
  readonly #pages = new Set<Connection>();
  #unopened: readonly InspectedServer[];
  #events: InspectorEvent[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param targets Connected when the first page is opened: a page may be served by the very server that it looks at. */
  constructor(targets: readonly ServerTarget[]) {
    this.#unopened = targets.map((target) => this.#add(target));
  }

  /** Serves one page. */
  async connect(transport: Transport): Promise<ServerConnection> {
    const page = new Connection(transport, {
      onRequest: (request, call) => this.#onRequest(request, call),
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

  /** Connects anew to every server. @returns Why servers were not reached. */
  async reconnect(): Promise<readonly string[]> {
    const servers = [...this.#servers.values()];
    await Promise.all(servers.map((server) => server.open()));
    return servers.map(({ state }) => state).flatMap(({ status, reason = '' }) => (status === 'failed' ? [reason] : []));
  }

  /** @throws {TypeError} The target is not valid. */
  #add(target: ServerTarget): InspectedServer {
    checkTarget(target);
    const server = new InspectedServer(randomUUID(), target, (event) => this.#tell(event));
    this.#servers.set(server.id, server);
    return server;
  }

  async #onRequest({ id, method, params = {} }: JsonRpcRequest, call: InboundCall): Promise<JsonRpcResponse> {
    try {
      const handler = Object.hasOwn(this.#handlers, method) ? this.#handlers[method as InspectorMethod] : undefined;
      if (!handler) throw new ProtocolError(METHOD_NOT_FOUND, `The inspector has no method "${method}"`);
      return { jsonrpc: '2.0', id, result: ((await handler(params as never, call)) ?? {}) as JsonRpcResultResponse['result'] };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: toErrorObject(error) };
    }
  }

  readonly #handlers: Handlers = {
    // All that was told before is part of the snapshot.
    hello: () => {
      for (const server of this.#unopened) void server.open();
      this.#unopened = [];
      this.#flush();
      return {
        servers: Array.from(this.#servers.values(), (server) => server.snapshot()),
        revisions: REVISIONS.map(({ version }) => version),
      };
    },
    connect: ({ target }) => {
      const server = this.#add(target);
      void server.open();
      return { server: server.id };
    },
    disconnect: async ({ server: id, forgets }) => {
      const server = this.#find(id);
      if (forgets) this.#servers.delete(id);
      await server.close();
      if (forgets) this.#tell({ type: 'gone', server: id });
    },
    reconnect: ({ server }) => this.#find(server).open(),
    list: ({ server, list }) => this.#find(server).list(list),
    request: async ({ server, method, params }, call) => {
      const token = (call.message.params?.['_meta'] as JsonObject | undefined)?.['progressToken'];
      const onProgress = (progress: object): void => {
        if (token !== undefined) void call.notify('notifications/progress', { ...progress, progressToken: token });
      };
      const answer = await this.#find(server).request(method, params, { signal: call.signal, onProgress });
      assertShowable(answer.result);
      return answer;
    },
    startTask: ({ server, tool, args }, { signal }) => this.#find(server).startTask(tool, args, signal),
    cancelTask: ({ server, task }) => this.#find(server).cancelTask(task),
    subscribe: ({ server, uri, isOn }) => this.#find(server).subscribe(uri, isOn),
    answer: ({ server, ask, answer }) => this.#find(server).answer(ask, answer),
    setRoots: ({ server, roots }) => this.#find(server).setRoots(roots),
    setLogLevel: ({ server, level }) => this.#find(server).setLogLevel(level),
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

function toErrorObject(thrown: unknown): { readonly code: number; readonly message: string } {
  if (thrown instanceof ProtocolError) return { code: thrown.rpcCode, message: thrown.message };
  const remote = [thrown, toError(thrown).cause].find((each) => each instanceof RemoteError);
  if (!remote) return { code: FAILED, message: describe(thrown) };
  const data = remote.data === undefined ? '' : `\n${JSON.stringify(remote.data, null, 2)}`;
  return { code: remote.rpcCode, message: `The server answered with error ${remote.rpcCode}: ${remote.message}${data}` };
}
