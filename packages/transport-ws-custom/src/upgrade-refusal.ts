/** A refused upgrade as an HTTP answer: what a client reads before there is any WebSocket. */

import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

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

/** Answers and ends the connection. Nothing that the socket does can throw. */
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
  // A peer that keeps its side open is not waited for.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

const LINGER_MS = 1000;
