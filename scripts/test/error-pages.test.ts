/**
 * Keeps docs/reference/errors true: every code has a page, and its messages are those of Mortise. A row below makes a message happen through
 * the public interface, over a real child process or real HTTP where it is of one. Messages without a row are looked for in the sources.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import * as v3 from 'zod/v3';
import { type ClientOptions, McpClient } from '@mortise/client';
import { connectInMemory, type InMemoryConnectOptions } from '@mortise/client/in-memory';
import { createInMemoryPair, type JsonObject, type JsonRpcMessage, type Logger, RemoteError } from '@mortise/jsonrpc-core';
import { AuthChallengeError, revisionsOf } from '@mortise/protocol';
import type { CallToolResult } from '@mortise/protocol/model';
import { McpServer, type McpServerOptions } from '@mortise/server';
import { Server } from '@mortise/server/low-level';
import { rateLimit } from '@mortise/server/middleware';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp, type ServeHttpOptions } from '@mortise/transport-http/node';
import { createHttpHandler } from '@mortise/transport-http/server';
import { StdioClientTransport, stdioTransport } from '@mortise/transport-stdio/client';
import { bundleProgram } from './bundle-program.ts';

const root = resolve(import.meta.dirname, '../..');
const folderOfPages = join(root, 'docs/reference/errors');
const ME = { name: 'test', version: '1' };

/** What a reader has in front of him. */
interface Failure {
  readonly said: string;
  /** What he can tell it by: a `code`, an HTTP status, ... The page names it below the heading. */
  readonly label: string;
}

// ---- servers that fail

let folder: string;
let noisyServer: string;

