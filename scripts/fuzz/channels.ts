/** The connections that are fuzzed: to servers in this process, in memory, over HTTP and WebSocket, and to one in a child process. */

import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { classifyMessage } from '@mortise/jsonrpc-core/messages';
import { createInMemoryPair, type JsonRpcMessage } from '@mortise/jsonrpc-core';
import { serveHttp } from '@mortise/transport-http/node';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { WebSocket } from 'ws';
import { startNode } from '../run-command.mjs';
import { createFuzzServer } from './fuzz-server.ts';
import type { Frame } from './message-source.ts';
import type { Json, JsonObject } from './mutate.ts';

/** One connection to a server that is fuzzed. */
export interface FuzzChannel {
  /** Sends a frame; resolves to false where the channel cannot carry it (text that is no JSON, where no text is carried). */
  send(frame: Frame): Promise<boolean>;
  /** Whether the channel refuses a batch as a whole, with one error that has no id, in a revision that reads batches. */
  refusesBatch?(members: readonly Json[]): boolean;
  /** Closes the connection from the client's side; resolves to what was wrong about how the server took it, or nothing. */
  close(): Promise<string | undefined>;
}

/** Opens a connection whose server's messages go to `onMessage`. */
export type OpenChannel = (onMessage: (message: Json) => void) => Promise<FuzzChannel>;

/** Only what ends a server that hangs: a busy machine takes its time. */
const exitTimeoutMs = 60_000;
/** How many POSTs are open at once. */
const maxOpen = 64;

/** Creates, for each transport, what opens connections. Those in this process are all to one server object. */
export const transports: Readonly<Record<string, () => OpenChannel>> = {
  'in memory': createInMemoryOpener,
  stdio: () => openStdio,
  http: createHttpOpener,
  websocket: createWebSocketOpener,
};

export function createInMemoryOpener(): OpenChannel {
  const server = createFuzzServer();
  return async (onMessage) => {
    // By reference, since what is sent here need not be a message that can be written. What comes must be.
    const [ours, theirs] = createInMemoryPair();
    ours.onmessage = (message) => onMessage(JSON.parse(JSON.stringify(message)) as Json);
    const connection = await server.connect(theirs);
    await ours.start();
    return {
      async send({ value }) {
        if (value !== undefined) await ours.send(value as unknown as JsonRpcMessage);
        return value !== undefined;
      },
      async close() {
        await ours.close();
        await connection.closed;
        return undefined;
      },
    };
  };
}

/** A fresh server process for each connection. */
const openStdio: OpenChannel = async (onMessage) => {
  const child = startNode(['--conditions=mortise-source', '--import', 'tsx', `${import.meta.dirname}/fuzz-server.ts`], 'pipe');
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors = (errors + chunk).slice(-20_000)));
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  let rest: string[] = [];
  // `node:readline` will not do: from Node 24 on it ends lines at U+2028 too.
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const [first = '', ...others] = chunk.split('\n');
    rest.push(first);
    for (const next of others) {
      onMessage(JSON.parse(rest.join('')) as Json);
      rest = [next];
    }
  });
  return {
    async send({ bytes }) {
      if (!child.stdin.write(Buffer.concat([bytes, Buffer.from('\n')]))) await Promise.race([once(child.stdin, 'drain'), exited]);
      return true;
    },
    async close() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), exitTimeoutMs);
      const [code, signal] = await exited;
      clearTimeout(timer);
      return code === 0 ? undefined : `the server ended with ${signal ?? `code ${code}`}:\n${errors}`;
    },
  };
};

function createWebSocketOpener(): OpenChannel {
  const serving = serveWebSocket(createFuzzServer(), { port: 0 });
  return async (onMessage) => {
    const { url, httpServer } = await serving;
    // The fuzzer ends with the process.
    httpServer.unref();
    const ws = new WebSocket(url, ['mcp'], { perMessageDeflate: false });
    ws.on('message', (data: Buffer) => onMessage(JSON.parse(data.toString()) as Json));
    const closed = once(ws, 'close') as Promise<[number, Buffer]>;
    await once(ws, 'open');
    return {
      async send({ bytes }) {
        // A text frame that is not UTF-8 ends a WebSocket, as RFC 6455 has it; the package's own tests show that.
        if (isUtf8(bytes)) ws.send(bytes, { binary: false });
        return isUtf8(bytes);
      },
      async close() {
        const endedEarly = ws.readyState !== ws.OPEN;
        ws.close(1000);
        const timer = setTimeout(() => ws.terminate(), exitTimeoutMs);
        const [code, reason] = await closed;
        clearTimeout(timer);
        return code === 1000 && !endedEarly ? undefined : `the server ended the connection with ${code} ${reason.toString()}`;
      },
    };
  };
}

