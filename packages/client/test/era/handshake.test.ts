/** The session of the legacy era: how it is opened, and what the server may ask in it. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { isJsonRpcNotification } from '@mortise/jsonrpc-core/messages';
import { type ElicitResult, NEWEST_LEGACY, revisionsOf } from '@mortise/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, McpClient } from '../../src/index.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { info, legacyScript, type Script, ScriptedServer, serverInfo } from '../scripted-server.ts';

const fullInfo = {
  name: 'c',
  version: '1',
  title: 'The C',
  description: 'd',
  websiteUrl: 'https://c.example',
  icons: [{ src: 'https://c.example/i.png' }],
};
const open: McpClient[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function connect(server: ScriptedServer, options: ClientOptions = {}, who = info): Promise<McpClient> {
  const client = await McpClient.connect(server.factory, who, { era: 'legacy', ...options });
  open.push(client);
  return client;
}

/** Asks the client something and gives its answer. */
async function ask(server: ScriptedServer, method: string, params?: JsonObject): Promise<unknown> {
  await server.send({ jsonrpc: '2.0', id: `ask-${method}`, method, ...(params && { params }) });
  return server.next((message) => 'id' in message && message.id === `ask-${method}`);
}

describe.each(revisionsOf('legacy'))('initialize in $version', (revision) => {
  const { version } = revision;

  it('[LIFE-001][LIFE-006] is the first message and offers the newest legacy version with capabilities and clientInfo', async () => {
    const server = new ScriptedServer(legacyScript(version));
    await connect(server);
    expect(server.received[0]).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number),
      method: 'initialize',
      params: { protocolVersion: NEWEST_LEGACY.version, capabilities: {}, clientInfo: info },
    });
  });

  it('[LIFE-003] is followed by notifications/initialized before anything else', async () => {
    const handlers = { 'tools/list': () => ({ result: { tools: [] } }), 'logging/setLevel': () => ({ result: {} }) };
    const server = new ScriptedServer(legacyScript(version, handlers, { capabilities: { tools: {}, logging: {} } }));
    const client = await connect(server);
    await client.setLoggingLevel('warning');
    await client.listTools();
    expect(server.methods).toEqual(['initialize', 'notifications/initialized', 'logging/setLevel', 'tools/list']);
  });

  it('[LIFE-017] tells of the client only what the offered revision has', async () => {
    const server = new ScriptedServer(legacyScript(version));
    await connect(server, { protocolVersion: version }, fullInfo);
    const { clientInfo } = server.requests('initialize')[0]?.params as { clientInfo: JsonObject };
    expect('title' in clientInfo).toBe(version >= '2025-06-18');
    expect('description' in clientInfo).toBe(version >= '2025-11-25');
    expect('icons' in clientInfo).toBe(version >= '2025-11-25');
    expect(clientInfo).toMatchObject({ name: 'c', version: '1' });
  });

  it('[LIFE-014][CAP-011] declares only the capabilities that the offered revision has', async () => {
    const server = new ScriptedServer(legacyScript(version));
    const elicit = (): ElicitResult => ({ action: 'decline' });
    await connect(server, {
      protocolVersion: version,
      elicitation: { form: elicit, url: elicit },
      sampling: () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }),
      roots: [],
      capabilities: { sampling: { tools: {} }, experimental: { 'x.example/y': {} }, extensions: { 'x.example/y': {} } },
    });
    const { capabilities } = server.requests('initialize')[0]?.params as { capabilities: JsonObject };
    expect(capabilities).toEqual({
      experimental: { 'x.example/y': {} },
      roots: { listChanged: true },
      sampling: version >= '2025-11-25' ? { tools: {} } : {},
      ...(version >= '2025-06-18' && { elicitation: version >= '2025-11-25' ? { form: {}, url: {} } : {} }),
      ...(version >= '2025-11-25' && { extensions: { 'x.example/y': {} } }),
    });
  });

  it('[LIFE-016][CAP-009] tolerates capabilities that nobody knows, and an empty object counts as support', async () => {
    const server = new ScriptedServer(
      legacyScript(version, { 'tools/list': () => ({ result: { tools: [] } }) }, { capabilities: { tools: {}, telepathy: { range: 5 } } }),
    );
    const client = await connect(server);
    expect(client.serverCapabilities).toMatchObject({ tools: {}, telepathy: { range: 5 } });
    await expect(client.listTools()).resolves.toMatchObject({ tools: [] });
  });
});