const NOISY_SERVER = `
import { McpServer } from '@mortise/server';
import { serveStdio } from '@mortise/transport-stdio/server';
const server = new McpServer({ name: 'noisy', version: '1' });
server.registerTool('log', {}, () => { console.log('Loading 3 files'); return 'done'; });
server.registerTool('die', {}, () => process.exit(7));
server.registerTool('long', {}, () => 'x'.repeat(100_000));
await serveStdio(server);
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mortise-error-pages-'));
  noisyServer = join(folder, 'server.mjs');
  await bundleProgram({ stdin: { contents: NOISY_SERVER, resolveDir: import.meta.dirname }, outfile: noisyServer });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How a child process is run that is no server of ours. */
const script = (code: string) => ({ command: process.execPath, args: ['-e', code], stderr: 'ignore' as const });

/** A server of the legacy era, as far as these tests talk to it. */
const legacyScript = (protocolVersion: string, banner = '') => `
if (${JSON.stringify(banner)} !== '') console.log(${JSON.stringify(banner)});
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const result = { protocolVersion: '${protocolVersion}', capabilities: {}, serverInfo: { name: 'old', version: '1' } };
  if (id === undefined) return;
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(method === 'initialize' ? { result } : { error: { code: -32601, message: 'No' } }) }));
});`;

const DIES = 'console.error("API_KEY is not set"); process.exit(3)';
const SOON = { probeTimeoutMs: 100, requestTimeoutMs: 100 };
const QUESTION = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } } as const;
const ANSWERS: ClientOptions = { elicitation: () => ({ action: 'accept', content: { name: 'Ann' } }) };

function makeServer(options: McpServerOptions = {}): McpServer {
  const server = new McpServer(ME, options);
  server.registerResource('a', 'note://a', {}, () => 'A');
  server.registerTool('add', { inputSchema: { a: z.number() } }, ({ a }) => `${a + 1}`);
  server.registerTool('parse', {}, () => String(JSON.parse('x')));
  server.registerTool('tell', {}, (ctx) => {
    ctx.log.info('Hello');
    return '';
  });
  server.registerTool('ask', {}, async (ctx) => (await ctx.elicit(QUESTION)).action);
  server.registerTool('swallow', {}, (ctx) => ctx.elicit(QUESTION).then(String, () => 'nobody'));
  server.registerTool('wait', {}, async (ctx) => {
    await ctx.progress(1);
    return new Promise<string>((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error)));
  });
  return server;
}

/** The same with prompts. Rows about a server that has none take the other. */
function makeServerOfPrompts(server = makeServer()): McpServer {
  server.registerPrompt('greet', { argsSchema: { name: z.string() } }, ({ name }) => `Greet ${name}`);
  server.registerPrompt('broken', {}, () => 5 as never);
  return server;
}

// ---- what is said

/** What a promise rejects with, or a function throws. */
async function failureOf(act: () => unknown): Promise<Failure> {
  try {
    await act();
  } catch (error) {
    const { message, name, code = name } = error as Error & { readonly code?: string };
    return { said: message, label: error instanceof RemoteError ? String(error.rpcCode) : code };
  }
  throw new Error('Nothing failed');
}

const connect = (run: Parameters<typeof stdioTransport>[0], options?: ClientOptions): Promise<Failure> =>
  failureOf(() => McpClient.connect(stdioTransport(run), ME, options));

/** What a tool's result says that is an error. */
function failureOfTool({ isError, content: [block] }: CallToolResult): Failure {
  return { said: block?.type === 'text' ? block.text : '', label: isError === true ? 'isError' : 'success' };
}

async function withClient<T>(connecting: Promise<McpClient>, use: (client: McpClient) => Promise<T>): Promise<T> {
  const client = await connecting;
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const inMemory = <T>(server: McpServer, use: (client: McpClient) => Promise<T>, options?: InMemoryConnectOptions): Promise<T> =>
  withClient(connectInMemory(server, options), use);

const call = (name: string, args = {}, options?: InMemoryConnectOptions, server = makeServer()): Promise<Failure> =>
  inMemory(server, async (client) => failureOfTool(await client.callTool(name, args)), options);

/** What a client in memory is refused. */
const refused = (act: (client: McpClient) => unknown, server = makeServer()): Promise<Failure> =>
  inMemory(server, (client) => failureOf(() => act(client)));

const register = (config: object, handler: () => unknown = () => '', server = makeServer()): McpServer => {
  server.registerTool('out', config, handler as () => string);
  return server;
};

const callOut = (...registering: Parameters<typeof register>): Promise<Failure> => call('out', {}, {}, register(...registering));

/** What a client says of the output of a server that checks nothing by itself. */
function refusedOutput(outputSchema: JsonObject): Promise<Failure> {
  const server = new Server(ME, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'out', inputSchema: { type: 'object' }, outputSchema }] }));
  server.setRequestHandler('tools/call', () => ({ content: [], structuredContent: {} }));
  return withClient(connectInMemory(server), (client) => failureOf(() => client.listTools().then(() => client.callTool('out'))));
}

/** The first warning of a server, while it is used. */
async function warningOf(use: (server: McpServer) => Promise<unknown>): Promise<Failure> {
  const failures: Failure[] = [];
  const logger: Logger = { log: (level, message) => void failures.push({ said: message, label: level }) };
  await use(makeServer({ logger }));
  return failures.find(({ label }) => label === 'warning') ?? { said: '', label: '' };
}

async function overHttp<T>(use: (url: string) => Promise<T>, options: Partial<ServeHttpOptions> = {}, server = makeServer()): Promise<T> {
  await using serving = await serveHttp(server, { port: 0, logger: { log: () => undefined }, ...options });
  return await use(serving.url);
}

const OPENING = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: ME };
const INITIALIZE = { jsonrpc: '2.0' as const, id: 1, method: 'initialize', params: OPENING };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

type Raw = Partial<Readonly<Record<'method' | 'path', string> & { headers: Readonly<Record<string, string>>; body: object }>>;

/** Sends one request as somebody would by hand, and reads why it is refused. */
async function send(url: string, { method = 'POST', path = '/mcp', headers = {}, body = INITIALIZE }: Raw): Promise<Failure> {
  const given = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers };
  return await new Promise((done, fail) => {
    const sending = request(new URL(path, url), { method, headers: given, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const { error } = JSON.parse(text) as { readonly error?: { readonly message: string } };
        done({ said: error?.message ?? text, label: `HTTP ${response.statusCode}` });
      });
    });
    sending.on('error', fail);
    sending.end(method === 'POST' ? JSON.stringify(body) : undefined);
  });
}

const refusal = (raw: Raw, options?: Partial<ServeHttpOptions>): Promise<Failure> => overHttp((url) => send(url, raw), options);

/** What a client says of an address where something else than MCP answers. */
async function connectTo(listener: RequestListener): Promise<Failure> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    return await failureOf(() => McpClient.connect(httpTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`), ME));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The first refusal of a server that is asked more than it takes. By hand: ten thousand calls of a client take seconds. */
async function crowd(server: McpServer): Promise<Failure> {
  const [near, far] = createInMemoryPair();
  const refused = new Promise<Failure>((done) => {
    near.onmessage = (message: JsonRpcMessage) => {
      if ('error' in message) done({ said: message.error.message, label: String(message.error.code) });
    };
  });
  await Promise.all([server.connect(far), near.start()]);
  await near.send(INITIALIZE);
  await near.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  for (let id = 2; id <= 10_002; id += 1) await near.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait' } });
  const failure = await refused;
  await near.close();
  return failure;
}

