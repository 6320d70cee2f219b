/** `StreamableHTTPServerTransport` as MCP's users know it: in Express, connected to our server, and as a plain `Transport`. */

import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonRpcMessage, JsonRpcRequest, MortiseError, Transport } from '@mortise/jsonrpc-core';
import { isInitializeRequest } from '@mortise/protocol';
import { MemoryEventStore } from '@mortise/protocol/edge';
import { McpServer } from '@mortise/server';
import { StreamableHTTPServerTransport, type StreamableHTTPServerTransportOptions } from '@mortise/transport-http/server';
import { initializeRequest, LEGACY, LegacyClient } from '../support/legacy-client.ts';
import { modernHeaders, modernRequest, modernTool } from '../support/modern.ts';
import { ACCEPT, post, send } from '../support/send.ts';
import { gate, until } from '../support/scripted-endpoint.ts';

let http: Server | undefined;
afterEach(async () => {
  http?.closeAllConnections();
  await new Promise((resolve) => (http === undefined ? resolve(undefined) : http.close(resolve)));
  http = undefined;
});

async function listen(server: Server): Promise<number> {
  http = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function createMcpServer(): McpServer {
  const server = new McpServer({ name: 'demo', version: '1.0.0' });
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => String(a + b));
  return server;
}

async function serveOne(transport: StreamableHTTPServerTransport): Promise<number> {
  return listen(createServer((request, response) => void transport.handleRequest(request, response)));
}

