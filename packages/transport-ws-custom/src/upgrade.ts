/** The way in: who may open a WebSocket, in the order in which it is checked, and what a refused client gets. */

import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isMortiseError } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import { checkAuthInfo, type HostGuard, isLoopbackHost, parseAuthorization, toNetwork } from '@mortise/protocol/edge';
import { MCP_PROTOCOL, readBearerProtocol } from './wire.ts';

/** Thrown to refuse an upgrade. */
export class UpgradeRefusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** @param message One sentence for the caller: the rule and the remedy. Holds no secret. */
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

const SINGLE_HEADERS = ['host', 'origin', 'authorization', 'sec-websocket-key', 'sec-websocket-version'];
const LINGER_MS = 1000;

/**
 * Checks all that needs no waiting: headers that may come once, Host, Origin, and the subprotocol.
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
 * Asks the verifier who makes the request.
 *
 * @param url What the client calls this endpoint.
 * @throws {UpgradeRefusal} What the verifier challenged with; 400 for credentials that cannot be read; 503 once `signal` aborts. A fault of
 *   the verifier's own is thrown as it is.
 */
export async function verifyUpgrade(
  request: IncomingMessage,
  verifier: TokenVerifier,
  url: string,
  signal: AbortSignal,
): Promise<AuthInfo> {
  const { scheme, token } = readCredentials(request);
  const header = (name: string): string | undefined => [request.headers[name.toLowerCase()]].flat().join(', ') || undefined;
  try {
    const verified = verifier.verify({ scheme, token, method: 'GET', url, header }, { signal });
    return checkAuthInfo(await abortable(verified, signal));
  } catch (error) {
    if (signal.aborted) throw new UpgradeRefusal(503, 'The token could not be checked in time: try again', { 'Retry-After': '1' });
    if (!isChallenge(error)) throw error;
    const { status, message, challenge, headers } = error;
    throw new UpgradeRefusal(status, message, { ...headers, ...(challenge !== '' && { 'WWW-Authenticate': challenge }) });
  }
}

/** The key of connections that are not verified: the remote address; of IPv6 the /64, which is what one customer has. */
export function addressKey(request: IncomingMessage): string {
  return toNetwork(request.socket.remoteAddress ?? 'unknown');
}

/** Refuses an upgrade with an HTTP answer and ends the connection. Nothing that the socket does can throw. */
export function refuseUpgrade(request: IncomingMessage, socket: Duplex, refusal: UpgradeRefusal): void {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32600, message: refusal.message }, id: null });
  const response = new ServerResponse(request);
  response.on('error', () => undefined);
  response.on('finish', () => socket.end());
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
  try {
    response.writeHead(refusal.status, {
      ...refusal.headers,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    });
    response.end(body);
  } catch {
    // A verifier's header that HTTP cannot carry.
    socket.destroy();
  }
  // A peer that keeps its side open must not keep the socket.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function offeredProtocols(request: IncomingMessage): readonly string[] {
  return (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}

function readCredentials(request: IncomingMessage): { readonly scheme: string | undefined; readonly token: string | undefined } {
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

/** What `AuthChallengeError` of `@mortise/protocol` holds, known here by its code. */
interface ChallengeFacts extends Error {
  readonly status: number;
  readonly challenge: string;
  readonly headers: Readonly<Record<string, string>>;
}

function isChallenge(error: unknown): error is ChallengeFacts {
  return isMortiseError(error) && error.code === 'ERR_AUTH_CHALLENGE';
}

function countHeader(request: IncomingMessage, name: string): number {
  return request.rawHeaders.filter((value, at) => at % 2 === 0 && value.toLowerCase() === name).length;
}