// ---- the rows

/** Each message of the page, and what makes it. */
const provoked: Readonly<Record<string, () => Promise<Failure>>> = {
  'The server "…" could not be started: it was not found in PATH': () => connect({ command: 'mortise-has-no-such-program' }),
  'The connection is closed: The server process "…" exited with code …': () => connect(script(DIES)),
  'the server closed the connection at the first message: …': () =>
    failureOf(() => McpClient.connect(new StdioClientTransport(script(DIES)), ME)),
  '… exited with code 0. It wrote nothing to its standard output: check that the program serves MCP, as with serveStdio(server)': () =>
    connect(script('')),
  '… exited with code 0. It wrote text that is not MCP messages to its standard output: check that the program serves MCP, as with serveStdio(server)':
    () => connect(script('console.log("hello")')),
  'the server did not respond to the first message within … ms': () => connect(script('process.stdin.resume()'), SOON),
  async 'The text is not valid JSON. The line begins with …: only messages may be written to this stream'() {
    const errors: Error[] = [];
    const transport = stdioTransport(script(legacyScript('2025-11-25', 'Server running')));
    await withClient(McpClient.connect(transport, ME, { onError: (error) => errors.push(error) }), async () => undefined);
    return failureOf(() => Promise.reject(errors[0] as Error));
  },
  async '[mortise] Standard output carries the MCP protocol, so …, written by …, was moved to standard error'() {
    const lines: string[] = [];
    const transport = stdioTransport({ ...script(''), args: [noisyServer], stderr: (line) => void lines.push(line) });
    await withClient(McpClient.connect(transport, ME), (client) => client.callTool('log'));
    return { said: lines[0] ?? '', label: 'stderr' };
  },
  'the connection broke before "…" was answered: whether it was carried out is not known': () =>
    withClient(McpClient.connect(stdioTransport({ ...script(''), args: [noisyServer] }), ME), (client) =>
      failureOf(() => client.callTool('die')),
    ),
  'The response to "…" cannot be read: A message is longer than … bytes': () =>
    withClient(McpClient.connect(stdioTransport({ ...script(''), args: [noisyServer], maxMessageBytes: 50_000 }), ME), (client) =>
      failureOf(() => client.callTool('long')),
    ),
  'The response is longer than … bytes: raise maxMessageBytes, or ask for less': () =>
    overHttp((url) => failureOf(() => McpClient.connect(httpTransport(url, { maxMessageBytes: 10 }), ME))),

  'the server chose version "…", this client supports …: update one of the two': () => connect(script(legacyScript('2019-01-01'))),
  '"initialize" is not supported by this server: the supported protocol versions are …': () =>
    failureOf(() => connectInMemory(makeServer({ revisions: revisionsOf('modern') }), { protocolVersion: '2025-06-18' })),
  'the server does not support the modern era, the only one that this client allows': () =>
    connect(script(legacyScript('2025-11-25')), { era: 'modern' }),
  'this client is connected already: call close() first, or make another client': () =>
    refused((client) => client.connect(stdioTransport(script('')))),
  'not connected yet: call connect() first': () => failureOf(() => new McpClient(ME).listTools()),
  'the client was closed': () => refused((client) => client.close().then(() => client.listTools())),
  '"…" needs the capability "…", which the server does not declare': () => refused((client) => client.listPrompts()),
  'the server lacks what this program requires: …': () => failureOf(() => connectInMemory(makeServer(), { requires: ['prompts'] })),
  'the server needs what this client does not declare for "…"': () => refused((client) => client.callTool('ask')),
  '"…" needs the client capability "…", which this client does not declare': () => call('ask', {}, { era: 'legacy' }),

  '…: unknown option "…" (known: …)': () =>
    failureOf(() => makeServer().registerPrompt('greet', { title: 'Greeting', ...{ name: 'another' } }, () => 'hello')),
  'the server\'s options: unknown option "…" (known: …)': () =>
    failureOf(() => makeServer({ pageSize: 10, ...{ debouncedNotificationMethods: [] } })),
  'tool "…": "execution" needs new McpServer(info, { extensions: [createTasks()] }) of @mortise/tasks': () =>
    failureOf(() => makeServer().registerTool('report', { title: 'Report', ...{ execution: { taskSupport: 'optional' } } }, () => '')),
  'use("…", middleware): there is no such method. For your own, call setRequestHandler first': () =>
    failureOf(() => makeServer().use('tool/call', (_call, next) => next())),
  '… is registered already: choose another name, or update or remove the first': () =>
    failureOf(() => makeServer().registerTool('add', {}, () => '')),
  'ctx.log sends nothing, because the server does not declare logging: …': () =>
    warningOf((server) => inMemory(server, (client) => client.callTool('tell'))),

  '… is neither a shape, whose fields are schemas, nor a JSON Schema, which has "type": "object". A shape is, for example, …': () =>
    failureOf(() => register({ inputSchema: { a: 'string' } })),
  'prompt argument "…" must be a string, got …: convert it first': () =>
    refused((client) => client.getPrompt('greet', { ...({ name: 7 } as object) }), makeServerOfPrompts()),
  'the answer does not fit the form\'s schema: "…" …': () =>
    failureOf(() => call('ask', {}, { elicitation: () => ({ action: 'accept', content: { name: 7 } }) })),
  'prompt "…": argument "…" has the type number, but prompt arguments are strings: …': () =>
    failureOf(() => makeServer().registerPrompt('p', { argsSchema: { n: z.number() } }, () => '')),
  '…: inputSchema field "…" cannot be converted to JSON Schema: …. Use a JSON type': () =>
    failureOf(() => register({ inputSchema: { when: z.date() } })),
  '… cannot be converted to JSON Schema: this schema is from zod before 4.2, or from zod/mini': () =>
    failureOf(() => register({ inputSchema: { a: mini.number() } })),
  '… cannot be converted to JSON Schema: this is a zod 3 schema': () => failureOf(() => register({ inputSchema: { a: v3.z.number() } })),

  'Unknown tool: "…"': () => refused((client) => client.callTool('Add', { a: 1 })),
  'Unknown tool: "…". Did you mean "…"?': () => refused((client) => client.callTool('ad', { a: 1 })),
  'Unknown prompt: "…"': () => refused((client) => client.getPrompt('Greet'), makeServerOfPrompts()),
  'Invalid params: params.arguments must be an object, got …': () =>
    refused((client) => client.callTool({ name: 'add', arguments: [1] as never })),
  'Method not found: …': () => refused((client) => client.request('tools/remove')),
  'tool "…": argument "…" must be …, got …': () => call('add', { a: '1' }),
  'tool "…": argument "…" is required': () => call('add'),
  'tool "…": outputSchema is declared, but the handler gave no structuredContent': () => callOut({ outputSchema: { sum: z.number() } }),
  'tool "…": structuredContent field "…" must be …, got …: the handler must return what outputSchema describes': () =>
    callOut({ outputSchema: { sum: z.number() } }, () => ({ structuredContent: { sum: '1' } })),
  'tool "…": the handler gave an object without content: put its fields into { structuredContent: ... }': () =>
    callOut({}, () => ({ sum: 1 })),
  'the structuredContent of the tool "…" does not fit its outputSchema': () => refusedOutput({ type: 'object', required: ['sum'] }),
  'the outputSchema of the tool "…" cannot be checked: …. The option "validator: false" turns the check off': () =>
    refusedOutput({ type: 'object', $schema: 'https://example.com/dialect' }),
  'internal error: the log of the server has the details': () => call('parse'),
  'Internal error': () => refused((client) => client.getPrompt('broken'), makeServerOfPrompts()),
  '"…" was not answered within … ms: raise timeoutMs, or ask for less': () =>
    refused((client) => client.callTool('wait', {}, { timeoutMs: 50 })),
  '"…" did not finish within … ms': () => call('wait', {}, {}, makeServer({ handlerTimeoutMs: 50 })),
  'there is no resource …: …': () => refused((client) => client.readResource('note://b')),
  'Too many requests at once (…): wait for responses, then retry': () => crowd(makeServer()),
  'Too many … requests: try again in … s': () => {
    const server = makeServer();
    server.use(rateLimit({ burst: 1, perSecond: 0.001 }));
    return refused((client) => client.callTool('add', { a: 1 }).then(() => client.callTool('add', { a: 2 })), server);
  },
  '"…" cannot reach this client: sessions are switched off for this host, so switch them on': () =>
    overHttp(
      (url) =>
        withClient(McpClient.connect(httpTransport(url), ME, { ...ANSWERS, era: 'legacy' }), async (client) =>
          failureOfTool(await client.callTool('ask')),
        ),
      { sessions: false },
    ),
  '… after its question was sent to the client: it caught Suspended, or awaits something else': () =>
    warningOf((server) => inMemory(server, (client) => client.callTool('swallow'), ANSWERS)),
  'requestState is sealed with a key that only this process has': () =>
    warningOf((server) =>
      overHttp((url) => withClient(McpClient.connect(httpTransport(url), ME, ANSWERS), (client) => client.callTool('ask')), {}, server),
    ),

  'Cannot listen on …: another program listens there': () =>
    overHttp((url) => failureOf(() => serveHttp(makeServer(), { port: Number(new URL(url).port) }))),
  'options of an HTTP server: unknown option "…" (known: …)': () =>
    failureOf(() => serveHttp(makeServer(), { port: 0, ...{ tokenVerifer: {} } })),
  'listen EADDRINUSE: address already in use': () =>
    overHttp((url) =>
      failureOf(() => {
        const own = createServer(createHttpHandler(makeServer()).node).listen(Number(new URL(url).port), '127.0.0.1');
        return new Promise((_, reject) => own.once('error', reject));
      }),
    ),
  async 'POST … got no response: …'() {
    const closedUrl = await overHttp((url) => Promise.resolve(url));
    return failureOf(() => McpClient.connect(httpTransport(closedUrl), ME));
  },
  '… was answered with HTTP status … and a body of type "text/html": that is a web page and no MCP server': () =>
    connectTo((_, response) => response.writeHead(404, { 'Content-Type': 'text/html' }).end('<html>')),
  '… was answered with HTTP status 502 and a body of type "text/html": a proxy did not reach the server, or lost it': () =>
    connectTo((_, response) => response.writeHead(502, { 'Content-Type': 'text/html' }).end('<html>')),
  'its body is neither JSON nor an event stream, so there is no MCP server at this URL': () =>
    connectTo((_, response) => response.writeHead(200, { 'Content-Type': 'text/plain' }).end('hello')),
  'The HTTP response of POST … does not contain the JSON-RPC response': () =>
    connectTo((_, response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}')),
  'this server speaks … only, so send that version both in this header and in "_meta"': () => refusal({}, { legacy: false }),
  'There is nothing at this path: the MCP endpoint is at "…"': () => refusal({ path: '/' }),
  'Host "…" is not allowed: add it to allowedHosts': () => refusal({ headers: { Host: 'mcp.example.com' } }),
  'Origin "…" is not allowed: add it to allowedOrigins': () => refusal({ headers: { Origin: 'https://app.example.com' } }),
  'There is no such session: send "initialize" without "Mcp-Session-Id" to begin a new one': () =>
    refusal({ body: LIST, headers: { 'Mcp-Session-Id': 'of-yesterday' } }),
  'The header "Mcp-Session-Id" is missing: send "initialize" first, then the id in the header of its response': () =>
    refusal({ body: LIST, headers: { 'MCP-Protocol-Version': '2025-06-18' } }),
  'The header "MCP-Protocol-Version" is missing: …': () => refusal({ body: LIST }),
  'This is an MCP endpoint: it does not serve this method, use …': () => refusal({ method: 'GET' }, { sessions: false }),
  'The response is "application/json" or "text/event-stream": accept both': () => refusal({ headers: { Accept: 'text/html' } }),
  'This is an MCP endpoint: a GET opens an event stream and needs "Accept: text/event-stream"': () =>
    refusal({ method: 'GET', headers: { Accept: 'text/html' } }),
  'The body must be JSON: send "Content-Type: application/json"': () => refusal({ headers: { 'Content-Type': 'text/plain' } }),
  'The body is longer than … bytes': () => refusal({}, { maxBodyBytes: 10 }),
  'POST … was answered with HTTP status 401: …': () => {
    const refused = new AuthChallengeError('This key is not known', { status: 401, challenge: 'Bearer error="invalid_token"' });
    const options = { tokenVerifier: { verify: () => Promise.reject(refused) } };
    return overHttp((url) => failureOf(() => McpClient.connect(httpTransport(url), ME)), options);
  },
  'Too many sessions: end one, or come back later': () =>
    overHttp(
      (url) =>
        withClient(McpClient.connect(httpTransport(url), ME, { era: 'legacy' }), async (client) => {
          await new Promise<unknown>((begun) => client.callTool('wait', {}, { onProgress: begun }).catch(() => undefined));
          return await send(url, {});
        }),
      { maxSessions: 1, drainMs: 0 },
    ),
};

// ---- the pages

/** A page: of one code if its name is one, else of a theme. */
interface Page {
  readonly name: string;
  readonly text: string;
  /** What it says of the code, before the first heading. */
  readonly meaning: string;
  /** The packages whose classes have the code. */
  readonly packages: readonly string[];
  /** Its messages, each with what it can be told by. */
  readonly messages: ReadonlyMap<string, string>;
}

/** How the text below a heading begins for a message without a code. */
const LABEL = /^`(isError|warning|stderr|HTTP \d+|-?\d+|E[A-Z]+|TypeError)`/;

function readPages(): readonly Page[] {
  const names = readdirSync(folderOfPages).map((file) => file.replace(/\.md$/, ''));
  return names.map((name) => {
    const text = readFileSync(join(folderOfPages, `${name}.md`), 'utf8');
    const headings = text.matchAll(/^## `(.+)`\n\n(.*)$/gm);
    const messages = new Map([...headings].map(([, message = '', words = '']) => [message, LABEL.exec(words)?.[1] ?? name]));
    const packages = [...text.matchAll(/`\w+` of \[`@mortise\/([\w-]+)/g)].map(([, owner = '']) => owner);
    return { name, text, meaning: text.split('\n')[2] ?? '', packages, messages };
  });
}

/** Says whether the fixed parts of a message stand in a text, one after the other. */
function holds(text: string, message: string): boolean {
  let at = 0;
  return message.split('…').every((part) => {
    const found = text.indexOf(part, at);
    at = found + part.length;
    return found !== -1;
  });
}

function sourcesOf(name: string): readonly string[] {
  const source = join(root, 'packages', name, 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.map((file) => readFileSync(join(source, file), 'utf8'));
}

/** The lines of the packages' sources, where strings that are added to one another are one. */
function linesOf(packages: readonly string[]): readonly string[] {
  const texts = packages.flatMap((name) => sourcesOf(name));
  return texts.flatMap((text) =>
    text
      .replaceAll(/['`"] \+\s*['`"]/g, '')
      .replaceAll("\\'", "'")
      .split('\n'),
  );
}

/** The codes that a package's errors have, but those of refusals that never leave it. */
function codesOf(name: string): readonly string[] {
  const codes = sourcesOf(name).flatMap((text) => [...text.matchAll(/(?:\bcode: |\| )'(ERR_\w+)'/g)].map((match) => match[1] ?? ''));
  return [...new Set(codes)].filter((code) => code !== 'ERR_HTTP_REFUSED');
}

describe('docs/reference/errors', () => {
  const pages = readPages();
  const ofCodes = pages.filter(({ name }) => name.startsWith('ERR_'));
  const messages = new Map(pages.flatMap((page) => [...page.messages]));
  const packages = readdirSync(join(root, 'packages'));

  it('has a page for every code of the sources, which names the packages, and no other', () => {
    const owners = new Map<string, string[]>();
    for (const name of packages) for (const code of codesOf(name)) owners.set(code, [...(owners.get(code) ?? []), name]);
    const expected = [...owners].map(([code, names]) => [code, names.toSorted()]);
    expect(Object.fromEntries(ofCodes.map(({ name, packages: named }) => [name, named.toSorted()]))).toEqual(Object.fromEntries(expected));
  });

  it('lists every page in the index, with the sentence that the page begins with', () => {
    const index = readFileSync(join(folderOfPages, 'index.md'), 'utf8');
    const rows = [...index.matchAll(/^\| \[`?([^\]`]+)`?\]\(([\w-]+)\.md\) \|(?: [^|]+ \|)? ([^|]+) \|$/gm)];
    const listed = rows.map(([, , name, meaning]) => [name, meaning]);
    const written = pages.filter(({ name }) => name !== 'index').map(({ name, meaning }) => [name, meaning]);
    expect(listed.toSorted()).toEqual(written.toSorted());
  });

  it('has each message on one page, and a heading for every row here', () => {
    expect(pages.flatMap((page) => [...page.messages.keys()])).toHaveLength(messages.size);
    expect(Object.keys(provoked).filter((message) => !messages.has(message))).toEqual([]);
  });

  it.each(Object.entries(provoked))('has what a real failure says: %s', async (message, provoke) => {
    const { said, label } = await provoke();
    expect(said).toSatisfy((text: string) => holds(text, message));
    expect(messages.get(message)).toBe(label);
  });

  const withOthers = ofCodes
    .map((page) => ({ ...page, others: [...page.messages.keys()].filter((message) => provoked[message] === undefined) }))
    .filter(({ others }) => others.length > 0);
  it.each(withOthers)(
    'has on $name only messages that a row makes happen, or that stand in the sources of its packages',
    ({ packages, others }) => {
      const lines = linesOf(packages);
      expect(others.filter((message) => !lines.some((line) => holds(line, message)))).toEqual([]);
    },
  );

  it('has no message on a page of a theme that nothing here makes happen', () => {
    const ofThemes = pages.filter(({ name }) => !name.startsWith('ERR_')).flatMap((page) => [...page.messages.keys()]);
    expect(ofThemes.filter((message) => provoked[message] === undefined)).toEqual([]);
  });
});
