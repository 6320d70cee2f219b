/** A WebSocket server as a client's program names it once: a transport to it, and a maker of fresh ones. */

import type { Clock, Transport } from '@mortise/jsonrpc-core';
import {
  checkOptionRules,
  type OptionRules,
  createCallableTransport,
  systemClock,
  type TransportFactory,
} from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import { isLoopbackHost } from '@mortise/protocol/edge';
import { WebSocketOptionError } from './errors.ts';
import { Heartbeat } from './heartbeat.ts';
import { type ClientSocketSettings, openClientSocket } from './open-client-socket.ts';
import { type OpenedSocket, openResuming } from './resume-client.ts';
import { createSocketTransport } from './socket-transport.ts';
import { MCP_PROTOCOL, RESUME_PROTOCOL } from './subprotocol.ts';
import type { WebSocketConstructor } from './web-socket.ts';

/** How a client connects. */
export interface WebSocketTransportOptions {
  /** Gives the upgrade its authorization, and is asked again after a 401 or 403. A browser can only send bearer tokens. @default none */
  readonly authorizer?: Authorizer | undefined;
  /** More headers of the upgrade. Not in browsers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether headers and tokens may travel unencrypted to other machines. @default false */
  readonly allowInsecure?: boolean | undefined;
  /** The longest message that the server may send, in bytes; a longer one ends the connection. @default 16 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** How many bytes may wait for a slow server; beyond that `send` waits. @default 1 MiB */
  readonly maxQueuedBytes?: number | undefined;
  /** How long the server may read nothing of a full queue, in milliseconds. @default 30,000 */
  readonly stallMs?: number | undefined;
  /** How long opening may take, in milliseconds. @default 10,000 */
  readonly openTimeoutMs?: number | undefined;
  /** How long `close` waits for the server, in milliseconds. @default 2,000 */
  readonly closeTimeoutMs?: number | undefined;
  /** Between two pings, in milliseconds; a server that is gone is noticed within two. 0 for none; browsers have none. @default 15,000 */
  readonly heartbeatMs?: number | undefined;
  /**
   * How long it is tried to go on after the connection broke, in milliseconds, where the server agrees to `mortise.resume.v1`: nothing is
   * lost then, and nobody notices. 0 not to offer it. @default 60,000
   */
  readonly resumeWindowMs?: number | undefined;
  /** A constructor to use in place of the platform's. @default the platform's, on Node `ws` */
  readonly webSocket?: WebSocketConstructor | undefined;
  /** What tells the time. @default systemClock */
  readonly clock?: Clock | undefined;
}

/** A transport to a server. Called, it gives another, unstarted one. */
export interface WebSocketTransport extends Transport, TransportFactory {
  /** Names the server: its address, of a query only a digest. */
  readonly eraKey: string;
}

/**
 * Describes a server that is reached by WebSocket: `webSocketTransport('ws://127.0.0.1:3001/mcp')`.
 *
 * The result is a transport and a factory at once, so that a client can connect again after a loss: calls in flight are
 * rejected with `ConnectionLostError`, subscriptions are opened again. Nothing happens before `start`.
 *
 * @throws {WebSocketOptionError} `ERR_WEBSOCKET_OPTION`: the URL is not ws or wss, holds a password or a fragment,
 * credentials would travel unencrypted to another machine, or a numeric option is no number (NaN is none) or less than it may be; or
 * there is no such option.
 */
export function webSocketTransport(url: string | URL, options: WebSocketTransportOptions = {}): WebSocketTransport {
  checkOptionRules('a client over WebSocket', options, RULES, WebSocketOptionError);
  const target = checkTarget(url, options);
  const factory: TransportFactory = () => createClientTransport(target.href, options);
  return createCallableTransport(factory(), factory, { eraKey: toEraKey(target) });
}

const RULES: OptionRules<WebSocketTransportOptions> = {
  authorizer: 'no number',
  headers: 'no number',
  allowInsecure: 'no number',
  webSocket: 'no number',
  clock: 'no number',
  maxMessageBytes: 1,
  maxQueuedBytes: 1,
  stallMs: 0,
  openTimeoutMs: 0,
  closeTimeoutMs: 0,
  heartbeatMs: 0,
  resumeWindowMs: 0,
};

function createClientTransport(url: string, options: WebSocketTransportOptions): Transport {
  const { authorizer, headers = {}, webSocket, openTimeoutMs = 10_000, heartbeatMs = 15_000, clock = systemClock } = options;
  const { maxMessageBytes = 16 * 1024 * 1024, maxQueuedBytes, stallMs, closeTimeoutMs, resumeWindowMs = 60_000 } = options;
  const settings: ClientSocketSettings = {
    url,
    // A server that takes the first of them takes the plain one.
    protocols: resumeWindowMs > 0 ? [MCP_PROTOCOL, RESUME_PROTOCOL] : [MCP_PROTOCOL],
    headers,
    authorizer,
    webSocket,
    openTimeoutMs,
    maxMessageBytes,
    clock,
  };
  const open = (signal: AbortSignal): Promise<OpenedSocket> => openClientSocket(settings, signal);
  return createSocketTransport((signal) => openResuming({ open, openTimeoutMs, windowMs: resumeWindowMs, clock }, signal), {
    maxQueuedBytes,
    stallMs,
    closeTimeoutMs,
    heartbeat: heartbeatMs > 0 ? new Heartbeat(heartbeatMs, clock) : undefined,
    clock,
  });
}

function checkTarget(url: string | URL, { authorizer, headers, allowInsecure }: WebSocketTransportOptions): URL {
  const target = parseUrl(url);
  const { protocol, hostname, username, password, hash } = target;
  if (protocol !== 'ws:' && protocol !== 'wss:') throw new WebSocketOptionError(`The URL begins with "${protocol}": use ws:// or wss://`);
  if (username !== '' || password !== '')
    throw new WebSocketOptionError('The URL holds a user name or password: give an authorizer or headers');
  if (hash !== '') throw new WebSocketOptionError('The URL holds a fragment, which WebSocket forbids: leave it out');
  const hasCredentials = authorizer !== undefined || Object.keys(headers ?? {}).length > 0;
  if (protocol === 'ws:' && hasCredentials && allowInsecure !== true && !isLoopbackHost(hostname)) {
    throw new WebSocketOptionError(`Credentials would travel to ${hostname} unencrypted: use wss://, or set allowInsecure`);
  }
  return target;
}

function parseUrl(url: string | URL): URL {
  try {
    return new URL(url);
  } catch (cause) {
    throw new WebSocketOptionError('The URL cannot be read: give one such as ws://127.0.0.1:3001/mcp', { cause });
  }
}

/** The address without what may be secret: a query is told apart by 32 bits of it, which give nothing away. */
function toEraKey({ origin, host, protocol, pathname, search }: URL): string {
  const base = `${origin === 'null' ? `${protocol}//${host}` : origin}${pathname}`;
  if (search === '') return base;
  let hash = 0x811c9dc5;
  for (let at = 0; at < search.length; at++) hash = Math.imul(hash ^ search.charCodeAt(at), 0x01000193);
  return `${base}#${(hash >>> 0).toString(16).padStart(8, '0')}`;
}
