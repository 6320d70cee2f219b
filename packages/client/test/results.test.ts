/** What the client makes of answers: results, errors, silence. */

import { ConnectionClosedError, type JsonObject, type JsonValue, RemoteError } from '@mortise/jsonrpc-core';
import { toErrorResponse } from '@mortise/jsonrpc-core/messages';
import { NEWEST, NEWEST_LEGACY, REVISIONS, type Revision } from '@mortise/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, expectSuccess, McpClient, MissingCapabilityError, ResourceNotFoundError } from '../src/index.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { complete, info, type Reply, type Script, ScriptedServer, scriptOf } from './scripted-server.ts';

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function connect(
  revision: Revision,
  script: Script,
  options: ClientOptions = {},
  opening: JsonObject = {},
): Promise<{ client: McpClient; server: ScriptedServer }> {
  const server = new ScriptedServer(scriptOf(revision, script, opening));
  const client = await McpClient.connect(server.factory, info, { protocolVersion: revision.version, ...options });
  open.push(client);
  return { client, server };
}

const answering = (reply: Reply) => () => reply;

describe.each(REVISIONS)('results in $version', (revision) => {
  it('[BASE-015][CAP-017] without a resultType are complete', async () => {
    const { client } = await connect(revision, { 'tools/list': answering({ result: { tools: [] } }) });
    expect(await client.listTools()).toEqual({ tools: [] });
  });

  it('[BASE-013] keep members that nobody knows', async () => {
    const result = { content: [{ type: 'text', text: 't', 'x-odd': 1 }], _meta: { 'x.example/y': [1] }, extra: { a: null } };
    const { client } = await connect(revision, { 'tools/call': () => complete(revision, result) });
    expect(await client.callTool('x')).toMatchObject(result);
  });

  it('[TOOL-045] with isError are handed back as results', async () => {
    const result = { content: [{ type: 'text', text: 'it broke' }], isError: true };
    const { client } = await connect(revision, { 'tools/call': () => complete(revision, result) });
    const given = await client.callTool('x');
    expect(given).toMatchObject(result);
    expect(() => expectSuccess('x', given)).toThrow('the tool "x" failed: it broke');
    expect(() => expectSuccess('x', given)).toThrow(expect.objectContaining({ code: 'ERR_TOOL_FAILED', result: given }));
  });

  it('[TOOL-026] without isError are successes', async () => {
    const { client } = await connect(revision, { 'tools/call': () => complete(revision, { content: [] }) });
    const given = await client.callTool('x');
    expect(expectSuccess('x', given)).toBe(given);
  });

  it.each([
    { method: 'tools/list', call: (client: McpClient) => client.listTools(), result: { tools: 'none' } },
    { method: 'tools/call', call: (client: McpClient) => client.callTool('x'), result: { content: 'text' } },
    { method: 'resources/list', call: (client: McpClient) => client.listResources(), result: {} },
    {
      method: 'resources/templates/list',
      call: (client: McpClient) => client.listResourceTemplates(),
      result: { resourceTemplates: null },
    },
    { method: 'resources/read', call: (client: McpClient) => client.readResource('a:b'), result: { contents: {} } },
    { method: 'prompts/list', call: (client: McpClient) => client.listPrompts(), result: { prompts: 1 } },
    { method: 'prompts/get', call: (client: McpClient) => client.getPrompt('p'), result: { messages: 'hi' } },
    {
      method: 'completion/complete',
      call: (client: McpClient) => client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }),
      result: { completion: { values: 'a' } },
    },
  ])('of $method that are malformed are an error that names what is wrong', async ({ method, call, result }) => {
    const { client } = await connect(revision, { [method]: () => complete(revision, result as JsonObject) });
    await expect(call(client)).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE', message: expect.stringContaining(method) });
  });

  it.each([
    { method: 'tools/call', call: (client: McpClient) => client.callTool('x'), result: { content: [null] }, names: 'content[0] must' },
    {
      method: 'tools/call',
      call: (client: McpClient) => client.callTool('x'),
      result: { content: [{ type: 'text', text: 5 }] },
      names: 'content[0].text must',
    },
    {
      method: 'tools/call',
      call: (client: McpClient) => client.callTool('x'),
      result: { content: [], isError: 'yes' },
      names: 'isError must',
    },
    { method: 'prompts/get', call: (client: McpClient) => client.getPrompt('p'), result: { messages: [null] }, names: 'messages[0] must' },
    {
      method: 'resources/read',
      call: (client: McpClient) => client.readResource('a:b'),
      result: { contents: [{ uri: 5, text: '' }] },
      names: 'contents[0].uri must',
    },
    { method: 'tools/list', call: (client: McpClient) => client.listTools(), result: { tools: [null] }, names: 'tools[0] must' },
  ])(
    '[ROBUSTNESS-19] of $method never reach the program with a shape that its types deny: $result',
    async ({ method, call, result, names }) => {
      const { client } = await connect(revision, { [method]: () => complete(revision, result as JsonObject) });
      const failure = await call(client).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'ERR_INVALID_RESPONSE', message: expect.stringContaining(method) });
      expect((failure as Error).message).toContain(names);
    },
  );

  it('[ROBUSTNESS-19] that list malformed items give the others, and report each', async () => {
    const good = { name: 'good', inputSchema: { type: 'object' } };
    const errors: Error[] = [];
    const { client } = await connect(
      revision,
      { 'tools/list': () => complete(revision, { tools: [{}, good, { ...good, name: 5 }] }) },
      { onError: (error) => errors.push(error) },
    );
    expect((await client.listTools()).tools).toEqual([good]);
    expect(errors).toMatchObject([
      { code: 'ERR_INVALID_RESPONSE', message: expect.stringContaining('item.name') },
      { message: expect.stringContaining('item.name must be a string, got 5') },
    ]);
  });

  it.each([-32700, -32600, -32601, -32602, -32603, -32000, -32001, -32019, -32042, -1, 12345])(
    "[ERR-001][ERR-010] that are the error %d are the server's own words and nothing else",
    async (code) => {
      const data: JsonValue = { detail: [1, null, { a: 'b' }] };
      const { client } = await connect(revision, { 'tools/call': answering({ error: { code, message: 'said so', data } }) });
      const failure = await client.callTool('x').catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RemoteError);
      expect(failure).toMatchObject({ code: 'ERR_REMOTE', rpcCode: code, message: 'said so', data, method: 'tools/call' });
    },
  );

  it.each([null, 'text', 5, true, [1, 2], { a: null }])('[BASE-011] that are errors keep data %j', async (data) => {
    const { client } = await connect(revision, { 'tools/call': answering({ error: { code: 5, message: 'm', data } }) });
    await expect(client.callTool('x')).rejects.toMatchObject({ data });
  });

  it('[ERR-012][RES-008] that are -32002 mean that there is no such resource', async () => {
    const { client } = await connect(revision, {
      'resources/read': answering({ error: { code: -32002, message: 'Resource not found', data: { uri: 'a:b' } } }),
    });
    const failure = await client.readResource('a:b').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ResourceNotFoundError);
    expect(failure).toMatchObject({ code: 'ERR_RESOURCE_NOT_FOUND', uri: 'a:b', rpcCode: -32002, cause: expect.any(RemoteError) });
  });

  it('[ERR-012] that are -32602 mean the same where the error names a resource, and bad parameters else', async () => {
    const replies: Reply[] = [
      { error: { code: -32602, message: 'Resource not found', data: { uri: 'a:b' } } },
      { error: { code: -32602, message: 'uri?' } },
    ];
    const { client } = await connect(revision, { 'resources/read': () => replies.shift() ?? 'silence' });
    await expect(client.readResource('a:b')).rejects.toBeInstanceOf(ResourceNotFoundError);
    await expect(client.readResource('a:b')).rejects.toMatchObject({ code: 'ERR_REMOTE', rpcCode: -32602 });
  });

  it('[BASE-009] that are errors without an id are reported and answer nothing', async () => {
    const errors: Error[] = [];
    const { client, server } = await connect(
      revision,
      { 'tools/list': () => complete(revision, { tools: [] }) },
      { onError: (error) => errors.push(error) },
    );
    await server.send({ jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' } });
    await server.send(toErrorResponse({ code: -32600, message: 'Invalid Request' }, null));
    await client.listTools();
    expect(errors.map(({ message }) => message)).toEqual(['Parse error', 'Invalid Request']);
  });

  it('[BASE-008][BASE-010] with an id of another type, or with both result and error, answer nothing', async () => {
    const clock = new FakeClock();
    const { client, server } = await connect(
      revision,
      { 'tools/call': answering('silence'), 'tools/list': () => complete(revision, { tools: [] }) },
      { clock, onError: () => undefined },
    );
    const call = client.callTool('x', {}, { timeoutMs: 100 });
    const request = server.requests('tools/call')[0] ?? (await server.nextMethod('tools/call'));
    await server.send({ jsonrpc: '2.0', id: String(request.id), result: { content: [] } });
    await client.listTools();
    clock.advance(100);
    await expect(call).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
  });

  it('[TIME-001][TIME-002] that do not come in time are cancelled at the server and given up', async () => {
    const clock = new FakeClock();
    const { client, server } = await connect(revision, { 'tools/call': answering('silence') }, { clock });
    const call = client.callTool('x');
    await server.nextMethod('tools/call');
    clock.advance(59_999);
    expect(server.methods).not.toContain('notifications/cancelled');
    clock.advance(1);
    await expect(call).rejects.toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 60_000 });
    const [request] = server.requests('tools/call');
    expect(await server.nextMethod('notifications/cancelled')).toMatchObject({ params: { requestId: request?.id } });
  });

  it('[TIME-003] are waited for as long as the caller says', async () => {
    const clock = new FakeClock();
    const { client, server } = await connect(revision, { 'tools/call': answering('silence') }, { clock, requestTimeoutMs: 500 });
    const short = client.callTool('x', {}, { timeoutMs: 10 });
    const usual = client.callTool('x');
    await server.nextMethod('tools/call');
    clock.advance(10);
    await expect(short).rejects.toMatchObject({ timeoutMs: 10 });
    clock.advance(490);
    await expect(usual).rejects.toMatchObject({ timeoutMs: 500 });
  });

  it('[TIME-004][TIME-005] are waited for longer while progress is told, but not beyond the hard bound', async () => {
    const clock = new FakeClock();
    const { client, server } = await connect(
      revision,
      { 'tools/call': answering('silence'), 'tools/list': () => complete(revision, { tools: [] }) },
      { clock },
    );
    const call = client.callTool('x', {}, { timeoutMs: 100, maxTimeoutMs: 250 });
    call.catch(() => undefined);
    const { _meta } = (await server.nextMethod('tools/call')).params as { _meta: { progressToken: number } };
    for (const progress of [1, 2]) {
      clock.advance(90);
      await server.notify('notifications/progress', { progressToken: _meta.progressToken, progress });
      await client.listTools();
    }
    clock.advance(69);
    expect(server.methods).not.toContain('notifications/cancelled');
    clock.advance(1);
    await expect(call).rejects.toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 250 });
  });

  it('[TIME-004] are not waited for longer where the caller does not want that', async () => {
    const clock = new FakeClock();
    const { client, server } = await connect(
      revision,
      { 'tools/call': answering('silence'), 'tools/list': () => complete(revision, { tools: [] }) },
      { clock },
    );
    const call = client.callTool('x', {}, { timeoutMs: 100, resetTimeoutOnProgress: false, onProgress: () => undefined });
    const { _meta } = (await server.nextMethod('tools/call')).params as { _meta: { progressToken: number } };
    clock.advance(90);
    await server.notify('notifications/progress', { progressToken: _meta.progressToken, progress: 1 });
    await client.listTools();
    clock.advance(10);
    await expect(call).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
  });

  it('[PROG-003][PROG-005] are preceded by progress, told to the caller whose token it carries', async () => {
    const { client, server } = await connect(revision, {
      'tools/call': async ({ params }, self) => {
        const { progressToken } = params?.['_meta'] as { progressToken: number };
        await self.notify('notifications/progress', { progressToken, progress: 0.5, total: 2.5 });
        await self.notify('notifications/progress', { progressToken: String(progressToken), progress: 1 });
        await self.notify('notifications/progress', { progressToken: 'nobody', progress: 2 });
        await self.notify('notifications/progress', { progressToken, progress: 'much' });
        await self.notify('notifications/progress', { progressToken, progress: 2.5, total: 2.5, message: 'done' });
        return complete(revision, { content: [] });
      },
    });
    const seen: unknown[] = [];
    await client.callTool('x', {}, { onProgress: (step) => seen.push(step) });
    expect(seen).toEqual([
      { progress: 0.5, total: 2.5 },
      { progress: 2.5, total: 2.5, message: 'done' },
    ]);
    expect(server.requests('tools/call')).toHaveLength(1);
  });

  it('[PROG-007][PROG-008] end the progress: what comes later is ignored, and none at all is fine', async () => {
    const seen: unknown[] = [];
    const { client, server } = await connect(revision, { 'tools/call': () => complete(revision, { content: [] }) });
    await client.callTool('x', {}, { onProgress: (progress) => seen.push(progress) });
    const [request] = server.requests('tools/call');
    await server.notify('notifications/progress', { progressToken: request?.id ?? 0, progress: 1 });
    await client.callTool('x');
    expect(seen).toEqual([]);
  });

  it('[CANCEL-002][CANCEL-012][STDIO-009] that nobody wants any more are cancelled by id, and the caller gets its own reason', async () => {
    const { client, server } = await connect(revision, {
      'tools/call': answering('silence'),
      'tools/list': () => complete(revision, { tools: [] }),
    });
    const controller = new AbortController();
    const call = client.callTool('x', {}, { signal: controller.signal });
    const request = await server.nextMethod('tools/call');
    const reason = new Error('the user lost patience');
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(await server.nextMethod('notifications/cancelled')).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: request.id, reason: reason.message },
    });
  });

  it('[CANCEL-009][CANCEL-010] that come after they were cancelled are ignored', async () => {
    const errors: Error[] = [];
    const { client, server } = await connect(
      revision,
      { 'tools/call': answering('silence'), 'tools/list': () => complete(revision, { tools: [] }) },
      { onError: (error) => errors.push(error) },
    );
    const controller = new AbortController();
    const call = client.callTool('x', {}, { signal: controller.signal });
    const { id } = await server.nextMethod('tools/call');
    controller.abort();
    await expect(call).rejects.toBe(controller.signal.reason);
    await server.send({ jsonrpc: '2.0', id, result: { content: [] } });
    await client.listTools();
    expect(errors).toEqual([]);
  });

  it('[CANCEL-002] are not cancelled where they were never asked for, or are there already', async () => {
    const { client, server } = await connect(revision, { 'tools/list': () => complete(revision, { tools: [] }) });
    const before = server.received.length;
    const aborted = AbortSignal.abort(new Error('never mind'));
    await expect(client.listTools({}, { signal: aborted })).rejects.toThrow('never mind');
    expect(server.received).toHaveLength(before);
    const controller = new AbortController();
    await client.listTools({}, { signal: controller.signal });
    controller.abort();
    await client.listTools();
    expect(server.methods).not.toContain('notifications/cancelled');
  });

  it('[ERR-015] that never come because the connection ended are no errors of the server', async () => {
    const server = new ScriptedServer(scriptOf(revision, { 'tools/call': answering('die') }));
    const client = await McpClient.connect(server.factory(), info, { protocolVersion: revision.version });
    open.push(client);
    const failure = await client.callTool('x').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConnectionClosedError);
    expect(failure).not.toHaveProperty('rpcCode');
  });
});

