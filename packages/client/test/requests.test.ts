/** What the client writes, revision by revision. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonRpcNotification, isJsonRpcRequest, isJsonRpcResponse } from '@mortise/jsonrpc-core/messages';
import { NEWEST, NEWEST_LEGACY, REVISIONS, type Revision } from '@mortise/protocol';
import type { ClientRequestMethod, ElicitResult } from '@mortise/protocol/model';
import { findRequest } from '@mortise/protocol/revisions';
import { META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL, META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, createResultCache, McpClient, MissingCapabilityError } from '../src/index.ts';
import { Client } from '../src/low-level.ts';
import { complete, info, type Script, ScriptedServer, scriptOf } from './scripted-server.ts';

const open: Client[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

/** Answers every feature of a server with something small. */
function everything(revision: Revision): Script {
  const say = (result: JsonObject) => () => complete(revision, result);
  return {
    'tools/list': say({ tools: [] }),
    'tools/call': say({ content: [] }),
    'resources/list': say({ resources: [] }),
    'resources/templates/list': say({ resourceTemplates: [] }),
    'resources/read': say({ contents: [] }),
    'prompts/list': say({ prompts: [] }),
    'prompts/get': say({ messages: [] }),
    'completion/complete': say({ completion: { values: [] } }),
  };
}

async function connect(
  revision: Revision,
  options: ClientOptions = {},
  opening: JsonObject = {},
): Promise<{ client: McpClient; server: ScriptedServer }> {
  const server = new ScriptedServer(scriptOf(revision, everything(revision), opening));
  const client = await McpClient.connect(server.factory, info, { protocolVersion: revision.version, ...options });
  open.push(client);
  return { client, server };
}

function metaOf(request: { readonly params?: JsonObject } | undefined): JsonObject {
  return (request?.params?.['_meta'] ?? {}) as JsonObject;
}

function last(server: ScriptedServer, method: string): { readonly params?: JsonObject } | undefined {
  return server.requests(method).at(-1);
}

