/** `inspectorHandler` and `serveInspector`: the page and its WebSocket, on a server of the program or on one of their own. */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import { createHostGuard, isLoopbackHost } from '@mortise/protocol/edge';
import { attachWebSocket } from '@mortise/transport-ws-custom/server';
import type { ServerTarget } from '../messages.ts';
import { Inspector } from './inspector.ts';
import { type PageFile, readPage } from './page-file.ts';

/** The options of `inspectorHandler`. */
export interface InspectorOptions {
  /** Where the page is mounted; the token follows it. @default '/inspector' */
  readonly path?: string | undefined;
  /** Servers to connect to when the page is first opened. @default none */
  readonly servers?: readonly ServerTarget[] | undefined;
  /** The secret part of the page's address: at least 16 of the characters A-Z, a-z, 0-9, `-` and `_`. @default 144 random bits */
  readonly token?: string | undefined;
  /** `Host` headers under which the page may be opened, for a server that is not on a loopback address. @default loopback names only */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Lets the inspector start although `NODE_ENV` is `production`. Whoever knows the address can start programs on this machine. @default false */
  readonly allowProduction?: boolean | undefined;
}

/** The options of `serveInspector`. */
export interface ServeInspectorOptions extends InspectorOptions {
  /** The port to listen on; 0 takes a free one. @default 0 */
  readonly port?: number | undefined;
}

/** An inspector that a program mounts on its own HTTP server. */
export interface InspectorHandler extends AsyncDisposable {
  /** The path of the page, with the token: `/inspector/<token>/`. Whoever knows it can use the page. */
  readonly path: string;
  /** Answers requests below the option `path`. Others go to `next`, or get 404 without one. */
  node(request: IncomingMessage, response: ServerResponse, next?: () => void): void;
  /** Takes the WebSocket upgrades of an HTTP server that are for the page. Leaves others to the server's other listeners, or refuses them if it has none. */
  attach(server: Pick<EventEmitter, 'on' | 'off' | 'listenerCount'>): void;
  /**
   * Connects anew to every server, as after a change of its program. Never rejects.
   *
   * @returns Why servers were not reached, a text for each; the page shows it too.
   */
  reconnect(): Promise<readonly string[]>;
  /** Closes all connections, to pages and to servers. May be called twice. */
  close(): Promise<void>;
}

/** An inspector with an HTTP server of its own. */
export interface InspectorServing extends AsyncDisposable {
  /** The address of the page, with the token. */
  readonly url: string;
  /**
   * Connects anew to every server, as after a change of its program. Never rejects.
   *
   * @returns Why servers were not reached, a text for each; the page shows it too.
   */
  reconnect(): Promise<readonly string[]>;
  /** Closes all connections, to pages and to servers, and stops to listen. May be called twice. */
  close(): Promise<void>;
}

const OPTIONS: OptionTable<InspectorOptions> = {
  path: 'string',
  servers: 'array',
  token: 'string',
  allowedHosts: 'array',
  allowProduction: 'boolean',
};
const SERVE_OPTIONS: OptionTable<ServeInspectorOptions> = { ...OPTIONS, port: 0 };
/** What a page may send in one message, in bytes: arguments of a call may be long. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * Makes an inspector for a program's own HTTP server, for development.
 *
 * The page can start programs and reach all that this machine reaches. So its address has a secret token, only a page of the same origin may
 * open the WebSocket, and `Host` is checked.
 *
 * @throws {TypeError} An option is invalid.
 * @throws {Error} `NODE_ENV` is `production` and `allowProduction` is not set.
 */
export function inspectorHandler(options: InspectorOptions = {}): InspectorHandler {
  checkOptions('inspectorHandler', options, OPTIONS);
  if (process.env['NODE_ENV'] === 'production' && options.allowProduction !== true)
    throw new Error(
      'inspectorHandler: NODE_ENV is "production", and the inspector can start programs. Set allowProduction to start it all the same',
    );
  return new Handler(options);
}

/**
 * Serves an inspector on a loopback address.
 *
 * @throws As `inspectorHandler`; and an `Error` of Node, such as `EADDRINUSE`, if the port cannot be listened on.
 */
