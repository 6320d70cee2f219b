/** `serveWatched`: serves a file's server, and loads the file again when it or a file beside it changes. */

import type { ServerResponse } from 'node:http';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import type { McpServer } from '@mortise/server';
import { serveHttp } from '@mortise/transport-http/node';
import { createHttpHandler } from '@mortise/transport-http/server';
import { stderrLogger, StdioServerTransport } from '@mortise/transport-stdio/server';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { toMessage } from '../errors.ts';
import { aborted, say, type Served, type ServingOptions, untilInterrupted } from '../serve.ts';
import { clean, type Terminal } from '../terminal.ts';
import { KeptClient } from './kept-client.ts';
import { watchFolder } from './watch-folder.ts';

/** A server that is served, and that another can take the place of. */
interface Serving {
  replace(next: Served): Promise<void>;
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves until the user interrupts, or the client on stdio leaves. A file that cannot be loaded is reported, and the last server stays.
 *
 * @param load Loads the file anew.
 * @throws What the first `load` or opening the port throws.
 */
export async function serveWatched(file: string, load: () => Promise<Served>, options: ServingOptions, terminal: Terminal): Promise<void> {
  let serving: Serving | undefined;
  const unwatch = await watchFolder(file, async () => serving && reload(serving, load, terminal));
  try {
    serving = await open(await untilInterrupted(load(), terminal), options, terminal);
    await Promise.race([aborted(terminal.io.signal), serving.closed]);
  } finally {
    await unwatch();
    await serving?.close();
  }
}

/** How long a file may take to load, and its server to take over, in milliseconds. */
const LOAD_MS = 30_000;

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not finish loading within ${timeoutMs / 1000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function reload(serving: Serving, load: () => Promise<Served>, terminal: Terminal): Promise<void> {
  const startMs = performance.now();
  try {
    const server = await within(LOAD_MS, load());
    await within(LOAD_MS, serving.replace(server));
    terminal.note(terminal.styleNote('dim', `loaded again in ${Math.round(performance.now() - startMs)} ms`));
  } catch (error) {
    terminal.note(`${terminal.styleNote('red', 'error')}: ${clean(toMessage(error))}; the last server goes on`);
  }
}

function open(server: Served, options: ServingOptions, terminal: Terminal): Promise<Serving> {
  if (options.http === true) return onHttp(server, options, terminal);
  return options.ws === true ? onWebSocket(server, options, terminal) : onStdio(server, terminal);
}

async function onHttp(server: Served, { port, host }: ServingOptions, terminal: Terminal): Promise<Serving> {
  // Sessions and their streams outlive the server that they began with.
  const options = { path: '/mcp', logger: stderrLogger, sessionStore: new MemorySessionStore(), eventStore: new MemoryEventStore() };
  const serving = await serveHttp(server, { port, host, ...options });
  say(serving.url, terminal);
  let current = { server, handler: serving.handler };
  const listens = new Set<ServerResponse>();
  serving.server.off('request', serving.handler.node);
  serving.server.on('request', (request, response) => {
    if (request.headers['mcp-method'] === 'subscriptions/listen') {
      listens.add(response);
      response.once('close', () => listens.delete(response));
    }
    const opened = current.handler.node(request, response);
    // The stream of a legacy session was closed with the last server, so its client learns here that the lists may have changed.
    if (request.method === 'GET' && current.server !== server) void opened.then(() => announceLists(current.server));
  });
  return {
    replace: async (next) => {
      const last = current;
      const open = [...listens];
      current = { server: next, handler: createHttpHandler(next, options) };
      // As if the connection broke, after which clients subscribe and list again: a subscription that its server ends is over.
      for (const listen of open) listen.destroy();
      await last.handler.close();
    },
    closed: NEVER,
    close: async () => {
      await current.handler.close();
      await serving.close();
    },
  };
}

/** Tells the clients of a server that its lists changed. */
function announceLists(server: Served): void {
  const { sendToolListChanged, sendResourceListChanged, sendPromptListChanged } = server as Partial<McpServer>;
  for (const send of [sendToolListChanged, sendResourceListChanged, sendPromptListChanged]) void send?.call(server as McpServer);
}

/** WebSockets are closed, and clients open them again. */
async function onWebSocket(server: Served, { port, host }: ServingOptions, terminal: Terminal): Promise<Serving> {
  let serving = await serveWebSocket(server, { port, host });
  say(serving.url, terminal);
  const samePort = Number(new URL(serving.url).port);
  return {
    replace: async (next) => {
      await serving.close();
      serving = await serveWebSocket(next, { port: samePort, host });
    },
    closed: NEVER,
    close: () => serving.close(),
  };
}

const NEVER = new Promise<void>(() => undefined);

async function onStdio(server: Served, { io: { stdin, stdout } }: Terminal): Promise<Serving> {
  const client = new KeptClient(new StdioServerTransport(stdin, stdout, { exitWhenDone: false }));
  await client.connect(server);
  return { replace: (next) => client.connect(next), closed: client.closed, close: () => client.close() };
}
