import { afterEach, describe, expect, it } from 'vitest';
import { McpClient } from '@mortise/client';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { httpTransport } from '@mortise/transport-http/client';
import { LEGACY } from '../support/legacy-client.ts';
import { MODERN, modern, modernHeaders, modernRequest, modernTool } from '../support/modern.ts';
import { post, send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { aborted, gate, progress, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

let serving: Serving;
afterEach(() => serving.close());

function without(headers: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
}

function withoutMeta(request: JsonObject, key?: string): JsonObject {
  const { _meta, ...params } = request['params'] as JsonObject;
  const rest = Object.fromEntries(Object.entries(_meta as JsonObject).filter(([name]) => name !== `io.modelcontextprotocol/${key ?? ''}`));
  return { ...request, params: key === undefined ? params : { ...params, _meta: rest } };
}

describe.each(FACES)('the modern era over the %s face', (face) => {
  it('[HTTPM-001][HTTP-011] answers a POST with one JSON object where nothing precedes the answer', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const answer = await modernTool(serving.port, 'echo', { a: 1 });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
    const body = await answer.text();
    expect(JSON.parse(body)).toMatchObject({ jsonrpc: '2.0', result: { resultType: 'complete', content: [{ text: '{"a":1}' }] } });
    if (face === 'node') expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(body)));
    expect(answer.headers['mcp-session-id']).toBeUndefined();
  });

  it('[HTTPM-009][HTTPM-011][HTTP-016] streams what precedes the answer, then the answer, then ends', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('count', async ({ call }) => {
      for (const value of [1, 2, 3]) await call.send(progress('t', value));
      return text('done');
    });
    serving = await serve(face, endpoint);
    const answer = await modernTool(serving.port, 'count');
    expect(answer.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    const events = await answer.events();
    expect(events.map(({ data }) => (JSON.parse(data) as JsonObject)['method'] ?? 'answer')).toEqual([
      ...Array.from({ length: 3 }, () => 'notifications/progress'),
      'answer',
    ]);
  });

  it('[PROG-003][PROG-005] sends progress word for word, whatever it holds', async () => {
    const endpoint = new ScriptedEndpoint();
    const params: JsonObject[] = [
      { progressToken: 7, progress: 0.1, total: 1e21, message: 'a "quoted"\n\u2028 line' },
      { progressToken: 't', progress: -0, message: '' },
      { progressToken: 't', progress: 2, message: 'with more', _meta: { 'example.com/a': [1, null] } },
    ];
    endpoint.tools.set('count', async ({ call }) => {
      for (const step of params) await call.send({ jsonrpc: '2.0', method: 'notifications/progress', params: step });
      return text('done');
    });
    serving = await serve(face, endpoint);
    const events = await (await modernTool(serving.port, 'count')).events();
    expect(events.slice(0, 3).map(({ data }) => data)).toEqual(
      params.map((step) => JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: step })),
    );
  });

  it('[HTTPM-014][HTTP-034] gives no event ids and no session in the modern era', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('tick', async ({ call }) => {
      await call.send(progress('t', 1));
      return text('done');
    });
    serving = await serve(face, endpoint);
    const answer = await modernTool(serving.port, 'tick');
    await answer.text();
    expect(answer.raw).not.toMatch(/^id:/m);
    expect(answer.headers['mcp-session-id']).toBeUndefined();
  });

  it('[PROG-010] sends progress on the stream of its own request and on no other', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate<void>();
    endpoint.tools.set('slow', async ({ call }) => {
      await call.send(progress('slow', 1));
      await go.promise;
      await call.send(progress('slow', 2));
      return text('slow');
    });
    endpoint.tools.set('quick', async ({ call }) => {
      await call.send(progress('quick', 1));
      go.open();
      return text('quick');
    });
    serving = await serve(face, endpoint);
    const [slow, quick] = await Promise.all([modernTool(serving.port, 'slow'), modernTool(serving.port, 'quick')]);
    const [slowText, quickText] = await Promise.all([slow.text(), quick.text()]);
    expect(slowText).not.toContain('quick');
    expect(quickText).not.toContain('slow');
    expect(slowText.match(/"progressToken":"slow"/g)).toHaveLength(2);
  });

  it('[HTTPM-010][BASE-021] refuses to send a request to the client', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('ask', ({ call }) =>
      call.send({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: {} }).then(
        () => text('sent'),
        () => text('refused'),
      ),
    );
    serving = await serve(face, endpoint);
    const answer = await modernTool(serving.port, 'ask');
    expect(JSON.stringify(await answer.response())).toContain('refused');
  });

  it('[HTTPM-004] accepts a notification with 202 and no body', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const request = modernRequest('notifications/custom');
    const { id: _id, ...notification } = request;
    for (const headers of [modernHeaders(request), { 'mcp-protocol-version': MODERN }]) {
      const answer = await post(serving.port, notification, headers);
      expect([answer.status, await answer.text()]).toEqual([202, '']);
    }
  });

  it('[HTTPM-004] refuses a notification whose headers differ from its body, with an error without id', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const { id: _id, ...notification } = modernRequest('notifications/custom');
    const answer = await post(serving.port, notification, { 'mcp-protocol-version': MODERN, 'mcp-method': 'notifications/other' });
    const body = await answer.json();
    expect([answer.status, 'id' in body, (body['error'] as JsonObject)['code']]).toEqual([400, false, -32020]);
  });

  it('[HTTPM-003][BASE-022] refuses a response and an array', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const response = await post(serving.port, { jsonrpc: '2.0', id: 1, result: {} }, { 'mcp-protocol-version': MODERN });
    expect(response.status).toBe(400);
    const array = await post(serving.port, [modernRequest('tools/list')], { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' });
    expect([array.status, (await array.json())['error']]).toMatchObject([400, { code: -32600 }]);
  });

  it('[HTTPM-006][ERR-017] answers an unknown method with 404 and -32601', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    for (const method of ['no/such', 'initialize', 'ping', 'logging/setLevel']) {
      const request = modernRequest(method);
      const answer = await post(serving.port, request, modernHeaders(request));
      expect([answer.status, await answer.json()]).toMatchObject([404, { id: request['id'], error: { code: -32601 } }]);
    }
  });

  it('[ERR-017] answers a request without mandatory _meta with 400 and -32602, other -32602 with 200', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const request = modernRequest('tools/call', { name: 'echo' });
    for (const body of [withoutMeta(request), withoutMeta(request, 'protocolVersion'), withoutMeta(request, 'clientCapabilities')]) {
      const answer = await post(serving.port, body, modernHeaders(request));
      expect([answer.status, await answer.json()]).toMatchObject([400, { id: request['id'], error: { code: -32602 } }]);
    }
    const unknownTool = await modernTool(serving.port, 'nobody');
    expect([unknownTool.status, await unknownTool.json()]).toMatchObject([200, { error: { code: -32602 } }]);
  });

  it('[HDR-002][TRAN-007] refuses a version header that differs from _meta with 400 and -32020', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const request = modernRequest('tools/list');
    for (const version of [LEGACY, 'v999']) {
      const answer = await post(serving.port, request, { ...modernHeaders(request), 'mcp-protocol-version': version });
      expect([answer.status, await answer.json()]).toMatchObject([400, { id: request['id'], error: { code: -32020 } }]);
    }
  });

  it('[HDR-003][VERS-003] answers an unknown version with 400, -32022 and the supported ones, whatever its other headers', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const request = modernRequest('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': 'v999.0.0' } });
    const answer = await post(serving.port, request, { 'mcp-protocol-version': 'v999.0.0' });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: -32022, data: { requested: 'v999.0.0', supported: expect.arrayContaining([MODERN]) } } },
    ]);
  });

  it.each([
    ['mcp-protocol-version', {}],
    ['mcp-method', {}],
    ['mcp-name', {}],
    ['mcp-method', { 'mcp-method': 'tools/list' }],
    ['mcp-method', { 'mcp-method': 'TOOLS/CALL' }],
    ['mcp-name', { 'mcp-name': 'other' }],
    ['mcp-name', { 'mcp-name': '=?base64?ZWNobw?=' }],
  ])('[HDR-008][HDR-009][ERR-004] refuses a wrong or missing %s %j with 400 and -32020', async (name, replacement) => {
    serving = await serve(face, new ScriptedEndpoint());
    const request = modernRequest('tools/call', { name: 'echo' });
    const answer = await post(serving.port, request, { ...without(modernHeaders(request), name), ...replacement });
    expect([answer.status, await answer.json()]).toMatchObject([400, { id: request['id'], error: { code: -32020 } }]);
  });

  it('[RES-023][PROMPT-014][HDR-009] wants Mcp-Name of reads and prompts too', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    for (const [method, params] of [
      ['resources/read', { uri: 'file:///a%20b' }],
      ['prompts/get', { name: 'p' }],
    ] as const) {
      const request = modernRequest(method, params);
      const missing = await post(serving.port, request, without(modernHeaders(request), 'mcp-name'));
      expect([missing.status, await missing.json()]).toMatchObject([400, { error: { code: -32020 } }]);
      const right = await post(serving.port, request, modernHeaders(request));
      expect(right.status).toBe(404);
    }
  });

  it('[HDR-007] reads header names in any case, and trims their values', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const request = modernRequest('tools/call', { name: 'echo' });
    const headers = { 'MCP-PROTOCOL-VERSION': MODERN, 'MCP-METHOD': '  tools/call  ', 'mcp-NAME': 'echo' };
    expect((await post(serving.port, request, headers)).status).toBe(200);
  });

  it('[HDR-010] decodes Mcp-Name before comparing', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('größe', () => text('ok'));
    serving = await serve(face, endpoint);
    const request = modernRequest('tools/call', { name: 'größe' });
    const encoded = `=?base64?${Buffer.from('größe').toString('base64')}?=`;
    const answer = await post(serving.port, request, { ...modernHeaders(request), 'mcp-name': encoded });
    expect(answer.status).toBe(200);
  });

  it.each([
    { what: 'a tool', method: 'tools/call', params: { name: '=?base64?!?=' } },
    { what: 'a prompt', method: 'prompts/get', params: { name: '=?base64?!?=' } },
    { what: 'a resource', method: 'resources/read', params: { uri: '=?base64?ZXU?=' } },
    { what: 'an argument', method: 'tools/call', params: { name: 'echo', arguments: { region: '=?base64?ZXU?=' } } },
  ])('[HDR-010] refuses base64 that cannot be decoded, though $what in the body has the same text', async ({ method, params }) => {
    const endpoint = new ScriptedEndpoint();
    endpoint.paramsOf.set('echo', new Map([['Region', ['region']]]));
    serving = await serve(face, endpoint);
    const answer = await modern(serving.port, method, params, { 'mcp-param-region': '=?base64?ZXU?=' });
    const error = { code: -32020, message: expect.stringContaining('invalid base64') };
    expect([answer.status, await answer.json()]).toMatchObject([400, { error }]);
  });

  it.each([
    ['Mcp-Param-Region', { 'mcp-param-region': 'eu' }, { region: 'eu' }, 200],
    ['an encoded value', { 'mcp-param-region': '=?base64?ZXU=?=' }, { region: 'eu' }, 200],
    ['another value', { 'mcp-param-region': 'us' }, { region: 'eu' }, 400],
    ['a missing header', {}, { region: 'eu' }, 400],
    ['wrong padding', { 'mcp-param-region': '=?base64?ZXU?=' }, { region: 'eu' }, 400],
    ['base64 without its prefix', { 'mcp-param-region': 'ZXU=?=' }, { region: 'eu' }, 400],
    ['no value in the body', {}, {}, 200],
    ['null in the body', {}, { region: null }, 200],
    ['a header for no value', { 'mcp-param-region': 'eu' }, {}, 400],
    ['42.0 for 42', { 'mcp-param-size': '42.0' }, { nested: { size: 42 } }, 200],
    ['43 for 42', { 'mcp-param-size': '43' }, { nested: { size: 42 } }, 400],
    ['a header that the tool does not mark', { 'mcp-param-other': 'x' }, {}, 200],
  ] as const)('[HDR-024][TOOL-023][HDR-011] checks Mcp-Param-*: %s', async (_title, headers, args, status) => {
    const endpoint = new ScriptedEndpoint();
    endpoint.paramsOf.set(
      'echo',
      new Map([
        ['Region', ['region']],
        ['Size', ['nested', 'size']],
      ]),
    );
    serving = await serve(face, endpoint);
    const answer = await modernTool(serving.port, 'echo', args as JsonObject, headers as Record<string, string>);
    expect(answer.status).toBe(status);
    if (status === 400) expect(await answer.json()).toMatchObject({ error: { code: -32020 } });
  });

  it('[HTTPM-016][CANCEL-013] takes a closed stream for a cancellation', async () => {
    const endpoint = new ScriptedEndpoint();
    const cancelled = gate<void>();
    endpoint.tools.set('long', async ({ call }) => {
      await call.send(progress('t', 1));
      await aborted(call.signal);
      cancelled.open();
      return text('late');
    });
    serving = await serve(face, endpoint);
    const answer = await modernTool(serving.port, 'long');
    await answer.event();
    answer.leave();
    await cancelled.promise;
  });

  it('[CANCEL-014] takes an abandoned POST for a cancellation before anything was answered', async () => {
    const endpoint = new ScriptedEndpoint();
    const started = gate<void>();
    const cancelled = gate<void>();
    endpoint.tools.set('long', async ({ call }) => {
      started.open();
      await aborted(call.signal);
      cancelled.open();
      return text('late');
    });
    serving = await serve(face, endpoint);
    const left = new AbortController();
    const request = modernRequest('tools/call', { name: 'long' });
    const sent = send(serving.port, {
      headers: { 'content-type': 'application/json', accept: '*/*', ...modernHeaders(request) },
      body: JSON.stringify(request),
      signal: left.signal,
    }).catch(() => undefined);
    await started.promise;
    left.abort();
    await Promise.all([cancelled.promise, sent]);
  });

  it('[HTTPM-017] sends nothing more for a cancelled request', async () => {
    const endpoint = new ScriptedEndpoint();
    const finished = gate<readonly boolean[]>();
    endpoint.tools.set('long', async ({ call }) => {
      await call.send(progress('t', 1));
      await aborted(call.signal);
      await call.send(progress('t', 2));
      finished.open([call.isCancelled]);
      return text('late');
    });
    serving = await serve(face, endpoint);
    const answer = await modernTool(serving.port, 'long');
    await answer.event();
    answer.leave();
    expect(await finished.promise).toEqual([true]);
    expect(answer.raw).not.toContain('"progress":2');
  });

  it('[ERA-022] ignores a session header on a modern request', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const answer = await modernTool(serving.port, 'echo', {}, { 'mcp-session-id': 'whatever', 'last-event-id': 'x' });
    expect([answer.status, answer.headers['mcp-session-id']]).toEqual([200, undefined]);
  });

  it('[META-014] serves a request that is modern by its header alone as a modern one, and says what is missing', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const answer = await post(
      serving.port,
      { jsonrpc: '2.0', id: 5, method: 'tools/list' },
      { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' },
    );
    expect([answer.status, await answer.json()]).toMatchObject([400, { id: 5, error: { code: -32602 } }]);
  });

  it.each([
    ['as "_meta" has one', modernRequest('tools/list', {}, 5), 'send the version that "_meta" names'],
    [
      'as nothing has one',
      { jsonrpc: '2.0', id: 5, method: 'tools/list' },
      'send "initialize" first, or a modern version both in this header and in "_meta"',
    ],
  ])('says which version the missing header is to name, %s', async (_what, request, remedy) => {
    serving = await serve(face, new ScriptedEndpoint());
    const answer = await post(serving.port, request);
    const message = `The header "MCP-Protocol-Version" is missing: ${remedy}`;
    expect([answer.status, await answer.json()]).toMatchObject([400, { id: 5, error: { code: -32020, message } }]);
  });

  it('[STATE-001] lets equal ids of many callers run at once', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate<void>();
    endpoint.tools.set('who', async ({ args }) => {
      await go.promise;
      return text(String(args['me']));
    });
    serving = await serve(face, endpoint);
    const answers = Array.from({ length: 20 }, (_, me) => {
      const request = modernRequest('tools/call', { name: 'who', arguments: { me } }, 1);
      return post(serving.port, request, modernHeaders(request)).then((answer) => answer.response());
    });
    await until(() => endpoint.calls.length >= 20);
    go.open();
    const texts = (await Promise.all(answers)).map((answer) => JSON.stringify(answer));
    expect(texts.every((answer, me) => answer.includes(`"text":"${me}"`))).toBe(true);
  });

  it('serves JSON alone where the client accepts nothing else, and drops what would precede it', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('count', async ({ call }) => {
      await call.send(progress('t', 1));
      return text('done');
    });
    serving = await serve(face, endpoint);
    const answer = await modernTool(serving.port, 'count', {}, { accept: 'application/json' });
    expect([answer.headers['content-type'], JSON.stringify(await answer.json())]).toEqual([
      'application/json',
      expect.stringContaining('done'),
    ]);
  });

  it('streams even an answer that nothing precedes where the client accepts only streams', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const answer = await modernTool(serving.port, 'echo', { a: 1 }, { accept: 'text/event-stream' });
    expect([answer.isStream, JSON.stringify(await answer.response())]).toEqual([true, expect.stringContaining('complete')]);
  });

  it('answers with JSON alone in JSON-only mode', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('count', async ({ call }) => {
      await call.send(progress('t', 1));
      return text('done');
    });
    const logged: string[] = [];
    serving = await serve(face, endpoint, { jsonOnly: true, logger: { log: (level, line) => void logged.push(`${level} ${line}`) } });
    for (let times = 0; times < 2; times++) {
      const answer = await modernTool(serving.port, 'count');
      expect([answer.isStream, JSON.stringify(await answer.json())]).toEqual([false, expect.stringContaining('done')]);
    }
    expect(logged).toEqual([expect.stringMatching(/^warning The option "jsonOnly" drops/)]);
  });
});