describe.each(REVISIONS)('requests in $version', (revision) => {
  const isModern = revision.rules.resultType;

  it('[BASE-001][BASE-002][BASE-003] are JSON-RPC 2.0 messages, whatever the feature', async () => {
    const { client, server } = await connect(revision);
    await client.listTools();
    await client.callTool('x');
    await client.listResources();
    await client.listResourceTemplates();
    await client.readResource('a:b');
    await client.listPrompts();
    await client.getPrompt('p');
    await client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } });
    expect(server.received.length).toBeGreaterThan(8);
    for (const message of server.received) {
      expect(message.jsonrpc).toBe('2.0');
      expect(isJsonRpcRequest(message) || isJsonRpcNotification(message)).toBe(true);
    }
  });

  it('[BASE-004][BASE-005][BASE-006] carry integer ids, none of them null or used twice', async () => {
    const { client, server } = await connect(revision);
    await Promise.all(Array.from({ length: 20 }, () => client.listTools()));
    await client.listTools();
    const ids = server.received.filter(isJsonRpcRequest).map(({ id }) => id);
    expect(ids.every((id) => Number.isInteger(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('[BASE-018] leave ids out of notifications', async () => {
    const { client, server } = await connect(revision, { roots: [] });
    await client.sendRootsListChanged();
    for (const message of server.received.filter(isJsonRpcNotification)) expect(message).not.toHaveProperty('id');
    expect(server.methods.includes('notifications/roots/list_changed')).toBe(!isModern);
  });

  it('[META-021][PROG-001] ask for progress under tokens that no other request has, callback or not', async () => {
    const { client, server } = await connect(revision);
    await Promise.all([client.callTool('a'), client.callTool('b'), client.callTool('c', {}, { onProgress: () => undefined })]);
    const tokens = server.requests('tools/call').map((request) => metaOf(request)['progressToken']);
    expect(tokens.every((token) => Number.isInteger(token))).toBe(true);
    expect(new Set(tokens).size).toBe(3);
  });

  it('do not ask for progress where it would not matter', async () => {
    const { client, server } = await connect(revision);
    await client.callTool('a', {}, { resetTimeoutOnProgress: false });
    expect(metaOf(last(server, 'tools/call'))).not.toHaveProperty('progressToken');
  });

  it("[META-007][XMETA-007] carry the caller's own _meta members", async () => {
    const { client, server } = await connect(revision);
    await client.callTool('a', {}, { meta: { 'x.example/trace': 7 } });
    expect(metaOf(last(server, 'tools/call'))).toMatchObject({ 'x.example/trace': 7 });
    await client.readResource({ uri: 'a:b', _meta: { 'x.example/trace': 8 } });
    expect(metaOf(last(server, 'resources/read'))).toMatchObject({ 'x.example/trace': 8 });
  });

  it('[TOOL-026] name the tool and leave arguments out where there are none', async () => {
    const { client, server } = await connect(revision);
    await client.callTool('a');
    expect(last(server, 'tools/call')?.params).toMatchObject({ name: 'a' });
    expect(last(server, 'tools/call')?.params).not.toHaveProperty('arguments');
    await client.callTool({ name: 'a', arguments: { x: 1 } });
    expect(last(server, 'tools/call')?.params).toMatchObject({ name: 'a', arguments: { x: 1 } });
  });

  it('[PROMPT-005] give prompts arguments that are strings, and refuse others before sending', async () => {
    const { client, server } = await connect(revision);
    await client.getPrompt('p', { a: '1' });
    expect(last(server, 'prompts/get')?.params).toMatchObject({ name: 'p', arguments: { a: '1' } });
    const wrong = { a: 1 } as unknown as Record<string, string>;
    await expect(client.getPrompt('p', wrong)).rejects.toThrow('prompt argument "a" must be a string, got 1');
    expect(server.requests('prompts/get')).toHaveLength(1);
  });

  it('[COMP-002][COMP-004] complete with a ref, an argument and, where the revision has it, what was chosen before', async () => {
    const { client, server } = await connect(revision);
    await client.complete({
      ref: { type: 'ref/resource', uri: 'a:{b}' },
      argument: { name: 'b', value: 'x' },
      context: { arguments: { c: 'd' } },
    });
    const { params } = last(server, 'completion/complete') ?? {};
    expect(params).toMatchObject({ ref: { type: 'ref/resource', uri: 'a:{b}' }, argument: { name: 'b', value: 'x' } });
    expect('context' in (params ?? {})).toBe(revision.rules.completionContext);
  });

  it('[PAGE-003] give cursors back as they came', async () => {
    const { client, server } = await connect(revision);
    for (const cursor of ['', ' a/+=&%00\n', '{"page":2}']) {
      await client.listTools({ cursor });
      expect(last(server, 'tools/list')?.params).toMatchObject({ cursor });
    }
  });

  it.runIf(isModern)('[META-008][META-009][CAP-002] say in every _meta which version they are in and what the client can do', async () => {
    const elicit = (): ElicitResult => ({ action: 'cancel' });
    const { client, server } = await connect(revision, {
      elicitation: elicit,
      roots: [],
      capabilities: { experimental: { 'x.example/y': {} } },
    });
    await client.listTools();
    await client.callTool('x');
    for (const request of server.received.filter(isJsonRpcRequest)) {
      expect(metaOf(request)[META_PROTOCOL_VERSION]).toBe(revision.version);
      expect(metaOf(request)[META_CLIENT_CAPABILITIES]).toEqual({
        elicitation: { form: {} },
        roots: {},
        experimental: { 'x.example/y': {} },
      });
    }
  });

  it.runIf(isModern)('[META-009] say that the client can do nothing by an empty object', async () => {
    const { client, server } = await connect(revision);
    await client.listTools();
    expect(metaOf(last(server, 'tools/list'))[META_CLIENT_CAPABILITIES]).toEqual({});
  });

  it.runIf(isModern)('[META-010][CAP-019] say who the client is', async () => {
    const { client, server } = await connect(revision);
    await client.listTools();
    for (const request of server.received.filter(isJsonRpcRequest)) expect(metaOf(request)[META_CLIENT_INFO]).toEqual(info);
  });

  it.runIf(isModern)('[META-011] ask for log messages from a level on, and only if the program does', async () => {
    const { client, server } = await connect(revision);
    await client.listTools();
    expect(metaOf(last(server, 'tools/list'))).not.toHaveProperty([META_LOG_LEVEL]);
    await client.setLoggingLevel('warning');
    await client.listTools();
    expect(metaOf(last(server, 'tools/list'))[META_LOG_LEVEL]).toBe('warning');
    expect(server.methods).not.toContain('logging/setLevel');
  });

  it.runIf(!isModern)('[LOG-004] set the log level of the session by logging/setLevel', async () => {
    const { client, server } = await connect(revision);
    await client.setLoggingLevel('debug');
    expect(last(server, 'logging/setLevel')?.params).toMatchObject({ level: 'debug' });
    await client.listTools();
    expect(JSON.stringify(last(server, 'tools/list'))).not.toContain('io.modelcontextprotocol/');
  });

  it.runIf(isModern)('[PING-005] never ping: the server is asked for discovery instead', async () => {
    const { client, server } = await connect(revision);
    await client.ping();
    expect(server.methods).toEqual(['server/discover', 'server/discover']);
  });

  it.runIf(isModern)('[ROOT-003][VERS-015] never say that roots change', async () => {
    const { client, server } = await connect(revision, { roots: [] });
    await client.sendRootsListChanged();
    await client.listTools();
    expect(metaOf(last(server, 'tools/list'))[META_CLIENT_CAPABILITIES]).toEqual({ roots: {} });
    expect(server.methods).toEqual(['server/discover', 'tools/list']);
    await expect(client.notify('notifications/roots/list_changed')).rejects.toBeInstanceOf(MissingCapabilityError);
  });

  it('[CAP-001][LIFE-012][LIFE-013] are refused here, naming what is missing, where the server does not declare it', async () => {
    const { client, server } = await connect(revision, {}, { capabilities: {} });
    const before = server.received.length;
    const attempts: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['tools', () => client.listTools()],
      ['tools', () => client.callTool('x')],
      ['resources', () => client.readResource('a:b')],
      ['prompts', () => client.getPrompt('p')],
      ['logging', () => client.setLoggingLevel('info')],
      ['resources.subscribe', () => client.subscribeResource('a:b')],
    ];
    for (const [missing, attempt] of attempts) {
      // A subscription of the modern era is refused by the server's acknowledgement.
      if (isModern && missing === 'resources.subscribe') continue;
      await expect(attempt()).rejects.toMatchObject({ code: 'ERR_MISSING_CAPABILITY', side: 'server', missing: [missing] });
      await expect(attempt()).rejects.toThrow(missing);
    }
    expect(server.received).toHaveLength(before);
  });

  it('[CAP-010][COMP-001] for completion need the capability where the revision has it', async () => {
    const { client } = await connect(revision, {}, { capabilities: { prompts: {} } });
    const asked = client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } });
    if (revision.rules.completionsCapability) await expect(asked).rejects.toBeInstanceOf(MissingCapabilityError);
    else await expect(asked).resolves.toEqual({ completion: { values: [] } });
  });

  it('are refused here where the revision does not have them', async () => {
    const { client, server } = await connect(revision);
    const before = server.received.length;
    const methods: readonly ClientRequestMethod[] = [
      'initialize',
      'ping',
      'server/discover',
      'resources/subscribe',
      'logging/setLevel',
      'tasks/list',
      'subscriptions/listen',
    ];
    for (const method of methods) {
      if (findRequest(revision, method, 'client')) continue;
      await expect(client.request(method as string, {})).rejects.toMatchObject({ code: 'ERR_MISSING_CAPABILITY', missing: [method] });
    }
    await expect(client.request('elicitation/create', {})).rejects.toBeInstanceOf(MissingCapabilityError);
    expect(server.received).toHaveLength(before);
  });

  it('of methods that MCP does not know are sent as they are', async () => {
    const { client, server } = await connect(revision);
    server.script = { ...server.script, 'x.example/do': ({ params }) => complete(revision, { did: params?.['what'] ?? null }) };
    expect(await client.request('x.example/do', { what: 'it' })).toMatchObject({ did: 'it' });
  });

  it('need no capabilities where the program asks by raw request', async () => {
    const { client, server } = await connect(revision, {}, { capabilities: {} });
    const params = isModern
      ? { _meta: { [META_PROTOCOL_VERSION]: revision.version, 'x.example/y': 1, progressToken: 'mine' }, name: 'n' }
      : { name: 'n', odd: [1, null] };
    server.script = { ...server.script, 'tools/call': () => ({ result: { strange: { resultType: 5 }, resultType: 'odd' } }) };
    const response = await client.requestRaw('tools/call', params);
    expect(last(server, 'tools/call')?.params).toEqual(params);
    expect(response).toMatchObject({ jsonrpc: '2.0', result: { strange: { resultType: 5 }, resultType: 'odd' } });
  });

  it('that are raw give errors back with their data, and get the mandatory _meta where they lack it', async () => {
    const { client, server } = await connect(revision);
    const error = { code: -32099, message: 'odd', data: { a: [1, { b: null }] } };
    server.script = { ...server.script, 'tools/call': () => ({ error }) };
    expect(await client.requestRaw('tools/call', { name: 'n' })).toMatchObject({ error });
    const { params } = last(server, 'tools/call') ?? {};
    if (isModern)
      expect(params).toMatchObject({ name: 'n', _meta: { [META_PROTOCOL_VERSION]: revision.version, [META_CLIENT_CAPABILITIES]: {} } });
    else expect(params).toEqual({ name: 'n' });
  });
});

