/** Whatever a call waits for, its own `timeoutMs` and `signal` end the wait: over each transport, at processes and sockets that hang. */

import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type ClientTransportSource, McpClient } from '@mortise/client';
import type { Clock } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { httpTransport, SSEClientTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { type StdioTransport, stdioTransport } from '@mortise/transport-stdio/client';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { describe, expect, it, onTestFinished } from 'vitest';

const INFO = { name: 'waiting', version: '1.0.0' };
/** So short that every other limit is longer, and that it does not matter if it is over before the wait begins. */
const TIMEOUT_MS = 50;

/** An event that a test awaits. */
class Signal {
  happened: () => void = () => undefined;
  readonly promise = new Promise<void>((resolve) => (this.happened = resolve));
}

/** A client whose next call hangs. */
interface Hanging {
  readonly client: McpClient;
  /** Resolves once the call hangs where it is meant to. */
  readonly hangs: Promise<void>;
}

interface Wait {
  readonly transport: 'stdio' | 'WebSocket' | 'HTTP' | 'HTTP+SSE';
  readonly waitsFor: string;
  open(): Promise<Hanging>;
  /** Whether the call's time stands still meanwhile. */
  readonly isPaused?: boolean;
}

// ---- clients

/** Starts to connect, so that a call waits for that. */
function connecting(source: ClientTransportSource): McpClient {
  const client = new McpClient(INFO);
  onTestFinished(() => client.close());
  client.connect(source).catch(() => undefined);
  return client;
}

async function connected(source: ClientTransportSource): Promise<McpClient> {
  const client = new McpClient(INFO);
  onTestFinished(() => client.close());
  await client.connect(source);
  return client;
}

/** Sends a call that fills whatever lies between the two sides. It ends with the client. */
function fill(client: McpClient): void {
  client.callTool('wait', { text: 'x'.repeat(8 * 1024 * 1024) }).catch(() => undefined);
}

async function untilLost(client: McpClient): Promise<void> {
  while (client.isConnected) await new Promise((resolve) => setImmediate(resolve));
}

// ---- stdio

/** A factory of processes. @param modes How the first process behaves, and how all later ones do. */
function processes(modes: readonly ['open' | 'silent', 'open' | 'silent']) {
  const started: StdioTransport[] = [];
  const got = new Map<string, Signal>();
  const on = (method: string): Signal => got.get(method) ?? got.set(method, new Signal()).get(method) ?? expect.fail();
  const factory = (): StdioTransport => {
    const program = fileURLToPath(new URL('../fixtures/hanging-server.mjs', import.meta.url));
    const transport = stdioTransport({
      command: process.execPath,
      args: [program, modes[started.length === 0 ? 0 : 1]],
      stderr: (line) => on(line).happened(),
      stdinCloseMs: 1,
      terminateMs: 1,
    });
    started.push(transport);
    return transport;
  };
  const kill = (name: NodeJS.Signals): void => void process.kill(started.at(-1)?.pid ?? expect.fail('no process'), name);
  return { factory, kill, on: (method: string) => on(method).promise };
}

const stdio: readonly Wait[] = [
  {
    transport: 'stdio',
    waitsFor: 'detection',
    open: async () => {
      const { factory, on } = processes(['silent', 'silent']);
      return { client: connecting(factory), hangs: on('server/discover') };
    },
  },
  {
    transport: 'stdio',
    waitsFor: 'reopening',
    open: async () => {
      const { factory, on, kill } = processes(['open', 'silent']);
      const client = await connected(factory);
      kill('SIGKILL');
      await untilLost(client);
      return { client, hangs: on('server/discover').then(() => undefined) };
    },
  },
  {
    transport: 'stdio',
    waitsFor: 'queueing',
    open: async () => {
      const { factory, kill } = processes(['open', 'open']);
      const client = await connected(factory);
      kill('SIGSTOP');
      fill(client);
      return { client, hangs: Promise.resolve() };
    },
  },
  {
    transport: 'stdio',
    waitsFor: 'the response',
    open: async () => {
      const { factory, on } = processes(['open', 'open']);
      return { client: await connected(factory), hangs: on('tools/call') };
    },
  },
];

// ---- sockets

/** A server whose only tool never returns. */
function hangingServer(): { readonly server: McpServer; readonly called: Signal } {
  const server = new McpServer({ name: 'hanging', version: '1.0.0' });
  const called = new Signal();
  server.registerTool('wait', {}, (ctx) => {
    called.happened();
    return new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('left'))));
  });
  return { server, called };
}