describe('connected to an McpServer', () => {
  it('serves a request each where there is no session, in Express, with a parsed body', async () => {
    const server = createMcpServer();
    const app = express();
    app.use(express.json());
    app.post('/mcp', async (req, res) => {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
      res.on('close', () => void transport.close());
      await server.connect(transport);
      await transport.handleRequest(req, res, req.body);
    });
    const port = await listen(createServer(app));
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } };
    const answers = await Promise.all([
      post(port, initializeRequest()),
      post(port, call),
      post(port, call, { 'mcp-protocol-version': LEGACY }),
      modernTool(port, 'add', { a: 1, b: 2 }),
    ]);
    expect(answers.map(({ status, headers }) => [status, headers['mcp-session-id']])).toEqual(answers.map(() => [200, undefined]));
    expect(JSON.stringify(await answers[1]?.json())).toContain('"text":"3"');
  });

  it('serves sessions by a map of transports, and tells when they begin and end', async () => {
    const transports: Record<string, StreamableHTTPServerTransport> = {};
    const told: string[] = [];
    const app = express();
    app.use(express.json());
    app.post('/mcp', async (req, res) => {
      const sessionId = req.headers['mcp-session-id'] as string | undefined;
      let transport = sessionId === undefined ? undefined : transports[sessionId];
      if (transport === undefined) {
        if (sessionId !== undefined || !isInitializeRequest(req.body))
          return void res.status(400).json({ jsonrpc: '2.0', error: { code: -32000, message: 'no session' }, id: null });
        const created = new StreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          onsessioninitialized: (id) => {
            told.push('begun');
            transports[id] = created;
          },
          onsessionclosed: () => void told.push('closed'),
        });
        created.onclose = () => {
          told.push('onclose');
          if (created.sessionId !== undefined) delete transports[created.sessionId];
        };
        await createMcpServer().connect(created);
        transport = created;
      }
      await transport.handleRequest(req, res, req.body);
    });
    const others = (req: express.Request, res: express.Response): void => {
      const transport = transports[String(req.headers['mcp-session-id'])];
      if (transport === undefined) res.status(400).send('Invalid or missing session ID');
      else void transport.handleRequest(req, res);
    };
    app.get('/mcp', others);
    app.delete('/mcp', others);
    const port = await listen(createServer(app));
    const [one, two] = await Promise.all([LegacyClient.open(port), LegacyClient.open(port)]);
    expect(one.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    const answers = await Promise.all([one.tool('add', { a: 1, b: 2 }), two.tool('add', { a: 2, b: 2 })]);
    expect((await Promise.all(answers.map((answer) => answer.text()))).map((text) => /"text":"(\d)"/.exec(text)?.[1])).toEqual(['3', '4']);
    expect((await one.get()).isStream).toBe(true);
    expect((await one.delete()).status).toBe(204);
    expect((await one.tool('add')).status).toBe(400);
    expect([told, Object.keys(transports)]).toEqual([['begun', 'begun', 'closed', 'onclose'], [two.sessionId]]);
  });

  it('[ROBUSTNESS-5] waits for what its callbacks promise before the client is told, and goes on where they fail', async () => {
    const logged: string[] = [];
    const logger = { log: (_level: string, line: string) => void logged.push(line) };
    const ready = gate();
    let isTold = false;
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: async () => {
        await ready.promise;
        isTold = true;
        throw new Error('the program failed');
      },
      onsessionclosed: () => Promise.reject(new Error('and again')),
      logger,
    });
    const errors: Error[] = [];
    const closed = gate();
    transport.onerror = (error) => void errors.push(error);
    transport.onclose = () => {
      closed.open();
      throw new Error('and once more');
    };
    await createMcpServer().connect(transport);
    const port = await listen(createServer((req, res) => void transport.handleRequest(req, res)));
    const opening = LegacyClient.open(port).then((client) => ({ client, wasTold: isTold }));
    ready.open();
    const { client, wasTold } = await opening;
    expect(wasTold).toBe(true);
    expect((await client.delete()).status).toBe(204);
    await closed.promise;
    await until(() => errors.length > 0);
    expect(logged.sort()).toEqual([
      'A callback of the transport (onsessionclosed) failed',
      'A callback of the transport (onsessioninitialized) failed',
    ]);
    expect(errors.map(({ message }) => message)).toContain('and once more');
  });

  it('[HTTP-044] refuses a second initialize, and everything after its session has ended', async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
    await createMcpServer().connect(transport);
    const port = await serveOne(transport);
    const client = await LegacyClient.open(port);
    expect((await post(port, initializeRequest())).status).toBe(400);
    await client.delete();
    expect((await client.tool('add')).status).toBe(404);
  });

  it('passes its options on: the event store, retryInterval, allowed hosts and origins', async () => {
    const options: StreamableHTTPServerTransportOptions = {
      sessionIdGenerator: () => randomUUID(),
      eventStore: new MemoryEventStore(),
      retryInterval: 4321,
      allowedHosts: ['127.0.0.1', 'mcp.example'],
      allowedOrigins: ['https://app.example'],
    };
    const transport = new StreamableHTTPServerTransport(options);
    await createMcpServer().connect(transport);
    const port = await serveOne(transport);
    const client = await LegacyClient.open(port, LEGACY, { host: 'mcp.example:80', origin: 'https://app.example' });
    expect(await (await client.tool('add', { a: 1, b: 2 })).event()).toMatchObject({ data: '', retryMs: 4321 });
    expect((await post(port, initializeRequest(), { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('[ROBUSTNESS-1] checks Host and Origin even where enableDnsRebindingProtection is false', async () => {
    const options = { sessionIdGenerator: undefined, enableDnsRebindingProtection: false };
    const transport = new StreamableHTTPServerTransport(options);
    await createMcpServer().connect(transport);
    const port = await serveOne(transport);
    expect((await post(port, initializeRequest(), { host: 'evil.example' })).status).toBe(403);
  });

  it.each([
    [{ baseUrl: 'here' }, '"baseUrl" must be an absolute URL'],
    [{ sessionIdGenerator: 'random' }, '"sessionIdGenerator" must be a function'],
    [{ retryInterval: -1 }, '"retryInterval" must be a number, 0 or more'],
    [{ allowedHosts: ['a/b'] }, 'allowedHosts'],
    [{ eventStore: {} }, '"eventStore" must be an object with a function "append"'],
  ])('refuses the option %j where it is made', (options, message) => {
    const error = expect.objectContaining({ code: 'ERR_HTTP_OPTION', message: expect.stringContaining(message) as string }) as Error;
    expect(() => new StreamableHTTPServerTransport(options as object)).toThrow(error);
  });

  it('rejects, and throws nothing, where it cannot be connected', async () => {
    const server = createMcpServer();
    const transport = new StreamableHTTPServerTransport();
    await server.connect(transport);
    const outcomes = [server.connect(transport), transport.start()];
    const codes = (await Promise.allSettled(outcomes)).map(
      (outcome) => outcome.status === 'rejected' && (outcome.reason as MortiseError).code,
    );
    await transport.close();
    const closed: unknown = await transport.start().catch((error: unknown) => error);
    expect([...codes, (closed as MortiseError).code]).toEqual(['ERR_ALREADY_STARTED', 'ERR_ALREADY_STARTED', 'ERR_CONNECTION_CLOSED']);
  });

  it('rejects a request before it is connected', async () => {
    const transport = new StreamableHTTPServerTransport();
    await expect(transport.handleRequest({} as never, {} as never)).rejects.toMatchObject({ code: 'ERR_NOT_CONNECTED' });
  });

  it('ends its connection when it is closed, once', async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
    let closes = 0;
    transport.onclose = () => void closes++;
    const connection = await createMcpServer().connect(transport);
    await connection.close();
    await transport.close();
    await connection.closed;
    expect(closes).toBe(1);
  });
});

/** A server that knows `Transport` and nothing else, as other SDKs' do. */
function connectPlain(transport: Transport, answer: (request: JsonRpcRequest) => void): Promise<void> {
  transport.onmessage = (message: JsonRpcMessage) => {
    if ('method' in message && 'id' in message) answer(message);
  };
  return transport.start();
}

/** Makes a modern call, to be left. */
function leaveModernCall(port: number): AbortController {
  const controller = new AbortController();
  const request = modernRequest('tools/call', { name: 'never' });
  const headers = { 'content-type': 'application/json', accept: ACCEPT, ...modernHeaders(request) };
  void send(port, { headers, body: JSON.stringify(request), signal: controller.signal }).catch(() => undefined);
  return controller;
}

describe('connected to another SDK as a plain Transport', () => {
  const initializeResult = { protocolVersion: LEGACY, capabilities: {}, serverInfo: { name: 'other', version: '1' } };

  it('leads answers, progress and questions to the request that they belong to', async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
    const responses: JsonRpcMessage[] = [];
    const answered = gate();
    await connectPlain(
      transport,
      (request) =>
        void (async () => {
          const { id } = request;
          if (request.method === 'initialize') return transport.send({ jsonrpc: '2.0', id, result: initializeResult });
          await transport.send(
            { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'call', progress: 1 } },
            { relatedRequestId: id },
          );
          await transport.send({ jsonrpc: '2.0', id: 's1', method: 'sampling/createMessage', params: {} }, { relatedRequestId: id });
          await answered.promise;
          await transport.send({ jsonrpc: '2.0', id, result: { content: [] } });
        })(),
    );
    const deliver = transport.onmessage;
    transport.onmessage = (message: JsonRpcMessage, info) => {
      if (!('method' in message)) {
        responses.push(message);
        answered.open();
      }
      deliver?.(message, info);
    };
    const port = await serveOne(transport);
    const client = await LegacyClient.open(port);
    expect(transport.sessionId).toBe(client.sessionId);
    const stream = await client.get();
    const answer = await client.tool('x', {}, 'call');
    expect(await answer.nextMessage()).toMatchObject({ params: { progressToken: 'call' } });
    expect(await answer.nextMessage()).toMatchObject({ id: 's1', method: 'sampling/createMessage' });
    await client.post({ jsonrpc: '2.0', id: 's1', result: { role: 'assistant' } });
    expect(await answer.response()).toMatchObject({ id: 'call', result: {} });
    expect(responses).toMatchObject([{ id: 's1' }]);
    await transport.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(await stream.nextMessage()).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('drops what nobody listens to, as its users expect, and rejects a question', async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
    await connectPlain(transport, ({ id }) => void transport.send({ jsonrpc: '2.0', id, result: initializeResult }));
    await LegacyClient.open(await serveOne(transport));
    await transport.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await expect(transport.send({ jsonrpc: '2.0', id: 1, method: 'roots/list' })).rejects.toMatchObject({ code: 'ERR_NO_STREAM' });
    await transport.close();
    await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it('serves requests without a session', async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await connectPlain(transport, ({ id }) => void transport.send({ jsonrpc: '2.0', id, result: { tools: [] } }));
    const port = await serveOne(transport);
    const answer = await post(port, { jsonrpc: '2.0', id: 5, method: 'tools/list' });
    expect([answer.status, await answer.json()]).toEqual([200, { jsonrpc: '2.0', id: 5, result: { tools: [] } }]);
    expect((await send(port, { method: 'GET', headers: { accept: 'text/event-stream' } })).status).toBe(405);
  });

  it('[ROBUSTNESS-3] keeps requests of several clients apart whose ids are the same', async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    const heard: JsonRpcMessage[] = [];
    const calls: JsonRpcRequest[] = [];
    await connectPlain(transport, (request) => void calls.push(request));
    const deliver = transport.onmessage;
    transport.onmessage = (message: JsonRpcMessage, info) => {
      heard.push(message);
      deliver?.(message, info);
    };
    const port = await serveOne(transport);
    const legacy = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', arguments: {} } };
    const modern = modernRequest('tools/call', { name: 'c' }, 1);
    const answers = [
      post(port, legacy),
      post(port, { ...legacy, params: { name: 'b', arguments: {} } }),
      post(port, modern, modernHeaders(modern)),
    ];
    await until(() => calls.length === 3);
    // A client without a session can neither cancel what another asked for, nor answer what another is asked.
    await post(port, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await post(port, { jsonrpc: '2.0', id: 's1', result: {} });
    const [first] = calls;
    const question = transport.send({ jsonrpc: '2.0', id: 's1', method: 'roots/list' }, { relatedRequestId: first?.id ?? 0 });
    await expect(question).rejects.toMatchObject({ code: 'ERR_NO_STREAM' });
    for (const { id, params } of calls) await transport.send({ jsonrpc: '2.0', id, result: { name: params?.['name'] ?? null } });
    const responses = await Promise.all(answers.map(async (answer) => (await answer).response()));
    expect(responses).toMatchObject(['a', 'b', 'c'].map((name) => ({ id: 1, result: { name } })));
    expect(heard).toHaveLength(3);
  });

  it('[ROBUSTNESS-3] hands on a cancel of its own caller, and refuses an id that is in flight', async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
    const heard: JsonRpcMessage[] = [];
    await connectPlain(
      transport,
      ({ id, method }) => void (method === 'initialize' && transport.send({ jsonrpc: '2.0', id, result: initializeResult })),
    );
    const deliver = transport.onmessage;
    transport.onmessage = (message: JsonRpcMessage, info) => {
      heard.push(message);
      deliver?.(message, info);
    };
    const client = await LegacyClient.open(await serveOne(transport));
    const isCall = (message: JsonRpcMessage): boolean => 'method' in message && message.method === 'tools/call';
    const answer = client.tool('never', {}, 'call');
    await until(() => heard.some(isCall));
    expect(await (await client.tool('never', {}, 'call')).response()).toMatchObject({ id: 'call', error: { code: -32600 } });
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'call', reason: 'enough' } });
    await answer;
    const call = heard.find(isCall) as JsonRpcRequest;
    expect(heard.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: call.id, reason: 'enough' } });
  });

  it('names a subscription by the id that its client gave it', async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    const key = 'io.modelcontextprotocol/subscriptionId';
    await connectPlain(
      transport,
      ({ id }) =>
        void (async () => {
          const _meta = { [key]: id };
          const opened = { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { _meta } } as const;
          await transport.send(opened, { relatedRequestId: id });
          await transport.send({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } });
        })(),
    );
    const request = modernRequest('subscriptions/listen', { notifications: {} }, 'mine');
    const answer = await post(await serveOne(transport), request, modernHeaders(request));
    expect(await answer.nextMessage()).toMatchObject({ params: { _meta: { [key]: 'mine' } } });
    expect(await answer.response()).toMatchObject({ id: 'mine', result: { _meta: { [key]: 'mine' } } });
  });

  it.each(['ends its session', 'leaves', 'loses its server'])(
    '[ROBUSTNESS-4][ROBUSTNESS-9] lets nobody wait for an answer, nor work on it, once the client %s',
    async (how) => {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
      const heard: JsonRpcMessage[] = [];
      await connectPlain(transport, ({ id, method }) => {
        if (method === 'initialize') void transport.send({ jsonrpc: '2.0', id, result: initializeResult });
      });
      const deliver = transport.onmessage;
      transport.onmessage = (message: JsonRpcMessage, info) => {
        heard.push(message);
        deliver?.(message, info);
      };
      const client = await LegacyClient.open(await serveOne(transport));
      const answer = how === 'leaves' ? undefined : client.tool('never', {}, 'call');
      const call = how === 'leaves' ? leaveModernCall(client.port) : undefined;
      await until(() => heard.some((message) => 'method' in message && message.method === 'tools/call'));
      call?.abort();
      if (how === 'ends its session') expect((await client.delete()).status).toBe(204);
      if (how === 'loses its server') await transport.close();
      const closed = { code: -32603, message: 'The server has closed' };
      const ended = { code: -32600, message: 'The session has ended: send "initialize" to begin a new one' };
      const error = how === 'loses its server' ? closed : ended;
      if (answer) expect(await (await answer).response()).toMatchObject({ id: 'call', error });
      const isCancelled = (): boolean => heard.some((message) => 'method' in message && message.method === 'notifications/cancelled');
      await until(isCancelled);
      await transport.close();
    },
  );

  it('waits for no answer to a cancelled request', async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
    await connectPlain(
      transport,
      ({ id, method }) => void (method === 'initialize' && transport.send({ jsonrpc: '2.0', id, result: initializeResult })),
    );
    const client = await LegacyClient.open(await serveOne(transport));
    const answer = client.tool('never', {}, 'call');
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'call' } });
    expect((await answer).status).toBeLessThan(500);
  });
});