export async function serveInspector({ port = 0, ...options }: ServeInspectorOptions = {}): Promise<InspectorServing> {
  checkOptions('serveInspector', { port, ...options }, SERVE_OPTIONS);
  const handler = inspectorHandler({ path: '/', ...options });
  const server = createServer((request, response) => handler.node(request, response));
  handler.attach(server);
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    await handler.close();
    throw error;
  }
  const { port: own } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    await handler.close();
    await closeServer(server);
  };
  return {
    url: `http://127.0.0.1:${own}${handler.path}`,
    reconnect: () => handler.reconnect(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

class Handler implements InspectorHandler {
  readonly path: string;
  readonly #base: string;
  #page: PageFile | undefined;
  readonly #inspector: Inspector;
  readonly #guard: ReturnType<typeof createHostGuard>;
  readonly #upgrades = new EventEmitter();
  readonly #link: ReturnType<typeof attachWebSocket>;
  readonly #detach: (() => void)[] = [];

  constructor({ path = '/inspector', servers = [], token = randomBytes(18).toString('base64url'), allowedHosts = [] }: InspectorOptions) {
    if (!/^\/$|^(?:\/[\w.~-]+)+\/?$/.test(path))
      throw new TypeError(`inspectorHandler: "path" must be a path such as "/inspector", got "${path}"`);
    if (!/^[\w-]{16,}$/.test(token))
      throw new TypeError('inspectorHandler: "token" must have at least 16 of the characters A-Z, a-z, 0-9, - and _');
    this.#base = path.endsWith('/') ? path : `${path}/`;
    this.path = `${this.#base}${token}/`;
    this.#inspector = new Inspector(servers);
    this.#guard = createHostGuard({ allowedHosts });
    const link = { path: `${this.path}link`, allowedHosts, maxMessageBytes: MAX_MESSAGE_BYTES };
    this.#link = attachWebSocket(this.#inspector, this.#upgrades, link);
  }

  node(request: IncomingMessage, response: ServerResponse, next?: () => void): void {
    const path = pathOf(request);
    if (next && !path.startsWith(this.#base)) return next();
    const isShort = isSame(`${path}/`, this.path);
    const refusal = this.#refusalOf(request, isShort ? path : this.path);
    if (refusal) return send(response, ...refusal);
    if (isShort) return send(response, 308, '', { location: this.path });
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, 'Only GET is allowed.');
    const { html, policy } = (this.#page ??= readPage());
    send(response, 200, request.method === 'HEAD' ? '' : html, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  }

  attach(server: Pick<EventEmitter, 'on' | 'off' | 'listenerCount'>): void {
    const listener = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      // With an upgrade Node hands over the socket, its errors too.
      socket.on('error', () => undefined);
      if (pathOf(request).startsWith(this.#base)) this.#onUpgrade(request, socket, head);
      else if (server.listenerCount('upgrade') === 1) refuse(socket, 404);
    };
    server.on('upgrade', listener);
    this.#detach.push(() => server.off('upgrade', listener));
  }

  reconnect(): Promise<readonly string[]> {
    return this.#inspector.reconnect();
  }

  async close(): Promise<void> {
    for (const detach of this.#detach.splice(0)) detach();
    await this.#inspector.close();
    await this.#link.close({ drainMs: 0 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { origin, host } = request.headers;
    const isOwnPage = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
    const refusal =
      this.#refusalOf(request, `${this.path}link`) ??
      (isOwnPage ? undefined : ([403, 'Only the inspector’s own page may connect.'] as const));
    if (refusal) refuse(socket, refusal[0]);
    else this.#upgrades.emit('upgrade', request, socket, head);
  }

  /** Why a request gets nothing: a wrong `Host` or `Origin`, or a path without the token. */
  #refusalOf(request: IncomingMessage, expected: string): readonly [number, string] | undefined {
    const isLoopbackSocket = isLoopbackHost(request.socket.localAddress ?? '');
    const { origin } = request.headers;
    // Of two `Host` lines Node gives the first as `headers.host`.
    const hosts = request.headersDistinct['host'] ?? [];
    const host = hosts.length === 1 ? hosts[0] : undefined;
    const reason = this.#guard({ host, origin, isLoopbackSocket });
    if (reason !== undefined) return [403, reason];
    if (!isSame(pathOf(request), expected))
      return [404, 'There is nothing here. Use the address that the program printed, with its token.'];
    return undefined;
  }
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.replace(/[?#].*$/s, '');

/** Compares without telling by its time where two texts differ. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function send(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(text);
}
