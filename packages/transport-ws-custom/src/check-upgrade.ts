/** The one way in: who may open a WebSocket, in the order in which it is asked. */

import type { IncomingMessage } from 'node:http';
import { isMortiseError } from '@mortise/jsonrpc-core';
import type { AuthInfo } from '@mortise/protocol/contracts';
import { checkAuthInfo, createHostGuard, type HostGuard, isLoopbackHost, parseAuthorization } from '@mortise/protocol/edge';
import { WebSocketOptionError } from './errors.ts';
import { MCP_PROTOCOL, readBearerProtocol } from './subprotocol.ts';
import { UpgradeRefusal } from './upgrade-refusal.ts';
import type { WebSocketServerOptions } from './web-socket-options.ts';

const SINGLE_HEADERS = ['host', 'origin', 'authorization', 'sec-websocket-key', 'sec-websocket-version'];

/** @throws {WebSocketOptionError} An entry that is no host or origin. */
export function createUpgradeGuard({ allowedHosts, allowedOrigins }: WebSocketServerOptions): HostGuard {
  try {
    return createHostGuard({ ...(allowedHosts && { allowedHosts }), ...(allowedOrigins && { allowedOrigins }) });
  } catch (cause) {
    throw new WebSocketOptionError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * Checks all that needs no waiting: headers that say one thing, Host, Origin, and the subprotocol.
 *
 * @throws {UpgradeRefusal} 400, 403
 */
export function checkUpgrade(request: IncomingMessage, guard: HostGuard): void {
  for (const name of SINGLE_HEADERS) {
    if (countHeader(request, name) > 1) throw new UpgradeRefusal(400, `The header "${name}" may come once only`);
  }
  const reason = guard({
    host: request.headers.host,
    origin: request.headers.origin,
    isLoopbackSocket: isLoopbackHost((request.socket.localAddress ?? '127.0.0.1').replace(/%.*$/, '')),
  });
  if (reason !== undefined) throw new UpgradeRefusal(403, reason);
  if (!offeredProtocols(request).includes(MCP_PROTOCOL)) {
    throw new UpgradeRefusal(400, `The client must offer the subprotocol "${MCP_PROTOCOL}" in Sec-WebSocket-Protocol`);
  }
}

/**
 * Asks the verifier whom the request speaks for.
 *
 * @throws {UpgradeRefusal} What the verifier challenged with; 400 for credentials that cannot be read; 500 for a fault of its own, which
 * says nothing of its cause.
 */
export async function verifyUpgrade(
  request: IncomingMessage,
  options: WebSocketServerOptions,
  signal: AbortSignal,
): Promise<AuthInfo | undefined> {
  const { tokenVerifier } = options;
  if (!tokenVerifier) return undefined;
  const { scheme, token } = readCredentials(request);
  try {
    const header = (name: string): string | undefined => toSingle(request.headers[name.toLowerCase()]);
    const subject = { scheme, token, method: 'GET', url: toUrl(request, options), header };
    return checkAuthInfo(await tokenVerifier.verify(subject, { signal }));
  } catch (error) {
    if (signal.aborted) throw new UpgradeRefusal(503, 'The token could not be checked in time: try again', { 'Retry-After': '1' });
    if (isChallenge(error)) throw toRefusal(error);
    throw error;
  }
}

/** The values of `Sec-WebSocket-Protocol`. */
export function offeredProtocols(request: IncomingMessage): readonly string[] {
  return (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}

/** The remote address; of IPv6 the /64, which is what one customer has. */
export function addressKey(request: IncomingMessage): string {
  const address = request.socket.remoteAddress ?? 'unknown';
  if (!address.includes(':') || address.includes('.')) return address.replace(/^::ffff:/, '');
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

interface Credentials {
  readonly scheme: string | undefined;
  readonly token: string | undefined;
}

function readCredentials(request: IncomingMessage): Credentials {
  const offered = readBearerProtocol(offeredProtocols(request));
  const header = request.headers.authorization;
  if (offered === null || (offered !== undefined && header !== undefined)) {
    throw new UpgradeRefusal(400, 'The token must come once, in "Authorization" or as a subprotocol in canonical base64url');
  }
  if (offered !== undefined) return { scheme: 'Bearer', token: offered };
  if (header === undefined) return { scheme: undefined, token: undefined };
  const credentials = parseAuthorization(header);
  if (!credentials) throw new UpgradeRefusal(400, 'The "Authorization" header must hold one scheme and one token');
  return credentials;
}

/** What `AuthChallengeError` of `@mortise/protocol` holds, which is known here by its code alone. */
interface ChallengeFacts extends Error {
  readonly status: number;
  readonly challenge: string;
  readonly headers: Readonly<Record<string, string>>;
}

function isChallenge(error: unknown): error is ChallengeFacts {
  return isMortiseError(error) && error.code === 'ERR_AUTH_CHALLENGE';
}

function toRefusal({ status, message, challenge, headers }: ChallengeFacts): UpgradeRefusal {
  return new UpgradeRefusal(status, message, { ...headers, ...(challenge !== '' && { 'WWW-Authenticate': challenge }) });
}

function toUrl(request: IncomingMessage, { baseUrl, path = '/mcp' }: WebSocketServerOptions): string {
  if (baseUrl !== undefined) return new URL(path, baseUrl).href;
  const isEncrypted = (request.socket as { encrypted?: boolean }).encrypted === true;
  return `${isEncrypted ? 'https' : 'http'}://${request.headers.host ?? ''}${path}`;
}

function countHeader(request: IncomingMessage, name: string): number {
  let count = 0;
  for (let at = 0; at < request.rawHeaders.length; at += 2) if (request.rawHeaders[at]?.toLowerCase() === name) count++;
  return count;
}

function toSingle(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
