/** One machine: a server over stores that all machines share, a health route, and an end that loses nothing. */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterStores } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { createTasks } from '@mortise/tasks/server';
import { createHttpHandler, type HttpHandler } from '@mortise/transport-http/server';
import { z } from 'zod';
import type { Telemetry } from './telemetry.ts';

/** A step of a task that began here, or whose value is stored. */
export interface StepEvent {
  readonly kind: 'began' | 'stored';
  readonly step: string;
  readonly value: string;
}

export interface MachineOptions {
  readonly stores: ClusterStores;
  /** The same on all machines. */
  readonly secret: string;
  /** The port to listen on. @default any free port */
  readonly port?: number;
  readonly onStep?: (event: StepEvent) => void;
  readonly onError?: (message: string, data: unknown) => void;
  /** @default nothing is traced or measured */
  readonly telemetry?: Telemetry | undefined;
}

/** A machine that serves. */
export interface Machine {
  readonly port: number;
  readonly handler: HttpHandler;
  /** Leaves the cluster: says so on the health route, ends calls and listens, gives tasks back, and closes the stores. */
  leave(): Promise<void>;
}

/** How many resources there are to subscribe to. */
export const RESOURCES = 20;
export const uriOf = (n: number): string => `thing://${n % RESOURCES}`;

const STEPS = 3;
const STEP_MS = 150;

export async function startMachine({ stores, secret, port = 0, onStep, onError, telemetry }: MachineOptions): Promise<Machine> {
  const logger = { log: (level: string, message: string, data?: unknown) => void (level === 'error' && onError?.(message, data)) };
  const tasks = createTasks({ store: stores.tasks, leaseMs: 3000, pollIntervalMs: 500, logger, meter: telemetry?.meter });
  const server = new McpServer(
    { name: 'many-machines', version: '1.0.0' },
    {
      extensions: [tasks],
      messageBus: stores.bus,
      clusterKey: createHash('sha256').update(secret).digest(),
      requestState: { store: stores.states, replay: stores.replays },
      tracer: telemetry?.tracer,
      logger,
    },
  );
  if (telemetry) server.use(telemetry.middleware);
  addTools(server, onStep ?? (() => undefined));
  const handler = createHttpHandler(server, {
    path: '/mcp',
    messageBus: stores.bus,
    sessionStore: stores.sessions,
    eventStore: stores.events,
    // Who calls is whom the token names: a real server verifies it.
    tokenVerifier: { verify: async ({ token = 'nobody' }) => ({ principal: token, scopes: [] }) },
    logger,
  });
  telemetry?.watch(handler);
  let isLeaving = false;
  const http = createServer((request, response) => {
    // The balancer takes another machine for its next request.
    if (isLeaving) response.setHeader('connection', 'close');
    if (request.url !== '/health') return void handler.node(request, response);
    void stores.health().then(({ isUp, problems }) => {
      const isReady = isUp && !isLeaving;
      response.writeHead(isReady ? 200 : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ isReady, problems: isLeaving ? ['This machine is leaving'] : problems }));
    });
  });
  // Longer than the balancer keeps a connection: it must never send a request on one that is about to be closed here.
  http.keepAliveTimeout = 75_000;
  http.listen(port, '127.0.0.1');
  await once(http, 'listening');
  const leave = async (): Promise<void> => {
    isLeaving = true;
    await handler.close({ drainMs: 5000 });
    await server.close();
    await closeServer(http);
    await stores.close();
  };
  return { port: (http.address() as AddressInfo).port, handler, leave };
}

async function closeServer(http: Server): Promise<void> {
  const closed = once(http, 'close');
  http.close();
  http.closeAllConnections();
  await closed;
}

function addTools(server: McpServer, onStep: (event: StepEvent) => void): void {
  for (let n = 0; n < RESOURCES; n++) server.registerResource(`thing ${n}`, uriOf(n), {}, () => String(n));

  server.registerTool('count', { inputSchema: { to: z.int(), everyMs: z.int() } }, async ({ to, everyMs }, ctx) => {
    for (let n = 1; n <= to; n++) {
      await sleep(everyMs, undefined, { signal: ctx.signal });
      await ctx.progress(n, to, String(n));
    }
    return String(to);
  });

  server.registerTool('ask', { inputSchema: { question: z.string() } }, async ({ question }, ctx) => {
    const answer = await ctx.elicit({ message: question, requestedSchema: { text: z.string() } });
    return answer.action === 'accept' ? answer.content.text : answer.action;
  });

  server.registerTool('change', { inputSchema: { uri: z.string() } }, async ({ uri }) => {
    await server.sendResourceUpdated({ uri });
    return 'changed';
  });

  const work = { inputSchema: { key: z.string() }, execution: { taskSupport: 'required' as const }, resumable: true };
  server.registerTool('work', work, async ({ key }, ctx) => {
    const values: string[] = [];
    let answer = '';
    for (let n = 1; n <= STEPS; n++) {
      const step = `${key}/${n}`;
      const value = await ctx.once(step, async () => {
        const made = crypto.randomUUID();
        onStep({ kind: 'began', step, value: made });
        await sleep(STEP_MS, undefined, { signal: ctx.signal });
        return made;
      });
      onStep({ kind: 'stored', step, value });
      values.push(value);
      if (n !== 2) continue;
      const given = await ctx.elicit({ message: `${key}?`, requestedSchema: { text: z.string() } });
      if (given.action === 'accept') answer = given.content.text;
    }
    return JSON.stringify({ answer, values });
  });
}
