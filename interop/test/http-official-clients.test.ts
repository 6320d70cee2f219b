/** The official SDKs' clients use a server written with Mortise over HTTP, in each era that they speak, over their transports and ours. */

import { SSEClientTransport as SseV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { httpTransport } from '@mortise/transport-http/client';
import { type HttpServing, serveHttp } from '@mortise/transport-http/node';
import { afterEach } from 'vitest';
import { createMortiseServer } from '../fixtures/mortise-features.mjs';
import { describeOfficialClient, openV1, openV2 } from './official-client-cases.ts';

let serving: HttpServing | undefined;
afterEach(async () => {
  await serving?.close();
  serving = undefined;
});

/** Serves a fresh server, since the cases change what it offers. */
async function serve(sessions: boolean): Promise<URL> {
  serving = await serveHttp(createMortiseServer(), { port: 0, sessions, sse: true, drainMs: 1 });
  return new URL(serving.url);
}

for (const sessions of [true, false]) {
  const how = sessions ? 'with sessions' : 'without sessions';
  describeOfficialClient({
    name: `v1 over HTTP ${how}`,
    era: 'legacy',
    hasChannel: sessions,
    // The SDK's own class is no Transport under exactOptionalPropertyTypes.
    open: async () => openV1(new HttpV1(await serve(sessions)) as TransportV1),
  });
  describeOfficialClient({
    name: `v2 over HTTP ${how}, legacy`,
    era: 'legacy',
    hasChannel: sessions,
    open: async () => openV2(new HttpV2(await serve(sessions)), 'legacy'),
  });
  describeOfficialClient({
    name: `v2 over HTTP ${how}, modern`,
    era: 'modern',
    hasChannel: sessions,
    open: async () => openV2(new HttpV2(await serve(sessions)), 'auto'),
  });
}

describeOfficialClient({
  name: 'v1 over HTTP+SSE',
  era: 'legacy',
  open: async () => openV1(new SseV1(new URL('/sse', await serve(true)))),
});
describeOfficialClient({
  name: 'v2 over HTTP+SSE',
  era: 'legacy',
  open: async () => openV2(new SseV2(new URL('/sse', await serve(true))), 'legacy'),
});

describeOfficialClient({ name: 'v1 over our httpTransport', era: 'legacy', open: async () => openV1(httpTransport(await serve(true))) });
describeOfficialClient({
  name: 'v2 over our httpTransport, legacy',
  era: 'legacy',
  open: async () => openV2(httpTransport(await serve(true)), 'legacy'),
});
describeOfficialClient({
  name: 'v2 over our httpTransport, modern',
  era: 'modern',
  open: async () => openV2(httpTransport(await serve(true)), 'auto'),
});
