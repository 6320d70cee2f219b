/** Modern requests as a server sees them, and what becomes of its answers. */

import type { JsonRpcNotification } from '@mortise/jsonrpc-core';
import { NEWEST } from '@mortise/protocol';
import { StreamableHTTPClientTransport } from '@mortise/transport-http/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { callRequest, complete, modernRequest } from './support/modern.ts';
import { ScriptedHttp } from './support/scripted-http.ts';
import { SENDERS } from './support/senders.ts';
import { turns, until } from './support/wait.ts';

let server: ScriptedHttp;
beforeEach(async () => {
  server = await ScriptedHttp.listen();
});
afterEach(() => server.close());

describe.each(SENDERS)('a modern exchange over $name', ({ options }) => {
  let transport: StreamableHTTPClientTransport;
  let errors: Error[];
  let clock: FakeClock;
  beforeEach(() => {
    errors = [];
    clock = new FakeClock();
    transport = new StreamableHTTPClientTransport(server.url, { ...options, clock });
    transport.onerror = (error) => void errors.push(error);
  });
  afterEach(() => transport.close());

  describe('what is sent', () => {
    it('[HTTP-006][HTTPM-003] sends each request as a POST of its own, whose body is that one message', async () => {
      const requests = [modernRequest('tools/list'), modernRequest('prompts/list')];
      const exchanges = requests.map((request) => transport.exchange(request));
      const visits = [await server.next(), await server.next()];
      expect(visits.map(({ method }) => method)).toEqual(['POST', 'POST']);
      expect(visits.map(({ message }) => message)).toEqual(expect.arrayContaining(requests));
      for (const visit of visits) visit.result({});
      await Promise.all(exchanges);
    });

    it('[HTTP-007] accepts JSON and event streams, and says that it sends JSON', async () => {
      const exchange = transport.exchange(modernRequest('tools/list'));
      const visit = await server.next();
      expect(visit.headers.accept).toBe('application/json, text/event-stream');
      expect(visit.headers['content-type']).toBe('application/json');
      visit.result({});
      await exchange;
    });

    it('[HDR-001][HTTPM-002] names in a header the version that "_meta" names, from the first request on', async () => {
      const exchange = transport.exchange(modernRequest('server/discover'));
      const visit = await server.next();
      expect(visit.headers['mcp-protocol-version']).toBe(NEWEST.version);
      visit.result({});
      await exchange;
    });

    it('[HTTPM-002] says in the headers of one POST which version, method and name its body has', async () => {
      const exchange = transport.exchange(callRequest('echo'));
      const visit = await server.next();
      expect(visit.headers).toMatchObject({ 'mcp-protocol-version': NEWEST.version, 'mcp-method': 'tools/call', 'mcp-name': 'echo' });
      visit.result(complete);
      await exchange;
    });

    it('[HDR-004] names the method in a header', async () => {
      const exchange = transport.exchange(modernRequest('vendor/Do-It'));
      const visit = await server.next();
      expect(visit.headers['mcp-method']).toBe('vendor/Do-It');
      visit.result({});
      await exchange;
    });

    const named = [
      { id: '[HDR-005][PROMPT-014]', method: 'tools/call', params: { name: 'get_weather' }, header: 'get_weather' },
      { id: '[HDR-005][PROMPT-014]', method: 'prompts/get', params: { name: 'greet' }, header: 'greet' },
      {
        id: '[HDR-005][RES-023]',
        method: 'resources/read',
        params: { uri: 'file:///a%20b/c?d=%C3%A4' },
        header: 'file:///a%20b/c?d=%C3%A4',
      },
      { id: '[HDR-006][RES-023]', method: 'resources/read', params: { uri: 'file:///ä' }, header: '=?base64?ZmlsZTovLy/DpA==?=' },
      { id: '[HDR-006][PROMPT-014]', method: 'prompts/get', params: { name: ' edge' }, header: '=?base64?IGVkZ2U=?=' },
      { id: '[HDR-006][PROMPT-014]', method: 'tools/call', params: { name: 'line1\nline2' }, header: '=?base64?bGluZTEKbGluZTI=?=' },
      { id: '[HDR-023]', method: 'tools/call', params: { name: '=?base64?literal?=' }, header: '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=' },
    ];
    const titled = named.map((each) => [`${each.id} sends Mcp-Name ${each.header} for ${each.method}`, each] as const);
    it.each(titled)('%s', async (_title, { method, params, header }) => {
      const exchange = transport.exchange(modernRequest(method, params));
      const visit = await server.next();
      expect(visit.headers['mcp-name']).toBe(header);
      visit.result({});
      await exchange;
    });

    it('sends no Mcp-Name with a method that has no name', async () => {
      const exchange = transport.exchange(modernRequest('tools/list', { name: 'not a name' }));
      const visit = await server.next();
      expect(visit.headers['mcp-name']).toBeUndefined();
      visit.result({});
      await exchange;
    });

    it("[TASKX-032] sends an extension's name as the caller gives it, encoded", async () => {
      const exchange = transport.exchange(modernRequest('tasks/get', { taskId: 'ä' }), { headers: { 'Mcp-Name': 'ä', 'X-Mine': '1' } });
      const visit = await server.next();
      expect(visit.headers).toMatchObject({ 'mcp-name': '=?base64?w6Q=?=', 'x-mine': '1' });
      visit.result({});
      await exchange;
    });

    it('[TRAN-007] lets no caller say what mirrors the body', async () => {
      const headers = { 'mcp-method': 'tools/list', 'MCP-Protocol-Version': '1', 'content-type': 'text/plain', 'Mcp-Name': 'other' };
      const exchange = transport.exchange(callRequest('mine'), { headers });
      const visit = await server.next();
      expect(visit.headers).toMatchObject({
        'mcp-method': 'tools/call',
        'mcp-protocol-version': NEWEST.version,
        'content-type': 'application/json',
        'mcp-name': 'mine',
      });
      visit.result(complete);
      await exchange;
    });

    it.each([
      [{ 'x-mine': 'a\r\nx-evil: 1' }, 'has a character that is not valid in a header'],
      [{ 'x mine': '1' }, 'has an invalid name'],
      [{ 'x-mine': undefined as unknown as string }, 'must be a string, got undefined'],
      [{ 'Content-Length': '1' }, 'is set by the transport itself'],
      [{ 'Mcp-Session-Id': 'other' }, 'is set by the transport itself'],
    ])('refuses headers of a single call that cannot be sent: %j', async (headers, why) => {
      const error = { code: 'ERR_HTTP_OPTION', message: expect.stringContaining(why) as string };
      await expect(transport.exchange(callRequest('mine'), { headers })).rejects.toMatchObject(error);
      expect(() => new StreamableHTTPClientTransport(server.url, { headers })).toThrow(why);
      expect(server.visits).toHaveLength(0);
    });

    it('refuses a method that no header can carry', async () => {
      await expect(transport.exchange(modernRequest('a\r\nx-evil: 1'))).rejects.toMatchObject({ code: 'ERR_INVALID_REQUEST' });
      await expect(transport.exchange(modernRequest('tools/líst'))).rejects.toMatchObject({ code: 'ERR_INVALID_REQUEST' });
      expect(server.visits).toHaveLength(0);
    });

    it('[HTTPM-002][HTTPM-005] sends a notification with its method and the version that was spoken last', async () => {
      const exchange = transport.exchange(modernRequest('server/discover'));
      (await server.next()).result({});
      await exchange;
      await transport.start();
      const sent = transport.send({ jsonrpc: '2.0', method: 'vendor/note' });
      const visit = await server.next();
      expect(visit.headers).toMatchObject({ 'mcp-protocol-version': NEWEST.version, 'mcp-method': 'vendor/note' });
      expect(visit.message).toEqual({ jsonrpc: '2.0', method: 'vendor/note' });
      visit.accept();
      await sent;
    });

    it('rejects a notification that the server refuses', async () => {
      await transport.start();
      const sent = transport.send({ jsonrpc: '2.0', method: 'vendor/note' });
      (await server.next()).reply(400);
      await expect(sent).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 400 });
    });

    it('[HTTPM-014] ignores sessions and event ids, and opens no other stream', async () => {
      const first = transport.exchange(modernRequest('server/discover'));
      (await server.next()).result({}, { 'mcp-session-id': 'none-of-your-business' });
      await first;
      const second = transport.exchange(callRequest('a'));
      const visit = await server.next();
      expect(visit.headers['mcp-session-id']).toBeUndefined();
      visit.stream().event({ id: 'e1', retryMs: 10, data: '' }).result(complete, 'e2').end();
      await second;
      const third = transport.exchange(callRequest('b'));
      (await server.next()).stream().event({ id: 'e3', data: '' }).end();
      await expect(third).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
      await turns();
      expect(server.visits.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
    });
  });

  describe('what comes back', () => {
    it('[HTTP-012] reads an answer as JSON, whatever the parameters of its type', async () => {
      const exchange = transport.exchange(callRequest('a', {}, 7));
      (await server.next()).reply(
        200,
        { 'content-type': 'Application/JSON; charset=utf-8' },
        '{"jsonrpc":"2.0","id":7,"result":{"ok":"ä"}}',
      );
      expect(await exchange).toEqual({ jsonrpc: '2.0', id: 7, result: { ok: 'ä' } });
    });

    it('[HTTP-012] reads an answer from an event stream, whatever the parameters of its type', async () => {
      const seen: JsonRpcNotification[] = [];
      const exchange = transport.exchange(callRequest('a', {}, 'x'), { onMessage: (message) => void seen.push(message) });
      const stream = (await server.next()).stream({ 'content-type': 'text/event-stream;charset=UTF-8' });
      stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } }).result({ ok: true });
      expect(await exchange).toEqual({ jsonrpc: '2.0', id: 'x', result: { ok: true } });
      expect(seen).toEqual([{ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } }]);
      stream.end();
    });

    it('[HTTPM-012] ignores comments', async () => {
      const exchange = transport.exchange(callRequest('a'));
      const stream = (await server.next()).stream();
      stream.write(':\r\n\r\n: keep-alive\n\n').write(':').write('\n\n').result(complete).end();
      expect(await exchange).toMatchObject({ result: complete });
      expect(errors).toEqual([]);
    });

    it.each([400, 404, 500])('[HTTPM-008] takes the JSON-RPC error in the body of a %i for the answer', async (status) => {
      const exchange = transport.exchange(callRequest('a'));
      (await server.next()).error(-32022, status, { supported: ['x'] });
      expect(await exchange).toMatchObject({ error: { code: -32022, data: { supported: ['x'] } } });
    });

    it.each([{ id: null }, {}])('[HTTPM-008] takes an error that could name no id (%j) for the answer', async (named) => {
      const request = callRequest('a');
      const exchange = transport.exchange(request);
      (await server.next()).json({ jsonrpc: '2.0', ...named, error: { code: -32022, message: 'mismatch' } }, 400);
      expect(await exchange).toEqual({ jsonrpc: '2.0', id: request.id, error: { code: -32022, message: 'mismatch' } });
    });

    it.each([{ id: null }, {}])('keeps the status of a refusal by a server that read nothing (%j)', async (named) => {
      const exchange = transport.exchange(callRequest('a'));
      (await server.next()).json({ jsonrpc: '2.0', ...named, error: { code: -32600, message: 'too long' } }, 413);
      await expect(exchange).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 413, rpcError: { code: -32600 } });
    });

    it('[HTTPM-007] takes 404 with -32601 for an unknown method, not for a wrong address', async () => {
      const exchange = transport.exchange(modernRequest('vendor/unknown'));
      (await server.next()).error(-32601, 404);
      expect(await exchange).toMatchObject({ error: { code: -32601 } });
    });

    it.each([401, 403])('keeps the status and the challenge of a %i', async (status) => {
      const exchange = transport.exchange(callRequest('a'));
      (await server.next()).json({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'who are you' } }, status, {
        'www-authenticate': 'Bearer x="y"',
      });
      await expect(exchange).rejects.toMatchObject({
        code: 'ERR_EXCHANGE_HTTP',
        status,
        rpcError: { code: -32000 },
        headers: { 'www-authenticate': 'Bearer x="y"' },
      });
    });

    it('keeps the status and Retry-After of a server that is busy', async () => {
      const exchange = transport.exchange(callRequest('a'));
      (await server.next()).error(-32603, 503);
      await expect(exchange).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 503, rpcError: { code: -32603 } });
    });

    it.each([
      ['text/html', 'that is a web page and no MCP server: check the URL'],
      ['text/plain', 'its body is neither JSON nor an event stream, so there is no MCP server at this URL: check the URL'],
    ])('says what is wrong where the answer is of a type that is none of MCP: %s', async (type, says) => {
      const exchange = transport.exchange(callRequest('a'));
      (await server.next()).reply(200, { 'content-type': type }, 'hello');
      const message = expect.stringContaining(says) as string;
      await expect(exchange).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 200, message });
    });

    it.each([
      ['garbage', '{"jsonrpc": oops'],
      ['nothing', ''],
      ['an array', '[]'],
      ['another request’s answer', '{"jsonrpc":"2.0","id":"other","result":{}}'],
      ['a result that is no object', '{"jsonrpc":"2.0","id":1,"result":7}'],
      ['a request', '{"jsonrpc":"2.0","id":1,"method":"ping"}'],
    ])('rejects a body that is %s', async (_, body) => {
      const exchange = transport.exchange(callRequest('a', {}, 1));
      (await server.next()).reply(200, { 'content-type': 'application/json' }, body);
      await expect(exchange).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_(INVALID_RESPONSE|CONNECTION_CLOSED)$/) });
    });

    it('rejects a body that is not UTF-8', async () => {
      const exchange = transport.exchange(callRequest('a'));
      const { response } = await server.next();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(Buffer.from([0x22, 0xc3, 0x28, 0x22]));
      await expect(exchange).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE', message: expect.stringContaining('UTF-8') });
    });

    it('reports what is no message in a stream, and reads the answer after it', async () => {
      const exchange = transport.exchange(callRequest('a'));
      const stream = (await server.next()).stream();
      stream.event({ data: 'not json' }).send({ jsonrpc: '2.0', method: 7 }).event({ event: 'other', data: '{}' }).result(complete).end();
      expect(await exchange).toMatchObject({ result: complete });
      expect(errors.map((error) => (error as { readonly code?: string }).code)).toEqual(['ERR_PARSE', 'ERR_INVALID_RESPONSE']);
    });

    it('[TRAN-006] drops a request of the server, and reports it', async () => {
      const seen: unknown[] = [];
      const exchange = transport.exchange(callRequest('a'), { onMessage: (message) => void seen.push(message) });
      const stream = (await server.next()).stream();
      stream.send({ jsonrpc: '2.0', id: 1, method: 'roots/list' }).result(complete).end();
      await exchange;
      expect(seen).toEqual([]);
      expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('roots/list')]);
      expect(server.visits).toHaveLength(1);
    });

    it('reports what a listener throws, and goes on', async () => {
      const thrown = new Error('thrown by a listener');
      const exchange = transport.exchange(callRequest('a'), {
        onMessage: () => {
          throw thrown;
        },
      });
      (await server.next()).stream().send({ jsonrpc: '2.0', method: 'x' }).result(complete).end();
      await exchange;
      expect(errors).toEqual([thrown]);
    });

    it('[HTTPM-015] reports a call whose stream broke as lost, and does not send it again', async () => {
      const exchange = transport.exchange(callRequest('a'));
      const visit = await server.next();
      visit.stream().send({ jsonrpc: '2.0', method: 'x' });
      visit.break();
      await expect(exchange).rejects.toMatchObject({
        code: 'ERR_CONNECTION_CLOSED',
        message: expect.stringContaining('the server may or may not have handled the request'),
      });
      await turns();
      expect(server.visits).toHaveLength(1);
    });

    it('reports a call whose body broke off as lost', async () => {
      const exchange = transport.exchange(callRequest('a'));
      const visit = await server.next();
      visit.response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      visit.response.write('{"jsonrpc":');
      visit.response.flushHeaders();
      await turns(2);
      visit.break();
      await expect(exchange).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    });

    it('says why nobody answers', async () => {
      const { url } = server;
      await server.close();
      const lonely = new StreamableHTTPClientTransport(`${url}?key=secret`, options);
      const rejection = await lonely.exchange(callRequest('a')).catch((error: Error) => error);
      expect(rejection).toMatchObject({ code: 'ERR_CONNECTION_CLOSED', message: expect.stringContaining('ECONNREFUSED') });
      expect(String(rejection)).not.toContain('secret');
      server = await ScriptedHttp.listen();
    });
  });

  describe('leaving', () => {
    it('[CANCEL-013][HTTPM-016] closes the stream when the call is cancelled, and sends nothing', async () => {
      const controller = new AbortController();
      const exchange = transport.exchange(callRequest('a'), { signal: controller.signal });
      const visit = await server.next();
      visit.stream().send({ jsonrpc: '2.0', method: 'x' });
      await turns(2);
      const reason = new Error('enough');
      controller.abort(reason);
      await expect(exchange).rejects.toBe(reason);
      await visit.over;
      expect(visit.wasLeft).toBe(true);
      expect(server.visits).toHaveLength(1);
    });

    it('[CANCEL-014] closes the connection when the call is cancelled before any answer', async () => {
      const controller = new AbortController();
      const exchange = transport.exchange(callRequest('a'), { signal: controller.signal });
      const visit = await server.next();
      controller.abort(new Error('enough'));
      await expect(exchange).rejects.toThrow('enough');
      await visit.over;
      expect(visit.wasLeft).toBe(true);
    });

    it('[SUB-010] ends a subscription by closing its stream', async () => {
      const controller = new AbortController();
      const exchange = transport.exchange(modernRequest('subscriptions/listen', { notifications: {} }), { signal: controller.signal });
      const visit = await server.next();
      visit.stream();
      controller.abort();
      await expect(exchange).rejects.toThrow();
      await visit.over;
      expect(server.visits).toHaveLength(1);
    });

    it('gives an exchange up without a signal', async () => {
      let abort: (reason: unknown) => void = () => undefined;
      const exchange = transport.exchange(callRequest('a'), { onAbort: (listener) => void (abort = listener) });
      const visit = await server.next();
      const reason = new Error('enough');
      abort(reason);
      await expect(exchange).rejects.toBe(reason);
      await visit.over;
      expect(visit.wasLeft).toBe(true);
    });

    it('leaves no listener at a signal that lives long', async () => {
      const counts = { added: 0, removed: 0 };
      const { signal } = new AbortController();
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      signal.addEventListener = (...args: Parameters<typeof add>) => (counts.added++, add(...args));
      signal.removeEventListener = (...args: Parameters<typeof remove>) => (counts.removed++, remove(...args));
      server.on('tools/call', (visit) => visit.result(complete));
      for (let n = 0; n < 20; n++) await transport.exchange(callRequest('a'), { signal });
      expect(counts).toEqual({ added: 20, removed: 20 });
    });

    it('rejects what waits when it closes, and everything after', async () => {
      const exchange = transport.exchange(callRequest('a'));
      const visit = await server.next();
      const closed = transport.close();
      await expect(exchange).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
      await closed;
      await visit.over;
      expect(visit.wasLeft).toBe(true);
      await expect(transport.exchange(callRequest('b'))).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
      expect(server.visits).toHaveLength(1);
    });

    it('closes a stream that does not end after its answer', async () => {
      const exchange = transport.exchange(callRequest('a'));
      const visit = await server.next();
      visit.stream().result(complete);
      await exchange;
      clock.advance(1_000);
      await turns(5);
      expect(visit.wasLeft).toBe(false);
      clock.advance(1_000);
      await visit.over;
      expect(visit.wasLeft).toBe(true);
    });
  });

  describe('as a plain transport', () => {
    it('carries modern messages, and cancels by leaving', async () => {
      const seen: unknown[] = [];
      transport.onmessage = (message) => void seen.push(message);
      await transport.start();
      const first = callRequest('a');
      const sent = transport.send(first);
      (await server.next()).stream().send({ jsonrpc: '2.0', method: 'x' }).result(complete).end();
      await sent;
      expect(seen).toEqual([
        { jsonrpc: '2.0', method: 'x' },
        { jsonrpc: '2.0', id: first.id, result: complete },
      ]);
      const second = callRequest('b');
      const pending = transport.send(second);
      const visit = await server.next();
      await transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: second.id } });
      await pending;
      await visit.over;
      expect(visit.wasLeft).toBe(true);
      expect(server.visits).toHaveLength(2);
    });
  });

  it('[PAT-012] holds several subscriptions at once, each on a stream of its own', async () => {
    const seen: string[] = [];
    const listen = (name: string): Promise<unknown> =>
      transport.exchange(modernRequest('subscriptions/listen', { notifications: { [name]: true } }, name), {
        onMessage: ({ method }) => void seen.push(`${name}:${method}`),
      });
    const exchanges = [listen('a'), listen('b')];
    const visits = [await server.next(), await server.next()];
    const streams = visits.map((visit) => visit.stream());
    for (const stream of streams) stream.send({ jsonrpc: '2.0', method: `for-${String(stream.visit.id)}` });
    await until(() => seen.length === 2);
    expect(seen.toSorted()).toEqual(['a:for-a', 'b:for-b']);
    visits[0]?.break();
    await expect(Promise.race(exchanges)).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    streams[1]?.send({ jsonrpc: '2.0', method: 'still' }).result({}).end();
    await Promise.allSettled(exchanges);
    expect(seen.filter((one) => one.endsWith('still'))).toHaveLength(1);
  });
});
