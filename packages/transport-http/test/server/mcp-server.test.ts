/** The real server behind the real transport: what only both together can show. */

import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { MemoryMessageBus } from '@mortise/protocol';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import type { AuthInfo } from '@mortise/protocol/contracts';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import { McpServer, type McpServerOptions } from '@mortise/server';
import { initializeRequest, LEGACY, LegacyClient } from '../support/legacy-client.ts';
import { modern, modernHeaders, modernRequest, modernTool } from '../support/modern.ts';
import { type Answer, post } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { gate, until } from '../support/scripted-endpoint.ts';

let serving: Serving;
afterEach(() => serving.close());

const ID = 'io.modelcontextprotocol/subscriptionId';

function createServer(options: McpServerOptions = {}): McpServer {
  const server = new McpServer({ name: 'real', version: '1.0.0' }, { capabilities: { logging: {} }, ...options });
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
    structuredContent: { sum: a + b },
  }));
  server.registerTool('region', { inputSchema: { region: z.string().meta({ 'x-mcp-header': 'Region' }) } }, ({ region }) => region);
  server.registerResource('r', 'test://r', {}, () => 'text');
  return server;
}

function listen(port: number, notifications: JsonObject, id: string | number): Promise<Answer> {
  const request = modernRequest('subscriptions/listen', { notifications }, id);
  return post(port, request, modernHeaders(request));
}

function metaOf(message: JsonObject | undefined): JsonObject {
  return ((message?.['params'] ?? message?.['result']) as JsonObject)['_meta'] as JsonObject;
}