describe('results of a modern server', () => {
  it.each(['task', 'input_required', 'COMPLETE', '', 5, null, {}])(
    '[BASE-016][CAP-016] of the type %j are an error on a method that cannot have it',
    async (resultType) => {
      const { client } = await connect(NEWEST, { 'tools/list': answering({ result: { resultType, tools: [] } }) });
      await expect(client.listTools()).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
    },
  );

  it("[BASE-017][CAP-014][VERS-013] of an extension's type are read by it only where the server has it too", async () => {
    const extension = {
      id: 'x.example/later',
      results: { later: (result: JsonObject) => Promise.resolve({ content: [{ type: 'text', text: String(result['ticket']) }] }) },
    };
    const script: Script = { 'tools/call': answering({ result: { resultType: 'later', ticket: 7 } }) };
    const both = await connect(
      NEWEST,
      script,
      { extensions: [extension] },
      { capabilities: { tools: {}, extensions: { 'x.example/later': {} } } },
    );
    expect(await both.client.callTool('x')).toEqual({ content: [{ type: 'text', text: '7' }] });
    const onlyHere = await connect(NEWEST, script, { extensions: [extension] }, { capabilities: { tools: {} } });
    await expect(onlyHere.client.callTool('x')).rejects.toMatchObject({
      code: 'ERR_INVALID_RESPONSE',
      message: expect.stringContaining('of the type "later"'),
    });
  });

  it.each([-32021, -32003])('[ERR-010] that are %d with requiredCapabilities name what the client lacks', async (code) => {
    const data = { requiredCapabilities: { elicitation: { url: {} }, sampling: {}, extensions: { 'x.example/a': {} } } };
    const { client } = await connect(NEWEST, { 'tools/call': answering({ error: { code, message: 'needs more', data } }) });
    const failure = await client.callTool('x').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MissingCapabilityError);
    expect(failure).toMatchObject({ side: 'client', missing: ['elicitation.url', 'sampling', 'x.example/a'], cause: { rpcCode: code } });
  });

  it.each([{ code: -32003 }, { code: -32003, data: { a: 1 } }, { code: -32001, data: { requiredCapabilities: {} } }])(
    '[ERR-010] that are %j are plain errors of the server',
    async (error) => {
      const { client } = await connect(NEWEST, { 'tools/call': answering({ error: { message: 'm', ...error } }) });
      await expect(client.callTool('x')).rejects.toMatchObject({ code: 'ERR_REMOTE', rpcCode: error.code });
    },
  );
});

