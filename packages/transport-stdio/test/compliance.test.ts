import path from 'node:path';
import { StdioClientTransport } from '@mortise/transport-stdio/client';
import { setPatience } from '@mortise/transport-testkit';
import { describeTransport } from '@mortise/transport-testkit/vitest';
import { afterAll, beforeAll } from 'vitest';
import { buildFixtures, makeFolder, removeFolders } from './fixture.ts';
import { RemoteEnd } from './remote-end.ts';
import { createSocketPair, createStreamPair } from './stream-pair.ts';

// Reached only where something never happens: real processes on a busy machine take their time.
setPatience(60_000);

let fixtures: Awaited<ReturnType<typeof buildFixtures<'relay-server'>>>;
let folder: string;
let socketCount = 0;

beforeAll(async () => {
  fixtures = await buildFixtures('relay-server');
  folder = makeFolder();
});
afterAll(removeFolders);

const nextSocketPath = (): string => path.join(folder, `${++socketCount}.sock`);

describeTransport('stdio over a pair of streams', {
  traits: { bound: true, frames: true, chunks: true, backpressure: true, independentStart: true, handles: true },
  async createPair(options) {
    const { client, server, toServer, toClient } = createStreamPair({ ...options, flushMs: 100 });
    return {
      client,
      server,
      async injectFrame(to, frame, chunkBytes = Infinity) {
        const bytes = Buffer.concat([frame, Buffer.from('\n')]);
        const stream = to === 'server' ? toServer : toClient;
        for (let from = 0; from < bytes.length; from += chunkBytes)
          stream.write(bytes.subarray(from, Math.min(from + chunkBytes, bytes.length)));
      },
      close: async () => undefined,
    };
  },
});

describeTransport('stdio to a child process', {
  traits: { backpressure: true },
  async createPair() {
    const socketPath = nextSocketPath();
    const server = new RemoteEnd(socketPath);
    const client = new StdioClientTransport({
      command: process.execPath,
      args: [fixtures['relay-server'], socketPath],
      flushMs: 100,
      // The time that a child has to hand on what it was sent. Two of the cases, whose child does not end by itself, take all of it.
      stdinCloseMs: 3_000,
    });
    return { client, server, close: () => server.dispose() };
  },
});

describeTransport("stdio's framing over a Unix domain socket", {
  traits: { bound: true, backpressure: true, handles: true },
  async createPair(options) {
    return createSocketPair(nextSocketPath(), { ...options, flushMs: 100 });
  },
});
