/** Serves an endpoint on a free port, so that each face of the handler looks the same from outside. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { createHttpHandler, type HttpHandler, type HttpHandlerOptions } from '@mortise/transport-http/server';

export type FaceName = 'node' | 'fetch';
export const FACES: readonly FaceName[] = ['node', 'fetch'];

/** A handler that listens on a free port of loopback, behind one of its faces. */
export interface Serving {
  readonly handler: HttpHandler;
  readonly port: number;
  readonly server: Server;
  close(): Promise<void>;
}

export async function serve(face: FaceName, endpoint: McpEndpoint, options: HttpHandlerOptions = {}): Promise<Serving> {
  const handler = createHttpHandler(endpoint, { path: '/mcp', ...options });
  const server = createServer((request, response) => {
    if (face === 'node') void handler.node(request, response);
    else void throughFetch(handler, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    await handler.close({ drainMs: 0 });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { handler, port: (server.address() as AddressInfo).port, server, close };
}

/** What any adapter from `node:http` to `fetch` does. */
async function throughFetch(handler: HttpHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const left = new AbortController();
  outgoing.on('close', () => left.abort());
  const headers = new Headers();
  for (let at = 0; at < incoming.rawHeaders.length; at += 2)
    headers.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '');
  const hasBody = incoming.method === 'POST';
  const body = hasBody ? toStream(incoming) : undefined;
  const init = {
    method: incoming.method ?? 'GET',
    headers,
    signal: left.signal,
    ...(body === undefined ? {} : { body, duplex: 'half' as const }),
  };
  const request = new Request(`http://${incoming.headers.host ?? 'localhost'}${incoming.url ?? '/'}`, init);
  const response = await handler.fetch(request, { remoteAddress: incoming.socket.remoteAddress, isLoopback: true });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  outgoing.on('close', () => void reader?.cancel().catch(() => undefined));
  try {
    for (let piece = await reader?.read(); piece !== undefined && !piece.done; piece = await reader?.read()) {
      if (!outgoing.write(piece.value) && !outgoing.destroyed) await drained(outgoing);
    }
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
}

function toStream(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isOpen = true;
  return new ReadableStream({
    start(controller) {
      incoming.on('data', (chunk: Uint8Array) => isOpen && controller.enqueue(new Uint8Array(chunk)));
      incoming.on('end', () => isOpen && controller.close());
      incoming.on('error', (error) => isOpen && controller.error(error));
    },
    cancel() {
      isOpen = false;
    },
  });
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.on('drain', done);
    outgoing.on('close', done);
  });
}