async function listen(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Stands before a server. Passes bytes on until it is `cut`, which breaks all connections, or `clogged`: then it passes on nothing more, as a stopped process. */
class Gate {
  port = 0;
  /** Where new connections lead; undefined for nowhere. */
  target: number | undefined;
  /** Bytes came that are not passed on. */
  readonly hangs = new Signal();
  readonly #sockets = new Set<Socket>();
  #isClogged = false;

  async listen(): Promise<this> {
    this.port = await listen(createServer((socket) => this.#accept(socket)));
    onTestFinished(() => this.#destroyAll());
    return this;
  }

  cut(target?: number): void {
    this.target = target;
    this.#destroyAll();
  }

  clog(): void {
    this.#isClogged = true;
  }

  #accept(near: Socket): void {
    const far = this.target === undefined ? undefined : connectSocket(this.target, '127.0.0.1');
    this.#join(near, far);
    if (far) this.#join(far, near);
  }

  #join(from: Socket, to: Socket | undefined): void {
    this.#sockets.add(from);
    from.on('error', () => undefined);
    from.on('close', () => {
      this.#sockets.delete(from);
      if (!this.#isClogged) to?.destroy();
    });
    from.on('data', (chunk) => {
      if (to && !this.#isClogged) return void to.write(chunk);
      from.pause();
      this.hangs.happened();
    });
  }

  #destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** An authorizer that gives no headers once it hangs. */
function hangingAuthorizer(isHanging: boolean) {
  const hangs = new Signal();
  const state = { isHanging };
  const authorizer: Authorizer = {
    headers: (_request, { signal } = {}) => {
      if (!state.isHanging) return Promise.resolve({});
      hangs.happened();
      // Ends with the connection only.
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('left'))));
    },
    onChallenge: () => Promise.resolve('fail'),
  };
  return { authorizer, state, hangs: hangs.promise };
}

/** How a transport that goes through a gate is served and made. */
interface Reach {
  readonly transport: Wait['transport'];
  serve(server: McpServer): Promise<number>;
  source(port: number, authorizer?: Authorizer, clock?: Clock): ClientTransportSource;
}

const serveOverHttp = async (server: McpServer): Promise<number> => {
  const serving = await serveHttp(server, { port: 0, sse: true, drainMs: 1 });
  onTestFinished(() => serving.close());
  return serving.port;
};

const webSocket: Reach = {
  transport: 'WebSocket',
  serve: async (server) => {
    const serving = await serveWebSocket(server, { port: 0, drainMs: 1 });
    onTestFinished(() => serving.close());
    return serving.port;
  },
  source: (port, authorizer) => webSocketTransport(`ws://127.0.0.1:${port}/mcp`, { authorizer }),
};
const http: Reach = {
  transport: 'HTTP',
  serve: serveOverHttp,
  source: (port, authorizer, clock) => httpTransport(`http://127.0.0.1:${port}/mcp`, { authorizer, clock }),
};
const sse: Reach = {
  transport: 'HTTP+SSE',
  serve: serveOverHttp,
  source: (port, authorizer, clock) => () => new SSEClientTransport(`http://127.0.0.1:${port}/sse`, { authorizer, clock }),
};

/** A client connected through a gate. */
async function throughGate(reach: Reach, authorizer?: Authorizer) {
  const { server, called } = hangingServer();
  const gate = await new Gate().listen();
  gate.target = await reach.serve(server);
  return { client: await connected(reach.source(gate.port, authorizer)), gate, called: called.promise };
}

const waitsOf = (reach: Reach): readonly Wait[] => [
  {
    ...reach,
    waitsFor: 'detection',
    open: async () => {
      const gate = await new Gate().listen();
      return { client: connecting(reach.source(gate.port)), hangs: gate.hangs.promise };
    },
  },
  {
    ...reach,
    waitsFor: 'the sign-in of connecting',
    open: async () => {
      const { authorizer, hangs } = hangingAuthorizer(true);
      const gate = await new Gate().listen();
      return { client: connecting(reach.source(gate.port, authorizer)), hangs };
    },
  },
  {
    ...reach,
    waitsFor: 'queueing',
    open: async () => {
      const { client, gate } = await throughGate(reach);
      gate.clog();
      fill(client);
      return { client, hangs: gate.hangs.promise };
    },
  },
  {
    ...reach,
    waitsFor: 'the response',
    open: async () => {
      const { client, called } = await throughGate(reach);
      return { client, hangs: called };
    },
  },
];

/** A connection that broke, to a server that is reached again and says nothing. */
const reopening = (reach: Reach): Wait => ({
  ...reach,
  waitsFor: 'reopening',
  open: async () => {
    const { client, gate } = await throughGate(reach);
    gate.cut();
    await untilLost(client);
    return { client, hangs: gate.hangs.promise };
  },
});

/** A restarted server that no longer knows the session, and does not open a new one. */
const lostSession: Wait = {
  ...http,
  waitsFor: 'reopening',
  open: async () => {
    const { server } = hangingServer();
    const gate = await new Gate().listen();
    gate.target = await serveOverHttp(server);
    const client = new McpClient(INFO, { era: 'legacy' });
    onTestFinished(() => client.close());
    await client.connect(http.source(gate.port));
    const hangs = new Signal();
    const restarted = createHttpServer(({ headers }, response) => {
      if (headers['mcp-session-id'] === undefined) hangs.happened();
      else response.writeHead(404).end();
    });
    gate.cut(await listen(restarted));
    return { client, hangs: hangs.promise };
  },
};

/** A clock by which the limit of the transport for a notification, 30 seconds, is never over. */
const patientClock: Clock = {
  ...systemClock,
  schedule: (fn, delayMs, options) => systemClock.schedule(fn, delayMs < 30_000 ? delayMs : Infinity, options),
};

/** A legacy session in which the server has not accepted the cancellation of a call. */
const earlierCancellation = (reach: Reach): Wait => ({
  ...reach,
  waitsFor: 'an earlier cancellation',
  open: async () => {
    const { server, called } = hangingServer();
    const gate = await new Gate().listen();
    gate.target = await reach.serve(server);
    const client = new McpClient(INFO, { era: 'legacy' });
    onTestFinished(() => client.close());
    await client.connect(reach.source(gate.port, undefined, patientClock));
    const controller = new AbortController();
    const earlier = client.callTool('wait', {}, { signal: controller.signal });
    await called.promise;
    gate.clog();
    controller.abort(new Error('never mind'));
    await earlier.catch(() => undefined);
    return { client, hangs: gate.hangs.promise };
  },
});

const laterSignIn = (reach: Reach): Wait => ({
  ...reach,
  waitsFor: 'a later sign-in',
  isPaused: true,
  open: async () => {
    const { authorizer, state, hangs } = hangingAuthorizer(false);
    const { client } = await throughGate(reach, authorizer);
    state.isHanging = true;
    return { client, hangs };
  },
});

// ---- the table

const waits = [
  ...stdio,
  ...waitsOf(webSocket),
  reopening(webSocket),
  ...waitsOf(http),
  lostSession,
  earlierCancellation(http),
  laterSignIn(http),
  ...waitsOf(sse),
  reopening(sse),
  earlierCancellation(sse),
  laterSignIn(sse),
];

describe('a call', () => {
  it.each(waits.filter(({ isPaused }) => isPaused !== true))(
    'over $transport that waits for $waitsFor ends by its timeoutMs',
    async ({ open }) => {
      const { client } = await open();
      const call = client.callTool('wait', {}, { timeoutMs: TIMEOUT_MS });
      const error: unknown = await call.then(
        () => expect.fail('the call did not hang'),
        (thrown: unknown) => thrown,
      );
      // The limit that ended the call is its own, or what was left of it.
      expect(error).toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: expect.toSatisfy((ms: number) => ms <= TIMEOUT_MS) as number });
    },
  );

  it.each(waits)('over $transport that waits for $waitsFor ends by its signal', async ({ open }) => {
    const { client, hangs } = await open();
    const controller = new AbortController();
    const call = client.callTool('wait', {}, { timeoutMs: 600_000, signal: controller.signal });
    const ended = expect(call).rejects.toThrow('never mind');
    await hangs;
    controller.abort(new Error('never mind'));
    await ended;
  });
});
