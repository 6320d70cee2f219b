/** Mortise's transports under the official SDKs' clients and servers: in memory, stdio and WebSocket. */

import { fileURLToPath } from 'node:url';
import { McpClient } from '@mortise/client';
import { createInMemoryPair, type ServerConnection, type Transport } from '@mortise/jsonrpc-core';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { afterEach } from 'vitest';
import { createMortiseServer } from '../fixtures/mortise-features.mjs';
import { createV1Server } from '../fixtures/official-v1-features.mjs';
import { createV2Server } from '../fixtures/official-v2-features.mjs';
import { describeOfficialClient, openV1, openV2 } from './official-client-cases.ts';
import { answers, describeOfficialServer } from './official-server-cases.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

// ---- the official clients over our transports, at a server of ours

/** Gives a transport to a fresh server. */
type Reach = () => Promise<Transport>;

const reaches: Readonly<Record<string, Reach>> = {
  async 'in memory'() {
    const [near, far] = createInMemoryPair({ passBy: 'json' });
    await createMortiseServer().connect(far);
    return near;
  },
  stdio: async () => stdioTransport({ command: process.execPath, args: [fixture('mortise-server.mjs')] }),
  async WebSocket() {
    const serving = await serveWebSocket(createMortiseServer(), { port: 0, drainMs: 1 });
    closers.push(() => serving.close());
    return webSocketTransport(serving.url);
  },
};

for (const [name, reach] of Object.entries(reaches)) {
  describeOfficialClient({ name: `v1 over our ${name}`, era: 'legacy', open: async () => openV1(await reach()) });
  describeOfficialClient({
    name: `v2 over our ${name}, legacy`,
    era: 'legacy',
    open: async () => openV2(await reach(), 'legacy'),
  });
  describeOfficialClient({
    name: `v2 over our ${name}, modern`,
    era: 'modern',
    open: async () => openV2(await reach(), 'auto'),
  });
}

// ---- our client over our transports, at official servers on our transports

interface OfficialServer {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
  readonly server: { onclose?: (() => void) | undefined };
}

/** An official server as something that our hosts can serve: a fresh one for each connection. */
function toConnectable(create: () => OfficialServer): { connect(transport: Transport): Promise<ServerConnection> } {
  return {
    async connect(transport) {
      const official = create();
      const closed = new Promise<void>((resolve) => {
        official.server.onclose = resolve;
      });
      await official.connect(transport);
      const close = (): Promise<void> => official.close();
      return { closed, drain: close, close, [Symbol.asyncDispose]: close };
    },
  };
}

for (const [sdk, create] of [
  ['v1', createV1Server],
  ['v2', createV2Server],
] as const) {
  const connectTo: Readonly<Record<string, Reach>> = {
    async 'in memory'() {
      const [near, far] = createInMemoryPair({ passBy: 'json' });
      await toConnectable(create).connect(far);
      return near;
    },
    stdio: async () =>
      stdioTransport({ command: process.execPath, args: [fixture('official-servers-over-ours.mjs'), sdk], stderr: 'ignore' }),
    async WebSocket() {
      const serving = await serveWebSocket(toConnectable(create), { port: 0, drainMs: 1 });
      closers.push(() => serving.close());
      return webSocketTransport(serving.url);
    },
  };
  for (const [name, reach] of Object.entries(connectTo)) {
    describeOfficialServer({
      name: `${sdk} over our ${name}`,
      era: 'legacy',
      open: async () => McpClient.connect(await reach(), { name: 'mortise', version: '1.0.0' }, { ...answers, era: 'legacy' }),
    });
  }
}