describe('the handshake', () => {
  it('[LIFE-006] offers no version of the modern era after a probe either', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    await connect(server, { era: undefined });
    expect(server.methods[0]).toBe('server/discover');
    expect(server.requests('initialize')[0]?.params).toMatchObject({ protocolVersion: NEWEST_LEGACY.version });
  });

  it.each(['2099-01-01', '2026-07-28', 'latest', '', 7, null])(
    '[LIFE-009][LIFE-010] ends with a closed connection when the server chooses %j',
    async (protocolVersion) => {
      const server = new ScriptedServer(legacyScript('', {}, { protocolVersion }));
      await expect(connect(server)).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED_VERSION' });
      expect(server.methods).not.toContain('notifications/initialized');
    },
  );

  it('[LIFE-004] sends nothing before initialize is answered, not even what is asked for meanwhile', async () => {
    let answer: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const init = legacyScript(NEWEST_LEGACY.version)['initialize'];
    const server = new ScriptedServer({
      initialize: async (request, self) => {
        await gate;
        return init ? init(request, self) : 'silence';
      },
      'tools/list': () => ({ result: { tools: [] } }),
    });
    const client = new McpClient(info, { era: 'legacy' });
    open.push(client);
    const connected = client.connect(server.factory);
    const listed = client.listTools();
    await server.nextMethod('initialize');
    expect(server.methods).toEqual(['initialize']);
    answer();
    await connected;
    await listed;
    expect(server.methods).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
  });

  it.each(['abort', 'timeout'])('[LIFE-018] is given up by closing and never by a cancellation: %s', async (how) => {
    const clock = new FakeClock();
    const server = new ScriptedServer({ initialize: () => 'silence' });
    const controller = new AbortController();
    const connecting = McpClient.connect(server.factory, info, { era: 'legacy', clock, requestTimeoutMs: 1000, signal: controller.signal });
    await server.nextMethod('initialize');
    if (how === 'abort') controller.abort(new Error('never mind'));
    else clock.advance(1000);
    await expect(connecting).rejects.toThrow(
      how === 'abort' ? 'never mind' : /did not respond to the first message within 1000 ms: .*requestTimeoutMs/u,
    );
    expect(server.methods).toEqual(['initialize']);
  });

  it('[LIFE-019] has no counterpart: closing sends nothing more', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    const client = await connect(server);
    const before = server.received.length;
    await client.close();
    await client.close();
    expect(server.received.slice(before)).toEqual([]);
    await expect(client.listTools()).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it('tells a transport that wants to know which version was agreed on', async () => {
    const server = new ScriptedServer(legacyScript('2025-06-18'));
    const told: string[] = [];
    const client = await McpClient.connect(
      () => Object.assign(server.factory(), { setProtocolVersion: (version: string) => told.push(version) }),
      info,
      { era: 'legacy' },
    );
    open.push(client);
    expect(told).toEqual(['2025-06-18']);
  });

  it('names the result when it has no capabilities', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version, {}, { capabilities: null }));
    await expect(connect(server)).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
  });

  it('gives what the server says of itself, under both names', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version, {}, { instructions: 'be nice' }));
    const client = new McpClient(info, { era: 'legacy' });
    open.push(client);
    expect(client.getServerCapabilities()).toBeUndefined();
    expect(() => client.serverInfo).toThrow(/call connect\(\) first/u);
    await client.connect(server.factory);
    expect(client.getServerVersion()).toEqual(serverInfo);
    expect(client.getInstructions()).toBe(client.instructions);
    await expect(client.connect(server.factory)).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
  });
});