describe('connecting without discovery', () => {
  const options = { era: 'modern', discovers: false } as const;

  it('[VERS-006][CAP-008] sends nothing: any request may be the first, and none is refused for what is not known', async () => {
    const server = new ScriptedServer(everything(NEWEST));
    const client = await McpClient.connect(server.factory, info, options);
    open.push(client);
    expect(client.serverCapabilities).toEqual({});
    await client.callTool('x');
    await client.setLoggingLevel('info');
    expect(server.methods).toEqual(['tools/call']);
  });

  it('[CAP-008][VERS-004] sends a request again in a version from data.supported when it is refused for its version', async () => {
    const next: Revision = { ...NEWEST, version: '2027-03-01' };
    const refuse = (requested: unknown) => ({
      error: { code: -32022, message: 'Unsupported protocol version', data: { supported: [NEWEST.version], requested: String(requested) } },
    });
    const server = new ScriptedServer({
      'tools/list': (request) =>
        metaOf(request)[META_PROTOCOL_VERSION] === NEWEST.version
          ? complete(NEWEST, { tools: [] })
          : refuse(metaOf(request)[META_PROTOCOL_VERSION]),
    });
    const client = await McpClient.connect(server.factory, info, { ...options, revisions: [next, NEWEST] });
    open.push(client);
    expect(client.protocolVersion).toBe(next.version);
    expect(await client.listTools()).toMatchObject({ tools: [] });
    expect(client.protocolVersion).toBe(NEWEST.version);
    await client.listTools();
    expect(server.requests('tools/list').map((request) => metaOf(request)[META_PROTOCOL_VERSION])).toEqual([
      next.version,
      NEWEST.version,
      NEWEST.version,
    ]);
  });

  it('[VERS-004] surfaces the refusal where no other version is left', async () => {
    const server = new ScriptedServer({
      'tools/list': () => ({ error: { code: -32022, message: 'no', data: { supported: [NEWEST.version], requested: 'x' } } }),
    });
    const client = await McpClient.connect(server.factory, info, options);
    open.push(client);
    await expect(client.listTools()).rejects.toMatchObject({ rpcCode: -32022 });
    expect(server.requests('tools/list')).toHaveLength(1);
  });

  it('is refused where the era is not pinned', async () => {
    await expect(McpClient.connect(new ScriptedServer({}).factory, info, { discovers: false })).rejects.toThrow(
      'The option "discovers: false" needs era: "modern"',
    );
  });
});

