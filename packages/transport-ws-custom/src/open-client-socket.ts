/** Opens the client's end: by `ws` on Node, which can send headers and wait for slow readers; else by the platform's own `WebSocket`. */

import { abortable } from '@mortise/jsonrpc-core/connection';
import type { Authorizer, Challenge } from '@mortise/protocol/contracts';
import { ConnectFailedError, UpgradeRefusedError, WebSocketOptionError } from './errors.ts';
import type { OpenedSocket } from './resume-client.ts';
import { BEARER_PREFIX, toBearerProtocol } from './subprotocol.ts';
import { openWebSocket, type WebSocketConstructor, type WebSocketSettings } from './web-socket.ts';
import { toInt32, type Corkable, type WsLike, WsSocket } from './ws-socket.ts';

/** What the client's end is opened with. */
export interface ClientSocketSettings extends WebSocketSettings {
  readonly headers: Readonly<Record<string, string>>;
  readonly authorizer: Authorizer | undefined;
  readonly webSocket: WebSocketConstructor | undefined;
  readonly openTimeoutMs: number;
}

const MAX_CHALLENGES = 3;

/** @throws {UpgradeRefusedError} {ConnectFailedError} {WebSocketOptionError} and what the authorizer rejects with. */
export async function openClientSocket(settings: ClientSocketSettings, signal: AbortSignal): Promise<OpenedSocket> {
  const ws = settings.webSocket ? undefined : await loadWs();
  for (let attempt = 1; ; attempt++) {
    const given = await settings.authorizer?.headers({ method: 'GET', url: toHttpUrl(settings.url) }, { signal });
    const headers = { ...settings.headers, ...given };
    if (!ws) return openOnPlatform(settings, headers, signal);
    try {
      return await openOnNode(ws, settings, headers, signal);
    } catch (error) {
      if (!(error instanceof RefusedUpgrade)) throw error;
      if (attempt > MAX_CHALLENGES || !(await mayRetry(settings, error, { attempt, given }, signal))) throw error.error;
    }
  }
}

async function mayRetry(
  settings: ClientSocketSettings,
  refusal: RefusedUpgrade,
  { attempt, given = {} }: { readonly attempt: number; readonly given: Readonly<Record<string, string>> | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  const { status } = refusal.error;
  if (!settings.authorizer || (status !== 401 && status !== 403)) return false;
  const challenge: Challenge = { status, url: toHttpUrl(settings.url), header: (name) => refusal.header(name), attempt, given };
  return (await settings.authorizer.onChallenge(challenge, { signal })) === 'retry';
}

// ---- Node

type WsConstructor = (typeof import('ws'))['WebSocket'];

/** The package `ws`, on Node and what is like it; undefined where it cannot work. */
async function loadWs(): Promise<WsConstructor | undefined> {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  if (typeof process?.versions?.node !== 'string') return undefined;
  try {
    const loaded = (await import('ws')) as Partial<typeof import('ws')>;
    return typeof loaded.WebSocket === 'function' ? loaded.WebSocket : undefined;
  } catch {
    return undefined;
  }
}

/** The refusal with what an authorizer wants to know of it. */
class RefusedUpgrade {
  readonly error: UpgradeRefusedError;
  readonly header: (name: string) => string | undefined;

  constructor(error: UpgradeRefusedError, header: (name: string) => string | undefined) {
    this.error = error;
    this.header = header;
  }
}

function openOnNode(
  constructor: WsConstructor,
  settings: ClientSocketSettings,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<OpenedSocket> {
  const { url, protocols, maxMessageBytes, openTimeoutMs } = settings;
  const opened = new Promise<OpenedSocket>((resolve, reject) => {
    const ws = new constructor(url, [...protocols], {
      headers: { ...headers },
      maxPayload: toInt32(maxMessageBytes),
      perMessageDeflate: false,
      handshakeTimeout: toInt32(openTimeoutMs),
      followRedirects: false,
    });
    let stream: Corkable | undefined;
    const giveUp = (): void => ws.terminate();
    signal.addEventListener('abort', giveUp, { once: true });
    const settle = (fn: () => void): void => {
      signal.removeEventListener('abort', giveUp);
      fn();
    };
    ws.once('upgrade', (response) => {
      stream = response.socket;
    });
    ws.once('unexpected-response', (request, response) => {
      const header = (name: string): string | undefined => joinHeader(response.headers[name.toLowerCase()]);
      settle(() => reject(new RefusedUpgrade(toRefusal(url, response.statusCode ?? 0, header('retry-after')), header)));
      response.destroy();
      request.destroy();
    });
    ws.once('open', () => settle(() => resolve({ socket: new WsSocket(ws as WsLike, maxMessageBytes, stream), protocol: ws.protocol })));
    ws.once('error', (error) => settle(() => reject(toConnectError(url, error))));
    ws.on('error', () => undefined);
  });
  return abortable(opened, signal);
}

function joinHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

function toRefusal(url: string, status: number, retryAfter: string | undefined): UpgradeRefusedError {
  const seconds = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  const remedy = status === 404 ? ': correct the path of the URL, which servers mostly have as "/mcp"' : '';
  return new UpgradeRefusedError(`${hostOf(url)}${new URL(url).pathname} answered the upgrade with HTTP status ${status}${remedy}`, {
    status,
    retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
  });
}

function toConnectError(url: string, cause: Error): ConnectFailedError {
  return new ConnectFailedError(`The WebSocket to ${hostOf(url)} could not be opened: ${cause.message}`, { cause });
}

// ---- elsewhere

async function openOnPlatform(
  settings: ClientSocketSettings,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<OpenedSocket> {
  const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor };
  const constructor = settings.webSocket ?? WebSocket;
  if (!constructor) throw new ConnectFailedError('This platform has no WebSocket: install "ws", or give the option webSocket');
  const protocols = [...settings.protocols, ...Object.entries(headers).map(([name, value]) => toProtocol(name, value))];
  const timeout = new AbortController();
  const stop = (): void => timeout.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const timer = settings.clock.schedule(
    () => timeout.abort(new ConnectFailedError(`${hostOf(settings.url)} did not answer within ${settings.openTimeoutMs} ms`)),
    settings.openTimeoutMs,
  );
  try {
    return await openWebSocket(constructor, { ...settings, protocols }, timeout.signal);
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', stop);
  }
}

/** The one header that can be said without headers. */
function toProtocol(name: string, value: string): string {
  const [, token] = /^bearer +(\S+)$/i.exec(value) ?? [];
  if (name.toLowerCase() === 'authorization' && token !== undefined) return toBearerProtocol(token);
  throw new WebSocketOptionError(
    `This platform's WebSocket cannot send the header "${name}": only a bearer token, which travels as ${BEARER_PREFIX}...`,
  );
}

function hostOf(url: string): string {
  return new URL(url).host;
}

/** What authorization servers and verifiers call the resource. */
function toHttpUrl(url: string): string {
  return url.replace(/^ws/, 'http');
}
