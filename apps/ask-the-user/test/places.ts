/** Everywhere that a handler can run: each revision over each transport. */

import { fileURLToPath } from 'node:url';
import { type ClientOptions, type ClientTransportSource, McpClient } from '@mortise/client';
import { connectInMemory } from '@mortise/client/in-memory';
import { REVISIONS, type Revision } from '@mortise/protocol';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { createHttpHandler } from '@mortise/transport-http/server';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { createEveryHandlerServer } from './create-every-handler-server.ts';

/** A client, what it said on stderr where its server is another process, and what ends both. */
export interface Opened {
  readonly client: McpClient;
  readonly stderr: readonly string[];
  close(): Promise<void>;
}

export interface Place {
  readonly title: string;
  readonly revision: Revision;
  open(options: ClientOptions): Promise<Opened>;
}

const info = { name: 'table', version: '1.0.0' };
const program = fileURLToPath(new URL('./every-handler-server.ts', import.meta.url));

type Way = (revision: Revision, options: ClientOptions) => Promise<Opened>;

const overMemory =
  (via: 'json' | 'exchange'): Way =>
  async (_revision, options) => {
    const server = createEveryHandlerServer();
    const client = await connectInMemory(server, { ...options, via });
    return opened(client, () => server.close());
  };

const overStdio: Way = async (_revision, options) => {
  const stderr: string[] = [];
  const transport = stdioTransport({
    command: process.execPath,
    args: ['--conditions=mortise-source', '--import', 'tsx', program],
    stderr: (line) => stderr.push(line),
  });
  const client = await McpClient.connect(transport, info, options);
  return opened(client, async () => undefined, stderr);
};

const overNode: Way = async (revision, options) => {
  const server = createEveryHandlerServer();
  const serving = await serveHttp(server, { port: 0, sse: true });
  const transport = httpTransport(pathOf(revision, serving.url));
  return opened(await connect(transport, options), async () => {
    await serving.close();
    await server.close();
  });
};

const overWeb: Way = async (revision, options) => {
  const server = createEveryHandlerServer();
  const handler = createHttpHandler(server, { sse: true, allowedHosts: ['server.example'] });
  const fetchIt: typeof fetch = (input, init) => handler.fetch(new Request(input, init));
  const transport = httpTransport(pathOf(revision, 'https://server.example/mcp'), { fetch: fetchIt });
  return opened(await connect(transport, options), async () => {
    await handler.close();
    await server.close();
  });
};

function connect(transport: ClientTransportSource, options: ClientOptions): Promise<McpClient> {
  return McpClient.connect(transport, info, options);
}

function opened(client: McpClient, end: () => Promise<unknown>, stderr: readonly string[] = []): Opened {
  return {
    client,
    stderr,
    async close() {
      await client.close();
      await end();
    },
  };
}

function pathOf(revision: Revision, url: string): string {
  return revision.http.endpoints === 'sse-pair' ? new URL('/sse', url).href : url;
}

const ways: Readonly<Record<string, Way>> = {
  'in memory, a channel': overMemory('json'),
  'in memory, exchanges': overMemory('exchange'),
  stdio: overStdio,
  'HTTP, node face': overNode,
  'HTTP, web face': overWeb,
};

export const places: readonly Place[] = REVISIONS.flatMap((revision) =>
  Object.entries(ways).map(([way, openWay]) => ({
    title: `${revision.version} over ${way}`,
    revision,
    open: (options: ClientOptions) => openWay(revision, { ...options, protocolVersion: revision.version }),
  })),
);
