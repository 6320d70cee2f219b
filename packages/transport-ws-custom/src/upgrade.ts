/** The checks of a WebSocket upgrade, and the HTTP response to a refused one. */

import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isMortiseError } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import { checkAuthInfo, type HostGuard, isLoopbackHost, parseAuthorization, toNetwork } from '@mortise/protocol/edge';
import { MCP_PROTOCOL, readBearerProtocol } from './wire.ts';

/** The error with which an upgrade is refused: an HTTP status, a message and headers. */
export class UpgradeRefusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** @param message One sentence for the caller: the rule and the remedy. It must contain no secret. */
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

const SINGLE_HEADERS = ['host', 'origin', 'authorization', 'sec-websocket-key', 'sec-websocket-version'];
const LINGER_MS = 1000;

/**
 * Checks the target and headers of an upgrade: those allowed only once, `Host`, `Origin`, and the subprotocol.
 *
 * @throws {UpgradeRefusal} 400: the target is an absolute URL, or a header is missing, wrong or repeated. 403: `Host` or `Origin` is not allowed.
 */
export function checkUpgrade(request: IncomingMessage, guard: HostGuard): void {
  // An absolute URL names a host of its own, beside the `Host` header that is checked.
  if (request.url?.startsWith('/') !== true) throw new UpgradeRefusal(400, 'The request target must be a path, such as "/mcp"');
  for (const name of SINGLE_HEADERS) {
    if (countHeader(request, name) > 1) throw new UpgradeRefusal(400, `The header "${name}" must occur only once`);
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
 * Verifies the token of an upgrade.
 *
 * @param url The endpoint's public URL.
 * @throws {UpgradeRefusal} The verifier's challenge; 400 for malformed credentials; 503 once `signal` aborts.
 * @throws Any other error of the verifier, unchanged.
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

/** Gives the limit key of a connection without a principal: the remote address; for IPv6 its /64, which usually is one customer's. */
export function addressKey(request: IncomingMessage): string {
  return toNetwork(request.socket.remoteAddress ?? 'unknown');
}

/** Sends the HTTP response of a refused upgrade and ends the connection. Never throws. */
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
    // The token verifier gave a header that is not valid in HTTP.
    socket.destroy();
  }
  // The peer may keep its side open, so the socket is destroyed after a while.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function offeredProtocols(request: IncomingMessage): readonly string[] {
  return (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}

function readCredentials(request: IncomingMessage): { readonly scheme: string | undefined; readonly token: string | undefined } {
  const offered = readBearerProtocol(offeredProtocols(request));
  const header = request.headers.authorization;
  if (offered === null || (offered !== undefined && header !== undefined)) {
    throw new UpgradeRefusal(400, 'The token must be sent once: in "Authorization", or as a subprotocol in canonical base64url');
  }
  if (offered !== undefined) return { scheme: 'Bearer', token: offered };
  if (header === undefined) return { scheme: undefined, token: undefined };
  const credentials = parseAuthorization(header);
  if (!credentials) throw new UpgradeRefusal(400, 'The "Authorization" header must contain one scheme and one token');
  return credentials;
}

/** The members of `AuthChallengeError` of `@mortise/protocol`, which is recognised by its code. */
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