describe('connecting with requires', () => {
  it('lists everything that is missing and closes', async () => {
    const server = new ScriptedServer(scriptOf(NEWEST, {}, { capabilities: { tools: {}, extensions: { 'x.example/a': {} } } }));
    const connecting = McpClient.connect(server.factory, info, {
      requires: ['tools', 'x.example/a', 'resources.subscribe', 'prompts', 'x.example/b'],
    });
    await expect(connecting).rejects.toThrow('the server lacks what this program requires: resources.subscribe, prompts, x.example/b');
    await expect(connecting).rejects.toMatchObject({ missing: ['resources.subscribe', 'prompts', 'x.example/b'] });
  });

  it('connects where all is there', async () => {
    const server = new ScriptedServer(scriptOf(NEWEST_LEGACY));
    const client = await McpClient.connect(server.factory, info, { requires: ['tools.listChanged', 'resources.subscribe'] });
    expect(client.isConnected).toBe(true);
    await client.close();
  });
});

describe('a modern client', () => {
  it('[BASE-022][STDIO-006][MRTR-003] sends no response, whatever a server sends it', async () => {
    const errors: Error[] = [];
    const { client, server } = await connect(NEWEST, { elicitation: () => ({ action: 'accept' }), onError: (error) => errors.push(error) });
    await server.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    await server.send({ jsonrpc: '2.0', id: 2, method: 'elicitation/create', params: { message: 'm', requestedSchema: {} } });
    await server.send({ jsonrpc: '2.0', id: 3, method: 'no/such' });
    await client.listTools();
    expect(server.received.some(isJsonRpcResponse)).toBe(false);
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('"ping"'),
      expect.stringContaining('"elicitation/create"'),
      expect.stringContaining('"no/such"'),
    ]);
  });

  it('[CAP-021][STATE-004] carries nothing from one request to the next', async () => {
    const { client, server } = await connect(NEWEST);
    await client.callTool('a', {}, { meta: { 'x.example/once': 1 } });
    await client.callTool('b');
    expect(metaOf(last(server, 'tools/call'))).not.toHaveProperty(['x.example/once']);
  });

  it('[META-018][CAP-020] behaves the same whoever the server says it is', async () => {
    const one = await connect(NEWEST);
    const other = await connect(
      NEWEST,
      {},
      { _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'claims-to-be-other', version: '9', title: 'x' } } },
    );
    const nobody = await connect(NEWEST, {}, { _meta: {} });
    for (const { client } of [one, other, nobody]) await client.callTool('x', { a: 1 });
    expect(nobody.client.serverInfo).toBeUndefined();
    expect(other.server.received).toEqual(one.server.received);
    expect(nobody.server.received).toEqual(one.server.received);
  });

  it('[VERS-012][CAP-013] declares extensions by identifier in every request, and in initialize since 2025-11-25', async () => {
    const extensions = [
      { id: 'x.example/a', settings: { depth: 2 } },
      { id: 'x.example/b' },
      { id: 'x.example/c', settings: ({ era }: Revision) => (era === 'modern' ? { wide: true } : undefined) },
    ];
    const modern = await connect(NEWEST, { extensions });
    await modern.client.listTools();
    expect(metaOf(last(modern.server, 'tools/list'))[META_CLIENT_CAPABILITIES]).toEqual({
      extensions: { 'x.example/a': { depth: 2 }, 'x.example/b': {}, 'x.example/c': { wide: true } },
    });
    for (const revision of REVISIONS.filter(({ era }) => era === 'legacy')) {
      const { server } = await connect(revision, { extensions });
      expect(server.requests('initialize')[0]?.params?.['capabilities']).toEqual(
        revision === NEWEST_LEGACY ? { extensions: { 'x.example/a': { depth: 2 }, 'x.example/b': {} } } : {},
      );
    }
  });

  it('declares what each of two extensions adds to one capability', async () => {
    const extensions = ['x.example/a', 'x.example/b'].map((id) => ({ id, capabilities: () => ({ experimental: { [id]: {} } }) }));
    const { server } = await connect(NEWEST_LEGACY, { extensions });
    expect(server.requests('initialize')[0]?.params?.['capabilities']).toHaveProperty('experimental', {
      'x.example/a': {},
      'x.example/b': {},
    });
  });

  it('[BASE-007] never has two requests in flight under one id', async () => {
    const { client, server } = await connect(NEWEST);
    server.script = { 'tools/call': () => 'silence' };
    const calls = Array.from({ length: 50 }, () => client.callTool('x'));
    await server.next((message) => 'id' in message && message.id === 51);
    expect(new Set(server.requests('tools/call').map(({ id }) => id)).size).toBe(50);
    await client.close();
    await Promise.allSettled(calls);
  });

  it('[PROG-002] tells no progress itself, though it asks for it', async () => {
    const { client, server } = await connect(NEWEST);
    await expect(client.notify('notifications/progress', { progressToken: 1, progress: 1 })).rejects.toBeInstanceOf(MissingCapabilityError);
    await client.callTool('x');
    expect(metaOf(last(server, 'tools/call'))).toHaveProperty('progressToken');
  });

  it.each(REVISIONS.filter(({ era }) => era === 'legacy'))(
    "[PROG-002] asks for progress in $version, and tells that of the server's requests",
    async (revision) => {
      const { client, server } = await connect(revision);
      await client.callTool('x');
      expect(metaOf(last(server, 'tools/call'))).toHaveProperty('progressToken');
      await client.notify('notifications/progress', { progressToken: 'asked', progress: 1 });
      const told = await server.nextMethod('notifications/progress');
      expect(told).toEqual({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'asked', progress: 1 } });
    },
  );

  it('[META-006][XMETA-004] takes whatever stands under keys that MCP reserves, and gives it on', async () => {
    const _meta = {
      'io.modelcontextprotocol/serverInfo': 'not an object',
      'io.modelcontextprotocol/unknown': [1],
      traceparent: 5,
      progressToken: {},
    };
    const { client, server } = await connect(NEWEST, {}, { _meta });
    expect(client.serverInfo).toBeUndefined();
    server.script = { ...server.script, 'tools/call': () => complete(NEWEST, { content: [], _meta }) };
    expect((await client.callTool('x'))._meta).toEqual(_meta);
  });

  it.each([{ ttlMs: 3_600_000, cacheScope: 'public' }, { ttlMs: 0, cacheScope: 'private' }, { ttlMs: -5 }, {}])(
    '[VERS-011] keeps a result for a later request only as its hints say: %j',
    async (hints) => {
      const { client, server } = await connect(NEWEST, { resultCache: createResultCache() }, hints);
      await client.discover();
      await client.discover();
      const isFresh = 'ttlMs' in hints && typeof hints.ttlMs === 'number' && hints.ttlMs > 0;
      expect(server.requests('server/discover')).toHaveLength(isFresh ? 2 : 3);
    },
  );

  it('[CAP-015][VERS-014] declares no extension by itself', async () => {
    const { client, server } = await connect(NEWEST);
    await client.listTools();
    expect(JSON.stringify(server.received)).not.toContain('extensions');
  });
});

