/** How a server accepts and bounds WebSockets. */

import { checkOptionRules, type OptionRules } from '@mortise/jsonrpc-core/transport';
import type { IncomingMessage } from 'node:http';
import type { Clock, Logger } from '@mortise/jsonrpc-core';
import type { AuthInfo, EventStore, TokenVerifier } from '@mortise/protocol/contracts';
import { WebSocketOptionError } from './errors.ts';

/** The options of `attachWebSocket`, and of `serveWebSocket` with a port beside them. */
export interface WebSocketServerOptions {
  /** Where clients connect. @default '/mcp' */
  readonly path?: string | undefined;
  /** Names that `Host` may have; without a port, any port. @default this machine's, on a loopback socket; else any */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Web pages that may connect, as `https://app.example.com`. @default this machine's, on a loopback socket */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Says whom a token speaks for, at the upgrade; the connection ends when the token does. @default none: anyone may connect */
  readonly tokenVerifier?: TokenVerifier | undefined;
  /** What clients call this server, for verifiers, behind a proxy: `https://api.example.com`. @default from `Host` */
  readonly baseUrl?: string | undefined;
  /** What connections are counted by. @default the principal, else the remote address (of IPv6 the /64) */
  readonly limitKey?: ((request: IncomingMessage, auth: AuthInfo | undefined) => string) | undefined;
  /** How many connections at once; 503 past it. @default 10,000 */
  readonly maxConnections?: number | undefined;
  /** How many of one key; 429 past it. @default 1,000 */
  readonly maxConnectionsPerKey?: number | undefined;
  /** How long an upgrade may take, its token's check included, in milliseconds. @default 10,000 */
  readonly upgradeTimeoutMs?: number | undefined;
  /** The longest message that a client may send, in bytes; a longer one ends the connection with 1009. @default 4 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** How many bytes may wait for a slow reader; beyond that `send` waits and nothing more is read from it. @default 1 MiB */
  readonly maxQueuedBytes?: number | undefined;
  /** How many bytes may wait before a slow reader that is sent still more is cut, with 1013. @default 16 MiB */
  readonly maxBacklogBytes?: number | undefined;
  /** How long a slow reader may take nothing at all, in milliseconds. @default 30,000 */
  readonly stallMs?: number | undefined;
  /** Between two pings, in milliseconds; a client that is gone is noticed within two. 0 for none. @default 15,000 */
  readonly heartbeatMs?: number | undefined;
  /** How long a closing connection waits for its peer, in milliseconds. @default 2,000 */
  readonly closeTimeoutMs?: number | undefined;
  /**
   * Keeps what was sent, so that a client that offers `mortise.resume.v1` loses nothing when its connection breaks: what it did not get is
   * sent again on the next one. `MemoryEventStore` of `@mortise/protocol/edge` will do, for a channel does not outlive the process.
   *
   * @default none: a break ends the channel
   */
  readonly eventStore?: EventStore | undefined;
  /** How long a channel waits for its client to come back, in milliseconds. @default 60,000 */
  readonly resumeWindowMs?: number | undefined;
  /** How many channels may wait; past it goes, of the one `limitKey` with the most of them, the one that has waited longest. @default 1,000 */
  readonly maxWaitingChannels?: number | undefined;
  /** What tells the time. @default systemClock */
  readonly clock?: Clock | undefined;
  /**
   * Told of refusals and of what fails here; as long as the server has no logger of its own, of broken connections and faults of handlers too.
   *
   * @default one that writes nothing; `serveWebSocket` writes warnings and what is worse to standard error
   */
  readonly logger?: Logger | undefined;
}

/** @throws {WebSocketOptionError} `ERR_WEBSOCKET_OPTION` */
export function checkOptions(options: WebSocketServerOptions): void {
  checkOptionRules('a server over WebSocket', options, RULES, WebSocketOptionError);
  const { path = '/mcp', tokenVerifier } = options;
  if (tokenVerifier !== undefined && typeof tokenVerifier?.verify !== 'function')
    throw new WebSocketOptionError('tokenVerifier: it must be an object with a function "verify"');
  if (!path.startsWith('/') || /[?#]/.test(path)) throw new WebSocketOptionError(`path: "${path}" must begin with "/" and hold no query`);
  for (const name of LISTS) {
    if (options[name] !== undefined && !Array.isArray(options[name]))
      throw new WebSocketOptionError(`${name}: it must be an array of texts, as ["app.example.com"]`);
  }
}

const LISTS = ['allowedHosts', 'allowedOrigins'] as const;

/** Those of `serveWebSocket` alone. A program that hands the same options to `attachWebSocket` may name them there, where they mean nothing. */
const LISTENING = { port: 0, host: 'no number', signal: 'no number', drainMs: 0 } as const;

const RULES: OptionRules<WebSocketServerOptions> = {
  ...LISTENING,
  path: 'no number',
  allowedHosts: 'no number',
  allowedOrigins: 'no number',
  tokenVerifier: 'no number',
  baseUrl: 'no number',
  limitKey: 'no number',
  eventStore: 'no number',
  clock: 'no number',
  logger: 'no number',
  maxConnections: 1,
  maxConnectionsPerKey: 1,
  maxMessageBytes: 1,
  maxQueuedBytes: 1,
  maxBacklogBytes: 1,
  upgradeTimeoutMs: 1,
  stallMs: 0,
  heartbeatMs: 0,
  closeTimeoutMs: 0,
  resumeWindowMs: 1,
  maxWaitingChannels: 1,
};