describe('a legacy server', () => {
  const version = NEWEST_LEGACY.version;

  it('[PING-001][PING-002][BASE-020] gets an empty result for its ping, with parameters or without', async () => {
    const server = new ScriptedServer(legacyScript(version));
    await connect(server);
    expect(await ask(server, 'ping')).toEqual({ jsonrpc: '2.0', id: 'ask-ping', result: {} });
    await server.send({ jsonrpc: '2.0', id: 2, method: 'ping', params: { _meta: { x: 1 } } });
    expect(await server.next((message) => 'result' in message && message.id === 2)).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
  });

  it("[PING-001][PING-002] answers the client's ping, which has no parameters", async () => {
    const server = new ScriptedServer(legacyScript(version));
    const client = await connect(server);
    await client.ping();
    expect(server.requests('ping')[0]).toEqual({ jsonrpc: '2.0', id: expect.any(Number), method: 'ping' });
  });

  it('[PING-003] that does not answer a ping in time is a timeout', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(legacyScript(version, { ping: () => 'silence' }));
    const client = await connect(server, { clock });
    const pinged = client.ping({ timeoutMs: 50 });
    await server.nextMethod('ping');
    clock.advance(50);
    await expect(pinged).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
  });

  it.each(['elicitation/create', 'sampling/createMessage', 'roots/list', 'tools/list', 'no/such'])(
    '[ROOT-005][CAP-001] is told -32601 when it asks for %s, which was not declared',
    async (method) => {
      const server = new ScriptedServer(legacyScript(version));
      await connect(server);
      expect(await ask(server, method, {})).toMatchObject({ error: { code: -32601 } });
    },
  );

  it('[CAP-011][ELICIT-001] of a revision without elicitation is told -32601 though the client could answer', async () => {
    const server = new ScriptedServer(legacyScript('2025-03-26'));
    await connect(server, { elicitation: () => ({ action: 'accept' }) });
    expect(await ask(server, 'elicitation/create', { message: 'm', requestedSchema: { type: 'object', properties: {} } })).toMatchObject({
      error: { code: -32601 },
    });
  });

  it("[ELICIT-015][ELICIT-016] gets the user's answer, with content only if it was accepted", async () => {
    const answers: ElicitResult[] = [
      { action: 'accept', content: { name: 'Ada' } },
      { action: 'decline', content: { name: 'Ada' } },
    ];
    const server = new ScriptedServer(legacyScript(version));
    const seen: unknown[] = [];
    await connect(server, {
      elicitation: (params) => {
        seen.push(params.message);
        return answers.shift() ?? { action: 'cancel' };
      },
    });
    expect(await ask(server, 'elicitation/create', { message: 'who?', requestedSchema: { type: 'object', properties: {} } })).toMatchObject(
      { result: { action: 'accept', content: { name: 'Ada' } } },
    );
    await server.send({
      jsonrpc: '2.0',
      id: 2,
      method: 'elicitation/create',
      params: { message: 'again?', requestedSchema: { type: 'object', properties: {} } },
    });
    expect(await server.next((message) => 'result' in message && message.id === 2)).toMatchObject({ result: { action: 'decline' } });
    expect(server.received.at(-1)).not.toHaveProperty('result.content');
    expect(seen).toEqual(['who?', 'again?']);
  });

  it('[ELICIT-023] is told -32602 for a mode that was not declared', async () => {
    const server = new ScriptedServer(legacyScript(version));
    await connect(server, { elicitation: { form: () => ({ action: 'cancel' }) } });
    expect(await ask(server, 'elicitation/create', { mode: 'url', message: 'm', url: 'https://x.example' })).toMatchObject({
      error: { code: -32602 },
    });
    expect(server.requests('initialize')[0]?.params?.['capabilities']).toEqual({ elicitation: { form: {} } });
  });

  it('[SAMP-003] is told -32602 when it samples with tools that the client does not honour', async () => {
    const server = new ScriptedServer(legacyScript(version));
    await connect(server, { sampling: () => ({ role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' }) });
    expect(await ask(server, 'sampling/createMessage', { messages: [], maxTokens: 1, tools: [] })).toMatchObject({
      error: { code: -32602 },
    });
  });

  it('[SAMP-001][SAMP-018] gets what the model said', async () => {
    const server = new ScriptedServer(legacyScript(version));
    await connect(server, {
      sampling: ({ messages }) => ({
        role: 'assistant',
        content: { type: 'text', text: `${messages.length}` },
        model: 'm',
        stopReason: 'endTurn',
      }),
    });
    expect(
      await ask(server, 'sampling/createMessage', { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 5 }),
    ).toMatchObject({
      result: { role: 'assistant', content: { type: 'text', text: '1' }, model: 'm', stopReason: 'endTurn' },
    });
  });

  it.each([
    { method: 'elicitation/create', params: {}, missing: 'message' },
    { method: 'sampling/createMessage', params: { maxTokens: 1 }, missing: 'messages' },
  ])('[ERR-001] is told -32602 when its $method lacks $missing', async ({ method, params }) => {
    const server = new ScriptedServer(legacyScript(version));
    await connect(server, {
      elicitation: () => ({ action: 'cancel' }),
      sampling: () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }),
    });
    expect(await ask(server, method, params)).toMatchObject({ error: { code: -32602 } });
  });

  it('[ROOT-001][ROOT-004] gets the roots', async () => {
    const server = new ScriptedServer(legacyScript(version));
    await connect(server, { roots: [{ uri: 'file:///home/ada', name: 'home' }] });
    expect(await ask(server, 'roots/list')).toMatchObject({ result: { roots: [{ uri: 'file:///home/ada', name: 'home' }] } });
  });

  it.each(['https://x.example/', '/home/ada', 'file:///home/../etc', 'file:///home/%2e%2E/etc'])(
    '[ROOT-004][ROOT-005][ROOT-007] is told -32603 rather than the root %s',
    async (uri) => {
      const errors: Error[] = [];
      const server = new ScriptedServer(legacyScript(version));
      await connect(server, { roots: () => [{ uri }], onError: (error) => errors.push(error) });
      expect(await ask(server, 'roots/list')).toEqual({
        jsonrpc: '2.0',
        id: 'ask-roots/list',
        error: { code: -32603, message: 'The client could not answer "roots/list": its handler failed' },
      });
      expect(errors[0]?.message).toContain(uri);
    },
  );

  it('[ROOT-002] is told when the roots have changed', async () => {
    const server = new ScriptedServer(legacyScript(version));
    const client = await connect(server, { roots: [] });
    client.onListRoots([{ uri: 'file:///b' }]);
    await client.sendRootsListChanged();
    expect(await server.nextMethod('notifications/roots/list_changed')).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/roots/list_changed',
    });
    expect(await ask(server, 'roots/list')).toMatchObject({ result: { roots: [{ uri: 'file:///b' }] } });
  });

  it('gets the error that a handler chose, and a neutral one for any other', async () => {
    const server = new ScriptedServer(legacyScript(version));
    const errors: Error[] = [];
    await connect(server, {
      sampling: () => {
        throw new ProtocolError(-1, 'User rejected sampling request');
      },
      elicitation: () => {
        throw new Error('secret path /etc/x');
      },
      onError: (error) => errors.push(error),
    });
    expect(await ask(server, 'sampling/createMessage', { messages: [], maxTokens: 1 })).toMatchObject({
      error: { code: -1, message: 'User rejected sampling request' },
    });
    expect(await ask(server, 'elicitation/create', { message: 'm', requestedSchema: { type: 'object', properties: {} } })).toMatchObject({
      error: { code: -32603, message: 'The client could not answer "elicitation/create": its handler failed' },
    });
    expect(errors.map(({ message }) => message)).toEqual(['secret path /etc/x']);
  });

  it('[CANCEL-001][CANCEL-006] that cancels its question aborts the handler and gets no answer', async () => {
    const server = new ScriptedServer(legacyScript(version));
    let aborted: () => void = () => undefined;
    const wasAborted = new Promise<void>((resolve) => {
      aborted = resolve;
    });
    await connect(server, {
      elicitation: (_params, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted();
            reject(signal.reason as Error);
          });
        }),
    });
    await server.send({
      jsonrpc: '2.0',
      id: 'q',
      method: 'elicitation/create',
      params: { message: 'm', requestedSchema: { type: 'object', properties: {} } },
    });
    await server.notify('notifications/cancelled', { requestId: 'q', reason: 'too slow' });
    await wasAborted;
    await ask(server, 'ping');
    expect(server.received.some((message) => 'id' in message && message.id === 'q')).toBe(false);
  });

  it.each([{ requestId: 'unknown' }, {}, { requestId: null }, { requestId: { a: 1 } }])(
    '[CANCEL-004][CANCEL-008][CANCEL-011] is not answered, and nothing breaks, when it cancels %j',
    async (params) => {
      const server = new ScriptedServer(legacyScript(version));
      await connect(server);
      await server.notify('notifications/cancelled', params);
      expect(await ask(server, 'ping')).toMatchObject({ result: {} });
      expect(server.received.filter((message) => !('method' in message))).toHaveLength(1);
    },
  );

  it('[BASE-019] never gets an answer to a notification, whatever it is', async () => {
    const server = new ScriptedServer(legacyScript(version));
    await connect(server);
    await server.notify('notifications/no-such-thing', { a: 1 });
    await server.notify('notifications/message', { level: 'no-such-level' });
    await ask(server, 'ping');
    expect(server.received.filter((message) => !('method' in message))).toHaveLength(1);
  });

  it('[ERR-007][ERR-008][ERR-009] gets error codes of JSON-RPC alone, unless a handler chose another', async () => {
    const server = new ScriptedServer(legacyScript(version));
    await connect(server, {
      onError: () => undefined,
      elicitation: () => ({ action: 'cancel' }),
      sampling: () => {
        throw new Error('no');
      },
      roots: () => [{ uri: 'no' }],
    });
    const questions: JsonObject[] = [
      { method: 'no/such' },
      { method: 'tools/list' },
      { method: 'initialize', params: {} },
      { method: 'elicitation/create' },
      { method: 'elicitation/create', params: { mode: 'url', message: 'm' } },
      { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
      { method: 'sampling/createMessage', params: { messages: 'x' } },
      { method: 'roots/list' },
      { method: 'ping', params: [1] },
      { method: 5 },
    ];
    for (const [id, question] of questions.entries()) await server.send({ jsonrpc: '2.0', id, ...question } as never);
    await ask(server, 'ping');
    const codes = server.received.flatMap((message) => ('error' in message ? [message.error.code] : []));
    expect(codes).toHaveLength(questions.length);
    expect(codes.every((code) => [-32700, -32600, -32601, -32602, -32603].includes(code))).toBe(true);
  });

  it('answers questions by handlers that were set by method, and declares what they need', async () => {
    const server = new ScriptedServer(legacyScript(version));
    const client = new McpClient(info, { era: 'legacy' });
    open.push(client);
    client.setRequestHandler('roots/list', () => ({ roots: [] }));
    client.setRequestHandler('x.example/hello', ({ name }) => ({ hello: name ?? 'nobody' }));
    await client.connect(server.factory);
    expect(server.requests('initialize')[0]?.params?.['capabilities']).toEqual({ roots: {} });
    expect(await ask(server, 'x.example/hello', { name: 'Ada' })).toMatchObject({ result: { hello: 'Ada' } });
  });
});