/** A POST a frame, by bare `node:http`. */
function createHttpOpener(): OpenChannel {
  const serving = serveHttp(createFuzzServer(), { port: 0 });
  return async (onMessage) => {
    const { url, server } = await serving;
    server.unref();
    // Both ends are this process: one that stands still for five seconds must not find its idle connections ended when it goes on.
    server.keepAliveTimeout = 0;
    const agent = new Agent({ keepAlive: true });
    const open = new Set<Promise<void>>();
    let isClosing = false;
    let sessionId: string | undefined;
    let isOpened = false;
    let problem: string | undefined;

    /** Resolves to the status, once the whole response has come. */
    const call = async (method: string, body: Uint8Array, headers: object): Promise<number | undefined> => {
      const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'content-length': body.length };
      const session = sessionId !== undefined && { 'mcp-session-id': sessionId };
      const sending = request(url, { agent, method, headers: { ...types, ...session, ...headers } });
      // `once` hears errors only until the response, and the reader of the response only once it reads. An abort in between is no fault.
      sending.on('error', () => undefined);
      sending.once('response', (response: IncomingMessage) => response.on('error', () => undefined));
      sending.end(body);
      const [response] = (await once(sending, 'response')) as [IncomingMessage];
      sessionId ??= response.headers['mcp-session-id'] as string | undefined;
      await readMessages(response, onMessage);
      return response.statusCode;
    };
    const post = async ({ bytes, value }: Frame): Promise<void> => {
      await call('POST', bytes, toHeaders(value)).catch((error: Error) => {
        if (!isClosing) problem ??= `a POST failed: ${String(error)}`;
      });
    };
    return {
      async send(frame) {
        const answered = post(frame).finally(() => open.delete(answered));
        open.add(answered);
        // Only the first message opens a session, and everything after it names the session.
        if (!isOpened) await answered;
        isOpened = true;
        if (open.size >= maxOpen) await Promise.race(open);
        return true;
      },
      /** Over HTTP a batch holds requests or responses, never both, and no `initialize`: 400 otherwise. */
      refusesBatch(members) {
        const kinds = new Set(members.map((member) => classifyMessage(member)));
        return (kinds.has('response') && kinds.has('request')) || members.some((member) => toObject(member)['method'] === 'initialize');
      },
      async close() {
        isClosing = true;
        // Ends what is open: an abort by signal can meet a connection that is idle again, whose error nobody hears.
        agent.destroy();
        if (sessionId !== undefined) {
          const status = await call('DELETE', new Uint8Array(), {}).catch((error: Error) => error.message);
          if (status !== 200 && status !== 204) problem ??= `the session could not be ended: ${status}`;
        }
        agent.destroy();
        return problem;
      },
    };
  };
}

async function readMessages(response: IncomingMessage, onMessage: (message: Json) => void): Promise<void> {
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
  let rest = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    rest += chunk;
    if (!isStream) continue;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (/^data:./.test(line)) onMessage(JSON.parse(line.slice(5)) as Json);
  }
  if (rest !== '') onMessage(JSON.parse(rest) as Json);
}

/** What a modern request says in headers, so that it is its body which is fuzzed. */
function toHeaders(value: Json | undefined): Record<string, string> {
  const { method, params } = toObject(value);
  const { _meta, uri, name } = toObject(params);
  const version = toObject(_meta)['io.modelcontextprotocol/protocolVersion'];
  if (typeof version !== 'string') return {};
  const headers = { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': method === 'resources/read' ? uri : name };
  return Object.fromEntries(Object.entries(headers).flatMap(([key, text]) => (typeof text === 'string' ? [[key, toHeader(text)]] : [])));
}

/** What a header cannot carry as it is travels in base64. */
function toHeader(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) && !text.startsWith('=?base64?') ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function toObject(value: Json | undefined): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}
