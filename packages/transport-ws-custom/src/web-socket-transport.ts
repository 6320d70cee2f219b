/** `webSocketTransport`: a client's transport over WebSocket, which is also a factory of new transports to the same server. */

import type { Clock, Transport } from '@mortise/jsonrpc-core';
import {
  checkOptions,
  createCallableTransport,
  type OptionTable,
  systemClock,
  type TransportFactory,
} from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import { isLoopbackHost } from '@mortise/protocol/edge';
import { Heartbeat } from './heartbeat.ts';
import type { ClientResumption, MessageSocket } from './message-socket.ts';
import { type ClientSocketSettings, openClientSocket } from './open-client-socket.ts';
import { SocketTransport } from './socket-transport.ts';
import type { WebSocketConstructor } from './web-socket.ts';
import { MCP_PROTOCOL } from './wire.ts';

/** The options of `webSocketTransport`. */
export interface WebSocketTransportOptions {
  /** Gives the headers that authorize the WebSocket upgrade, and handles 401 and 403. Browsers send only bearer tokens. @default none */
  readonly authorizer?: Authorizer | undefined;
  /** Additional headers of the WebSocket upgrade. Browsers can send only a bearer token. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Allows headers and tokens over `ws:` to other machines, which is unencrypted. @default false */
  readonly allowInsecure?: boolean | undefined;
  /** The longest message that the server may send, in bytes; a longer one ends the connection. @default 16 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** Resumes a broken connection, if the server supports it: `resumeOnClient()` of `/resume`. @default none: a broken connection ends */
  readonly resume?: ClientResumption | undefined;
  /** The WebSocket class to use. @default `ws` on Node, else the platform's */
  readonly webSocket?: WebSocketConstructor | undefined;
  /** The clock of timeouts and pings. @default the platform's */
  readonly clock?: Clock | undefined;
}

const OPTIONS: OptionTable<WebSocketTransportOptions> = {
  authorizer: 'object',
  headers: 'object',
  allowInsecure: 'boolean',
  maxMessageBytes: 1,
  resume: 'object',
  webSocket: 'function',
  clock: 'object',
};

/** A transport to a server. Calling it as a function returns another, unstarted transport to the same server. */
export interface WebSocketTransport extends Transport, TransportFactory {
  /** Identifies the server in caches of protocol revisions: its URL, with a digest in place of the query. */
  readonly eraKey: string;
}

/**
 * Makes a transport to a WebSocket server: `webSocketTransport('ws://127.0.0.1:3001/mcp')`.
 *
 * The result is also a factory, so that a client can reconnect: the client then rejects running requests with `ConnectionLostError` and
 * opens its subscriptions again. Nothing connects before `start`, which rejects after 10 s.
 *
 * @throws {TypeError} An option is unknown or has a wrong type, the URL is not `ws:` or `wss:` or has a user name, password or fragment, or
 *   credentials would go unencrypted to another machine.
 */
export function webSocketTransport(url: string | URL, options: WebSocketTransportOptions = {}): WebSocketTransport {
  checkOptions('webSocketTransport options', options, OPTIONS);
  const target = checkTarget(url, options);
  const factory: TransportFactory = () => createClientTransport(target.href, options);
  return createCallableTransport(Object.assign(factory(), { eraKey: toEraKey(target) }), factory);
}

/** The time between two pings. A server that is gone is noticed within two intervals. Browsers cannot ping. */
const HEARTBEAT_MS = 15_000;

function createClientTransport(url: string, options: WebSocketTransportOptions): Transport {
  const { resume, headers = {}, authorizer, webSocket, maxMessageBytes = 16 * 1024 * 1024, clock = systemClock } = options;
  // `mcp` is offered first: a server that always takes the first subprotocol then takes the one without resumption.
  const protocols = resume ? [MCP_PROTOCOL, resume.protocol] : [MCP_PROTOCOL];
  const target: ClientSocketSettings = { url, protocols, headers, authorizer, webSocket, maxMessageBytes, clock };
  const open = async (signal: AbortSignal): Promise<MessageSocket> => {
    const { socket, protocol } = await openClientSocket(target, signal);
    if (protocol !== resume?.protocol) return socket;
    return resume.join(socket, (later) => openClientSocket(target, later), { clock, signal });
  };
  const heartbeat = new Heartbeat(HEARTBEAT_MS, clock);
  return new SocketTransport({ open, heartbeat, clock, maxBacklogBytes: Infinity, info: undefined, expiresAtMs: undefined });
}

function checkTarget(url: string | URL, { authorizer, headers, allowInsecure }: WebSocketTransportOptions): URL {
  if (!URL.canParse(String(url))) throw new TypeError('The URL is not valid: give one such as ws://127.0.0.1:3001/mcp');
  const target = new URL(url);
  const { protocol, hostname, username, password, hash } = target;
  if (protocol !== 'ws:' && protocol !== 'wss:') throw new TypeError(`The URL begins with "${protocol}": use ws:// or wss://`);
  if (username !== '' || password !== '')
    throw new TypeError('The URL contains a user name or password: use the option authorizer or headers');
  if (hash !== '') throw new TypeError('The URL contains a fragment, which WebSocket does not allow: remove it');
  const hasCredentials = authorizer !== undefined || Object.keys(headers ?? {}).length > 0;
  if (protocol === 'ws:' && hasCredentials && allowInsecure !== true && !isLoopbackHost(hostname)) {
    throw new TypeError(`Credentials would be sent to ${hostname} unencrypted: use wss://, or set allowInsecure`);
  }
  return target;
}

/** Gives the server's URL with a 32-bit hash in place of the query, which may contain secrets. */
function toEraKey({ origin, pathname, search }: URL): string {
  if (search === '') return origin + pathname;
  let hash = 0x811c9dc5;
  for (let at = 0; at < search.length; at++) hash = Math.imul(hash ^ search.charCodeAt(at), 0x01000193);
  return `${origin}${pathname}#${(hash >>> 0).toString(16).padStart(8, '0')}`;
}