describe('batches', () => {
  const members: Script = { 'tools/list': () => ({ result: { tools: [] } }) };

  it('[BATCH-001][BATCH-008] are read from a server that speaks 2025-03-26, requests among them answered by a batch', async () => {
    const server = new ScriptedServer(legacyScript('2025-03-26', members));
    const client = await connect(server);
    const logs: unknown[] = [];
    client.onLog(({ data }) => logs.push(data));
    await server.send([
      { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'a' } },
      { jsonrpc: '2.0', id: 'b', method: 'ping' },
    ]);
    const answer = await server.next((message) => Array.isArray(message));
    expect(answer).toEqual([{ jsonrpc: '2.0', id: 'b', result: {} }]);
    expect(logs).toEqual(['a']);
  });

  it.each(['2024-11-05', '2025-06-18', '2025-11-25'])(
    '[BATCH-010] are one invalid message from a server that speaks %s',
    async (version) => {
      const server = new ScriptedServer(legacyScript(version, members));
      const client = await connect(server, { onError: () => undefined });
      const logs: unknown[] = [];
      client.onLog(({ data }) => logs.push(data));
      await server.send([{ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'a' } }]);
      await client.listTools();
      expect(logs).toEqual([]);
    },
  );

  it('[BATCH-002][BATCH-003] are never sent', async () => {
    const server = new ScriptedServer(legacyScript('2025-03-26', members));
    const client = await connect(server);
    await Promise.all([client.listTools(), client.listTools(), client.ping()]);
    expect(server.received.some((message) => Array.isArray(message))).toBe(false);
    expect(server.received.filter((message) => isJsonRpcNotification(message))).toHaveLength(1);
  });
});