describe.each(FACES)('a modern-only server over the %s face', (face) => {
  it('[ERA-021][SUB-018] answers GET and DELETE with 405', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { legacy: false });
    for (const method of ['GET', 'DELETE']) {
      const answer = await send(serving.port, { method, headers: { accept: 'text/event-stream', 'last-event-id': '1' } });
      expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, OPTIONS']);
    }
  });

  it('[ERA-024] refuses a legacy initialize for its missing headers', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { legacy: false });
    const answer = await post(serving.port, { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: LEGACY } });
    expect([answer.status, await answer.json()]).toMatchObject([400, { id: 1, error: { code: -32020 } }]);
  });

  it.each([
    ['no version', {}, -32020],
    ['its own version', { 'mcp-protocol-version': LEGACY }, -32602],
  ])('[ERA-020] names the versions that it speaks to an initialize with %s in its headers', async (_, headers, code) => {
    serving = await serve(face, new ScriptedEndpoint(), { legacy: false });
    const answer = await post(serving.port, { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: LEGACY } }, headers);
    const message = expect.stringContaining(`this server speaks ${MODERN} only, so send that version`);
    expect([answer.status, await answer.json()]).toMatchObject([400, { id: 1, error: { code, message } }]);
  });

  it('[ERA-020] lets a client that is pinned to an older revision say which ones are spoken', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { legacy: false });
    const transport = httpTransport(`http://127.0.0.1:${serving.port}/mcp`);
    const connecting = McpClient.connect(transport, { name: 'test', version: '1' }, { era: 'legacy' });
    await expect(connecting).rejects.toMatchObject({ message: expect.stringContaining(`speaks ${MODERN} only`) });
  });

  it('[ERA-022][ERA-023] ignores session and resumption headers', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { legacy: false });
    const answer = await modern(serving.port, 'tools/list', {}, { 'mcp-session-id': 'x', 'last-event-id': 'y' });
    expect([answer.status, answer.headers['mcp-session-id']]).toEqual([200, undefined]);
  });
});
