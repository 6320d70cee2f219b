/** A WebSocket server as a client's program names it once: a transport to it, and a maker of fresh ones. */

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
  /** Gives the upgrade its authorization, and is asked again after a 401 or 403. A browser can only send bearer tokens. @default none */
  readonly authorizer?: Authorizer | undefined;
  /** More headers of the upgrade. Not in browsers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether headers and tokens may travel unencrypted to other machines. @default false */
  readonly allowInsecure?: boolean | undefined;
  /** The longest message that the server may send, in bytes; a longer one ends the connection. @default 16 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** Goes on after a broken connection with nothing lost, where the server can: `resumeOnClient()` of `/resume`. @default none: a break is a loss */
  readonly resume?: ClientResumption | undefined;
  /** A constructor to use in place of the platform's. @default the platform's, on Node `ws` */
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

/** A transport to a server. Called, it gives another, unstarted one. */
export interface WebSocketTransport extends Transport, TransportFactory {
  /** Names the server: its address, of a query only a digest. */
  readonly eraKey: string;
}

/**
 * Describes a server that is reached by WebSocket: `webSocketTransport('ws://127.0.0.1:3001/mcp')`.
 *
 * The result is a transport and a factory at once, so that a client can connect again after a loss: calls in flight are
 * rejected with `ConnectionLostError`, subscriptions are opened again. Nothing happens before `start`, which gives up after 10 s.
 *
 * @throws {TypeError} An option is unknown or has a wrong type, the URL is not ws or wss or holds a password or a fragment, or credentials
 *   would travel unencrypted to another machine.
 */
export function webSocketTransport(url: string | URL, options: WebSocketTransportOptions = {}): WebSocketTransport {
  checkOptions('webSocketTransport options', options, OPTIONS);
  const target = checkTarget(url, options);
  const factory: TransportFactory = () => createClientTransport(target.href, options);
  return createCallableTransport(Object.assign(factory(), { eraKey: toEraKey(target) }), factory);
}

/** A server that is gone is noticed within two pings. Browsers have none. */
const HEARTBEAT_MS = 15_000;

function createClientTransport(url: string, options: WebSocketTransportOptions): Transport {
  const { resume, headers = {}, authorizer, webSocket, maxMessageBytes = 16 * 1024 * 1024, clock = systemClock } = options;
  // A server that takes the first of them takes the plain one.
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
  if (!URL.canParse(String(url))) throw new TypeError('The URL cannot be read: give one such as ws://127.0.0.1:3001/mcp');
  const target = new URL(url);
  const { protocol, hostname, username, password, hash } = target;
  if (protocol !== 'ws:' && protocol !== 'wss:') throw new TypeError(`The URL begins with "${protocol}": use ws:// or wss://`);
  if (username !== '' || password !== '') throw new TypeError('The URL holds a user name or password: give an authorizer or headers');
  if (hash !== '') throw new TypeError('The URL holds a fragment, which WebSocket forbids: leave it out');
  const hasCredentials = authorizer !== undefined || Object.keys(headers ?? {}).length > 0;
  if (protocol === 'ws:' && hasCredentials && allowInsecure !== true && !isLoopbackHost(hostname)) {
    throw new TypeError(`Credentials would travel to ${hostname} unencrypted: use wss://, or set allowInsecure`);
  }
  return target;
}

/** The address without what may be secret: 32 bits of a query tell it from others and give nothing away. */
function toEraKey({ origin, pathname, search }: URL): string {
  if (search === '') return origin + pathname;
  let hash = 0x811c9dc5;
  for (let at = 0; at < search.length; at++) hash = Math.imul(hash ^ search.charCodeAt(at), 0x01000193);
  return `${origin}${pathname}#${(hash >>> 0).toString(16).padStart(8, '0')}`;
}
