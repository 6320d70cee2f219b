/** An API on loopback, and clients of servers that are made of documents. */

import { McpClient } from '@mortise/client';
import { inMemoryTransport } from '@mortise/client/in-memory';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { createOpenApiServer, type OpenApiProblem, type OpenApiServerOptions } from '../src/index.ts';

/** A request as the API got it. */
export interface Seen {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface StubApi {
  readonly baseUrl: string;
  readonly seen: Seen[];
}

/** Serves an API that answers as the test says, by default with what it got. */
export async function serveApi(answer: (seen: Seen, response: ServerResponse) => unknown = echo): Promise<StubApi> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const got = { method, url, headers, body: await text(request) };
    seen.push(got);
    answer(got, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections()));
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
}

function echo({ method, url }: Seen, response: ServerResponse): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ method, url }));
}

/** Makes a document with these paths. */
export function documentOf(paths: object, more: object = {}): object {
  return { openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths, ...more };
}

/** Makes a server of a document, and connects a client to it. */
export async function openServer(
  document: string | object,
  options: OpenApiServerOptions,
): Promise<{ readonly client: McpClient; readonly problems: readonly OpenApiProblem[] }> {
  const { server, problems } = createOpenApiServer(document, options);
  const client = new McpClient({ name: 'test', version: '1.0.0' });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  await client.connect(inMemoryTransport(server));
  return { client, problems };
}