describe.each(FACES)('McpServer over the %s face', (face) => {
  it('[ROBUSTNESS-7][ROBUSTNESS-8] lets all listens of one caller name ten times the resources that one may', async () => {
    const tokenVerifier = { verify: async ({ token = '' }) => ({ principal: token, scopes: [] }) };
    serving = await serve(face, createServer({ maxSubscriptions: 2 }), { tokenVerifier });
    const listenAs = (token: string, uris: readonly string[]): Promise<Answer> =>
      modern(
        serving.port,
        'subscriptions/listen',
        { notifications: { resourceSubscriptions: uris } },
        { authorization: `Bearer ${token}` },
      );
    expect(await (await listenAs('eve', ['a:1', 'a:2', 'a:3'])).json()).toMatchObject({ error: { code: -32602 } });
    for (let n = 0; n < 10; n++) expect((await listenAs('eve', [`a:${n}`, `b:${n}`])).headers['content-type']).toBe('text/event-stream');
    expect(await (await listenAs('eve', ['c:1'])).json()).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('name 21 resources') },
    });
    expect((await listenAs('ada', ['c:1', 'c:2'])).headers['content-type']).toBe('text/event-stream');
  });

  it('[ERA-001] answers one tool in both eras', async () => {
    serving = await serve(face, createServer());
    const client = await LegacyClient.open(serving.port);
    const answers = await Promise.all([client.tool('add', { a: 1, b: 2 }), modernTool(serving.port, 'add', { a: 1, b: 2 })]);
    const results = await Promise.all(answers.map(async (answer) => (await answer.response())['result'] as JsonObject));
    expect(results).toMatchObject([{ structuredContent: { sum: 3 } }, { structuredContent: { sum: 3 }, resultType: 'complete' }]);
  });

  it('[CAP-005] answers a call that needs an undeclared capability with HTTP 400 and -32021, naming it', async () => {
    const server = createServer();
    server.registerTool('ask', {}, async (ctx) => JSON.stringify(await ctx.sample({ messages: [], maxTokens: 1 })));
    serving = await serve(face, server);
    const answer = await modernTool(serving.port, 'ask');
    expect([answer.status, await answer.response()]).toEqual([
      400,
      expect.objectContaining({
        error: expect.objectContaining({ code: -32021, data: expect.objectContaining({ requiredCapabilities: { sampling: {} } }) }),
      }),
    ]);
  });

  it('[PAT-010][SUB-003] acknowledges a subscription first, under the id of its request', async () => {
    serving = await serve(face, createServer());
    const stream = await listen(serving.port, { toolsListChanged: true, resourceSubscriptions: ['test://r'], nonsense: true }, 'sub-1');
    expect([stream.status, stream.headers['content-type'], stream.headers['x-accel-buffering']]).toEqual([200, 'text/event-stream', 'no']);
    const first = await stream.nextMessage();
    expect(first).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: { [ID]: 'sub-1' }, notifications: { toolsListChanged: true } },
    });
    expect(first).not.toHaveProperty('params.notifications.nonsense');
  });

  it('[PAT-009][SUB-002][SUB-007] delivers what was asked for and nothing else, each under its id', async () => {
    const server = createServer();
    serving = await serve(face, server);
    const stream = await listen(serving.port, { toolsListChanged: true }, 7);
    await stream.nextMessage();
    server.registerResource('s', 'test://s', {}, () => 'text');
    await server.sendResourceUpdated({ uri: 'test://r' });
    server.registerTool('more', {}, () => 'x');
    const message = await stream.nextMessage();
    expect(message).toMatchObject({ method: 'notifications/tools/list_changed', params: { _meta: { [ID]: 7 } } });
    expect(stream.raw).not.toContain('resources');
  });

  it('[PAT-012] serves several subscriptions at once, on a stream each', async () => {
    const server = createServer();
    serving = await serve(face, server);
    const streams = [
      await listen(serving.port, { toolsListChanged: true }, 1),
      await listen(serving.port, { toolsListChanged: true }, '1'),
    ];
    for (const stream of streams) await stream.nextMessage();
    server.registerTool('more', {}, () => 'x');
    const messages = await Promise.all(streams.map((stream) => stream.nextMessage()));
    expect(messages.map((message) => metaOf(message)[ID])).toEqual([1, '1']);
  });

  it('[PAT-011][SUB-011][SUB-012] ends a subscription with its result when the host closes', async () => {
    serving = await serve(face, createServer());
    const stream = await listen(serving.port, { toolsListChanged: true }, 3);
    await stream.nextMessage();
    const closing = serving.handler.close({ drainMs: 1000 });
    expect(await stream.nextMessage()).toMatchObject({ id: 3, result: { resultType: 'complete', _meta: { [ID]: 3 } } });
    expect(await stream.event()).toBeUndefined();
    await closing;
  });

  it('[PAT-011] ends a subscription with its result when the server closes', async () => {
    const server = createServer();
    serving = await serve(face, server);
    const stream = await listen(serving.port, { toolsListChanged: true }, 3);
    await stream.nextMessage();
    await server.close();
    expect(await stream.nextMessage()).toMatchObject({ id: 3, result: { resultType: 'complete' } });
  });

  it('[SUB-010] ends a subscription when its client closes the stream', async () => {
    serving = await serve(face, createServer());
    const stream = await listen(serving.port, { toolsListChanged: true }, 3);
    await stream.nextMessage();
    stream.leave();
    await until(() => serving.handler.counts.calls === 0);
    expect(serving.handler.counts.streams).toBe(0);
  });

  it('[HTTPM-013][SUB-009] delivers progress and logs of other requests on no listen stream', async () => {
    const server = createServer();
    server.registerTool('noisy', {}, async (ctx) => {
      await ctx.progress(1);
      ctx.log.error('hello');
      return 'x';
    });
    serving = await serve(face, server);
    const stream = await listen(serving.port, { toolsListChanged: true }, 3);
    await stream.nextMessage();
    const request = modernRequest('tools/call', {
      name: 'noisy',
      _meta: { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'debug' },
    });
    const answer = await post(serving.port, request, modernHeaders(request));
    expect(await answer.text()).toMatch(/notifications\/progress[\s\S]*notifications\/message/);
    server.registerTool('more', {}, () => 'x');
    expect(await stream.nextMessage()).toMatchObject({ method: 'notifications/tools/list_changed' });
    expect(stream.raw).not.toMatch(/progress|notifications\/message/);
  });

  it('[TOOL-024][HDR-024] checks the headers that a schema marks', async () => {
    serving = await serve(face, createServer());
    const right = await modernTool(serving.port, 'region', { region: 'eu' }, { 'mcp-param-region': 'eu' });
    const wrong = await modernTool(serving.port, 'region', { region: 'eu' }, { 'mcp-param-region': 'us' });
    const missing = await modernTool(serving.port, 'region', { region: 'eu' });
    expect([right.status, wrong.status, missing.status]).toEqual([200, 400, 400]);
  });

  it('[HDR-008][HDR-024] checks them for a tool that only some tokens show, and tells the others nothing of it', async () => {
    const server = new McpServer({ name: 'real', version: '1.0.0' });
    const inputSchema = { region: z.string().meta({ 'x-mcp-header': 'Region' }) };
    server.registerTool('byScope', { inputSchema, visible: ({ auth }) => auth?.scopes.includes('all') === true }, ({ region }) => region);
    server.registerTool('byUrl', { inputSchema, visible: ({ origin }) => origin?.header('x-office') === 'eu' }, ({ region }) => region);
    const verify = ({ token = '' }): Promise<AuthInfo> => Promise.resolve({ principal: 'ada', scopes: [token] });
    serving = await serve(face, server, { tokenVerifier: { verify } });
    const codeOf = async (tool: string, headers: Readonly<Record<string, string>>): Promise<unknown> => {
      const { error } = await (await modernTool(serving.port, tool, { region: 'eu' }, headers)).response();
      return (error as JsonObject | undefined)?.['code'];
    };
    for (const [tool, shown, hidden] of [
      ['byScope', { authorization: 'Bearer all' }, { authorization: 'Bearer few' }],
      ['byUrl', { authorization: 'Bearer few', 'x-office': 'eu' }, { authorization: 'Bearer few' }],
    ] as const) {
      expect(await codeOf(tool, { ...shown, 'mcp-param-region': 'eu' })).toBeUndefined();
      expect(await codeOf(tool, { ...shown, 'mcp-param-region': 'us' })).toBe(-32020);
      expect(await codeOf(tool, shown)).toBe(-32020);
      for (const region of ['eu', 'us']) expect(await codeOf(tool, { ...hidden, 'mcp-param-region': region })).toBe(-32602);
    }
  });

  it.each([
    ['an empty name', { region: { type: 'string', 'x-mcp-header': '' } }],
    ['a name with a space', { region: { type: 'string', 'x-mcp-header': 'My Region' } }],
    ['a line break', { region: { type: 'string', 'x-mcp-header': 'a\nb' } }],
    ['two names that differ in case', { a: { type: 'string', 'x-mcp-header': 'R' }, b: { type: 'string', 'x-mcp-header': 'r' } }],
    ['a number', { n: { type: 'number', 'x-mcp-header': 'N' } }],
    ['an object', { o: { type: 'object', 'x-mcp-header': 'O' } }],
    ['a place under items', { list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'L' } } }],
    ['a place under anyOf', { any: { anyOf: [{ type: 'string', 'x-mcp-header': 'A' }] } }],
  ])('[HDR-016][HDR-017][HDR-018] refuses to register a tool that marks %s', async (_title, properties) => {
    serving = await serve(face, createServer());
    const inputSchema = { type: 'object' as const, properties };
    expect(() => createServer().registerTool('bad', { inputSchema }, () => 'x')).toThrow(
      expect.objectContaining({ code: 'ERR_REGISTRATION' }),
    );
  });

  it('[ERR-017][HDR-003] maps the errors of the server to their status', async () => {
    serving = await serve(face, createServer());
    const unknown = await modern(serving.port, 'no/such');
    const version = modernRequest('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': LEGACY } });
    const legacyVersion = await post(serving.port, version, { ...modernHeaders(version), 'mcp-protocol-version': LEGACY });
    expect([unknown.status, legacyVersion.status, (await legacyVersion.json())['error']]).toMatchObject([404, 400, { code: -32022 }]);
  });

  it('asks a legacy client on the stream of its request, and takes the answer from another POST', async () => {
    const server = createServer();
    server.registerTool('ask', {}, async (ctx) => {
      const answer = await ctx.elicit({ message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } });
      return JSON.stringify(answer);
    });
    serving = await serve(face, server);
    const opened = await post(serving.port, {
      ...initializeRequest(),
      params: { ...(initializeRequest()['params'] as JsonObject), capabilities: { elicitation: {} } },
    });
    await opened.response();
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']), 'mcp-protocol-version': LEGACY };
    await post(serving.port, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    const answer = await post(serving.port, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } }, headers);
    const question = await answer.nextMessage();
    expect(question).toMatchObject({ method: 'elicitation/create' });
    await post(serving.port, { jsonrpc: '2.0', id: question?.['id'], result: { action: 'accept', content: { name: 'Ada' } } }, headers);
    expect(JSON.stringify(await answer.response())).toContain('Ada');
  });

  it('[TIME-005] waits ten minutes for an answer at most, whatever progress the client reports', async () => {
    const clock = new FakeClock();
    const server = createServer({ clock });
    server.registerTool('ask', {}, (ctx) =>
      ctx.sample({ messages: [], maxTokens: 1 }, { timeoutMs: 60_000 }).then(
        () => 'answered',
        (error: Error) => error.message,
      ),
    );
    serving = await serve(face, server);
    const client = await LegacyClient.open(serving.port, LEGACY, {}, { sampling: {} });
    const answer = await client.tool('ask');
    const { params } = (await answer.nextMessage()) as { params: { _meta: { progressToken: string } } };
    const { progressToken } = params._meta;
    for (let progress = 1; progress <= 20; progress++) {
      clock.advance(30_000);
      await client.post({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } });
    }
    expect(await answer.response()).toMatchObject({ result: { content: [{ text: expect.stringContaining('600') }] } });
  });

  it('names the option where sessions are off and a handler asks', async () => {
    const server = createServer();
    server.registerTool('ask', {}, async (ctx) =>
      JSON.stringify(await ctx.elicit({ message: 'Name?', requestedSchema: { type: 'object', properties: {} } })),
    );
    serving = await serve(face, server, { sessions: false });
    const opened = await post(serving.port, initializeRequest());
    expect(JSON.stringify(await opened.json())).not.toContain('listChanged');
    const answer = await post(
      serving.port,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } },
      { 'mcp-protocol-version': LEGACY },
    );
    expect(JSON.stringify(await answer.response())).toMatch(/session/i);
  });

  it('tells a session what changed on its GET stream, once it is ready', async () => {
    const server = createServer();
    serving = await serve(face, server);
    const client = await LegacyClient.open(serving.port);
    const stream = await client.get();
    server.registerTool('more', {}, () => 'x');
    expect(await stream.nextMessage()).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('keeps a subscription of a stored session over a restart', async () => {
    const sessionStore = new MemorySessionStore();
    const before = await serve(face, createServer(), { sessionStore });
    const client = await LegacyClient.open(before.port);
    await (await client.post({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'test://r' } })).text();
    await before.close();
    const server = createServer();
    serving = await serve(face, server, { sessionStore });
    const after = client.at(serving.port);
    const stream = await after.get();
    expect(stream.status).toBe(200);
    await server.sendResourceUpdated({ uri: 'test://r' });
    expect(await stream.nextMessage()).toMatchObject({ method: 'notifications/resources/updated', params: { uri: 'test://r' } });
  });

  it('takes the answer to a question on another machine than the one that asked', async () => {
    const shared = { sessionStore: new MemorySessionStore(), messageBus: new MemoryMessageBus() };
    const server = createServer();
    server.registerTool('ask', {}, async (ctx) =>
      JSON.stringify(await ctx.elicit({ message: 'Name?', requestedSchema: { type: 'object', properties: {} } })),
    );
    serving = await serve(face, server, shared);
    const other = await serve(face, createServer(), shared);
    const opening = initializeRequest();
    const opened = await post(serving.port, {
      ...opening,
      params: { ...(opening['params'] as JsonObject), capabilities: { elicitation: {} } },
    });
    await opened.response();
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']), 'mcp-protocol-version': LEGACY };
    await post(serving.port, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    const answer = await post(serving.port, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } }, headers);
    const question = await answer.nextMessage();
    const accepted = await post(other.port, { jsonrpc: '2.0', id: question?.['id'], result: { action: 'decline' } }, headers);
    expect([accepted.status, JSON.stringify(await answer.response())]).toEqual([202, expect.stringContaining('decline')]);
    await other.close();
  });

  it('[HTTP-031] lets a handler close its stream and answer later', async () => {
    const server = createServer();
    const go = gate();
    server.registerTool('poll', {}, async (ctx) => {
      ctx.closeStream?.();
      await go.promise;
      return 'finished';
    });
    serving = await serve(face, server, { eventStore: new MemoryEventStore() });
    const client = await LegacyClient.open(serving.port);
    const events = await (await client.tool('poll')).events();
    const resumed = await client.get({ 'last-event-id': events[0]?.id ?? '' });
    go.open();
    expect(JSON.stringify(await resumed.response())).toContain('finished');
  });

  it.each([true, false])('[PROG-010] sends every step of a burst, none merged into the next (event store: %s)', async (hasStore) => {
    const server = createServer();
    server.registerTool('steps', {}, (ctx) => {
      for (let progress = 1; progress <= 10; progress++) void ctx.progress({ progress });
      return 'done';
    });
    serving = await serve(face, server, hasStore ? { eventStore: new MemoryEventStore() } : {});
    const client = await LegacyClient.open(serving.port);
    const params = { name: 'steps', _meta: { progressToken: 't' } };
    const legacy = await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const request = modernRequest('tools/call', { name: 'steps', _meta: { progressToken: 't' } });
    const modernAnswer = await post(serving.port, request, modernHeaders(request));
    for (const answer of [legacy, modernAnswer]) {
      const steps = [...(await answer.text()).matchAll(/"progress":(\d+)/g)].map(([, step]) => Number(step));
      expect(steps).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
  });

  it('[ROBUSTNESS-3] keeps 2,000 calls of 100 at once apart, in both eras', async () => {
    serving = await serve(face, createServer());
    const client = await LegacyClient.open(serving.port);
    const total = 2_000;
    let next = 0;
    let wrong = 0;
    const worker = async (): Promise<void> => {
      for (let at = next++; at < total; at = next++) {
        const answer = await (at % 2 === 0 ? modernTool(serving.port, 'add', { a: at, b: 1 }) : client.tool('add', { a: at, b: 1 }));
        const result = (await answer.response())['result'] as JsonObject;
        if ((result['structuredContent'] as JsonObject)['sum'] !== at + 1) wrong++;
      }
    };
    await Promise.all(Array.from({ length: 100 }, worker));
    expect([wrong, serving.handler.counts]).toEqual([0, { sessions: 1, streams: 0, calls: 0 }]);
  });
});