it('the low-level client sends and hears by method', async () => {
  const server = new ScriptedServer(scriptOf(NEWEST, everything(NEWEST)));
  const client = new Client(info);
  open.push(client);
  await client.connect(server.factory);
  const heard: unknown[] = [];
  client.onAnyNotification((notification) => heard.push(notification));
  const off = client.onNotification('x.example/event', (params) => heard.push(params));
  expect(await client.request('tools/list', {})).toMatchObject({ tools: [] });
  await server.notify('x.example/event', { n: 1 });
  await client.request('tools/list', {});
  off();
  await server.notify('x.example/event', { n: 2 });
  await client.request('tools/list', {});
  expect(heard).toEqual([
    { jsonrpc: '2.0', method: 'x.example/event', params: { n: 1 } },
    { n: 1 },
    { jsonrpc: '2.0', method: 'x.example/event', params: { n: 2 } },
  ]);
});

it('reports what callbacks throw, at once or later, and goes on', async () => {
  const server = new ScriptedServer(scriptOf(NEWEST_LEGACY, everything(NEWEST_LEGACY)));
  const errors: string[] = [];
  const client = new McpClient(info, { onError: ({ message }) => errors.push(message) });
  open.push(client);
  await client.connect(server.factory);
  client.onAnyNotification(() => {
    throw new Error('thrown');
  });
  client.onNotification('x.example/event', () => Promise.reject(new Error('rejected')));
  client.onToolsChanged(() => Promise.reject(new Error('refreshed')));
  await server.notify('x.example/event', {});
  await server.notify('notifications/tools/list_changed', {});
  await client.listTools();
  await expect.poll(() => errors).toEqual(['thrown', 'rejected', 'thrown', 'refreshed']);
});
