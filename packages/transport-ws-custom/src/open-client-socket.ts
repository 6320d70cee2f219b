/** Opens a client's WebSocket: on Node with the npm package `ws`, which can send headers and pause; elsewhere with `WebSocket`. */

import { type Clock, TimeoutError } from '@mortise/jsonrpc-core';
import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import type { Authorizer, Challenge } from '@mortise/protocol/contracts';
import { ConnectFailedError } from './errors.ts';
import type { OpenedSocket } from './message-socket.ts';
import { openWebSocket, type WebSocketConstructor } from './web-socket.ts';
import { BEARER_PREFIX, toBearerProtocol } from './wire.ts';
import { type Corkable, toInt32, WsSocket } from './ws-socket.ts';

/** The URL, the headers and other settings of a client's WebSocket. */
export interface ClientSocketSettings {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly authorizer: Authorizer | undefined;
  readonly webSocket: WebSocketConstructor | undefined;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
}

type Headers = Readonly<Record<string, string>>;

const MAX_CHALLENGES = 3;
const OPEN_TIMEOUT_MS = 10_000;

/**
 * Opens a WebSocket with the authorizer's headers. After a 401 or 403, tries again if the authorizer's `onChallenge` returns `retry`.
 *
 * @throws {ConnectFailedError} `ERR_CONNECT_FAILED`: the WebSocket cannot be opened.
 * @throws {TypeError} The platform cannot send a given header.
 * @throws Whatever the authorizer rejects with.
 */
export async function openClientSocket(settings: ClientSocketSettings, signal: AbortSignal): Promise<OpenedSocket> {
  const ws = settings.webSocket ? undefined : await loadWs();
  for (let attempt = 1; ; attempt++) {
    const given = await settings.authorizer?.headers({ method: 'GET', url: toHttpUrl(settings.url) }, { signal });
    const headers = { ...settings.headers, ...given };
    if (!ws) return openOnPlatform(settings, headers, signal);
    const opened = await openOnNode(ws, settings, headers, signal);
    if ('socket' in opened) return opened;
    const challenge = { ...opened.challenge, attempt, given: given ?? {} };
    if (attempt > MAX_CHALLENGES || !(await mayRetry(settings.authorizer, challenge, signal))) throw opened.error;
  }
}

async function mayRetry(authorizer: Authorizer | undefined, challenge: Challenge, signal: AbortSignal): Promise<boolean> {
  if (!authorizer || (challenge.status !== 401 && challenge.status !== 403)) return false;
  return (await authorizer.onChallenge(challenge, { signal })) === 'retry';
}

// ---- Node

type WsConstructor = (typeof import('ws'))['WebSocket'];

/** Loads the package `ws` on Node and compatible runtimes; `undefined` on other platforms, or if `ws` is not installed. */
async function loadWs(): Promise<WsConstructor | undefined> {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  if (typeof process?.versions?.node !== 'string') return undefined;
  const loaded: Partial<typeof import('ws')> | undefined = await import('ws').catch(() => undefined);
  return typeof loaded?.WebSocket === 'function' ? loaded.WebSocket : undefined;
}

/** A refused WebSocket upgrade: the error that `start` rejects with, and the challenge for the authorizer. */
interface Refused {
  readonly error: ConnectFailedError;
  readonly challenge: Omit<Challenge, 'attempt' | 'given'>;
}

async function openOnNode(
  constructor: WsConstructor,
  { url, protocols, maxMessageBytes }: ClientSocketSettings,
  headers: Headers,
  signal: AbortSignal,
): Promise<OpenedSocket | Refused> {
  const ws = new constructor(url, [...protocols], {
    headers: { ...headers },
    maxPayload: toInt32(maxMessageBytes),
    perMessageDeflate: false,
    handshakeTimeout: OPEN_TIMEOUT_MS,
    followRedirects: false,
  });
  const opened = new Promise<OpenedSocket | Refused>((resolve, reject) => {
    let stream: Corkable | undefined;
    ws.once('upgrade', (response) => {
      stream = response.socket;
    });
    ws.once('unexpected-response', (request, response) => {
      const { statusCode: status = 0, headers: sent } = response;
      const header = (name: string): string | undefined => [sent[name.toLowerCase()]].flat().join(', ') || undefined;
      resolve({ error: toRefusal(url, status, header('retry-after')), challenge: { status, url: toHttpUrl(url), header } });
      response.destroy();
      request.destroy();
    });
    ws.once('open', () => resolve({ socket: new WsSocket(ws, maxMessageBytes, stream), protocol: ws.protocol }));
    ws.on('error', (cause) =>
      reject(new ConnectFailedError(`The WebSocket to ${hostOf(url)} could not be opened: ${cause.message}`, { cause })),
    );
  });
  try {
    return await abortable(opened, signal);
  } catch (error) {
    ws.terminate();
    throw error;
  }
}

function toRefusal(url: string, status: number, retryAfter: string | undefined): ConnectFailedError {
  const retryAfterMs = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : undefined;
  const remedy = status === 404 ? ': correct the path of the URL, which is usually "/mcp"' : '';
  const message = `${hostOf(url)}${new URL(url).pathname} refused the WebSocket with HTTP status ${status}${remedy}`;
  return new ConnectFailedError(message, { status, retryAfterMs });
}

// ---- elsewhere

async function openOnPlatform(settings: ClientSocketSettings, headers: Headers, signal: AbortSignal): Promise<OpenedSocket> {
  const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor };
  const constructor = settings.webSocket ?? WebSocket;
  if (!constructor) throw new ConnectFailedError('This platform has no WebSocket: install the package "ws" or set the option "webSocket"');
  const protocols = [...settings.protocols, ...Object.entries(headers).map(([name, value]) => toProtocol(name, value))];
  const limit = withTimeout(OPEN_TIMEOUT_MS, signal, settings.clock);
  try {
    return await openWebSocket(constructor, { ...settings, protocols }, limit.signal);
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
    throw new ConnectFailedError(`${hostOf(settings.url)} did not open the WebSocket within ${OPEN_TIMEOUT_MS} ms`);
  } finally {
    limit.dispose();
  }
}

/** Converts a header to a subprotocol, because `WebSocket` in browsers sends no headers. Only a bearer token can be converted. */
function toProtocol(name: string, value: string): string {
  const [, token] = /^bearer +(\S+)$/i.exec(value) ?? [];
  if (name.toLowerCase() === 'authorization' && token !== undefined) return toBearerProtocol(token);
  throw new TypeError(
    `This platform's WebSocket cannot send the header "${name}". It can send a bearer token only, as a subprotocol ${BEARER_PREFIX}...`,
  );
}

function hostOf(url: string): string {
  return new URL(url).host;
}

/** Converts the server's URL to the form that authorizers and verifiers know: `ws` becomes `http`, `wss` becomes `https`. */
function toHttpUrl(url: string): string {
  return url.replace(/^ws/, 'http');
}