it("[ERR-010] reads a legacy server's -32003 as nothing but its own error", async () => {
  const { client } = await connect(NEWEST_LEGACY, {
    'tools/call': answering({ error: { code: -32003, message: 'm', data: { requiredCapabilities: { sampling: {} } } } }),
  });
  await expect(client.callTool('x')).rejects.toMatchObject({ code: 'ERR_REMOTE', rpcCode: -32003 });
});

it('ignores what a legacy server calls its results', async () => {
  const { client } = await connect(NEWEST_LEGACY, { 'tools/list': answering({ result: { resultType: 'odd', tools: [] } }) });
  expect(await client.listTools()).toMatchObject({ tools: [] });
});

it('a callback that throws is reported and breaks nothing', async () => {
  const errors: Error[] = [];
  const { client, server } = await connect(
    NEWEST_LEGACY,
    { 'tools/list': () => complete(NEWEST_LEGACY, { tools: [] }) },
    { onError: (error) => errors.push(error) },
  );
  client.onLog(() => {
    throw new Error('bad callback');
  });
  client.onAnyNotification(() => {
    throw 'not an error';
  });
  await server.notify('notifications/message', { level: 'info', data: 1 });
  await client.listTools();
  expect(errors.map(({ message }) => message)).toEqual([
    'The thrown value is not an Error (it is the cause of this error): throw an Error instead',
    'bad callback',
  ]);
});
