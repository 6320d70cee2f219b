import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { initializeRequest, LEGACY, LegacyClient } from '../support/legacy-client.ts';
import { MODERN, modernTool } from '../support/modern.ts';
import { post, send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { TestEventStore, TestSessionStore } from '../support/memory-stores.ts';
import { aborted, gate, progress, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

let serving: Serving;
afterEach(() => serving.close());

describe.each(FACES)('legacy sessions over the %s face', (face) => {
  it('[HTTP-038][HTTP-039][HTTP-040] gives a session an id of visible ASCII with the answer to initialize', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => (await post(serving.port, initializeRequest())).headers['mcp-session-id']),
    );
    expect(new Set(ids).size).toBe(5);
    // 192 random bits in base64.
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{32}$/);
  });

  it('[SEC-002] gives ids of which none tells anything of the next', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const opened = Array.from({ length: 50 }, async () => (await post(serving.port, initializeRequest())).headers['mcp-session-id']);
    const ids = (await Promise.all(opened)).map(String);
    // At random no two of fifty share 48 bits, wherever one looks.
    for (const from of [0, 8, 16, 24]) expect(new Set(ids.map((id) => id.slice(from, from + 8))).size).toBe(50);
  });

  it('gives no session with an initialize that fails', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const answer = await post(serving.port, { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
    expect([answer.headers['mcp-session-id'], (await answer.json())['error']]).toMatchObject([undefined, { code: -32602 }]);
    expect(serving.handler.counts.sessions).toBe(0);
  });

  it('[HTTP-001][HTTP-011] serves a session by POST and GET at one path', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port);
    expect(await (await client.tool('echo', { a: 1 })).json()).toMatchObject({ result: { content: [{ text: '{"a":1}' }] } });
    const stream = await client.get();
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
  });

  it('[HTTP-009] accepts notifications and responses with 202 and no body', async () => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port);
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      { jsonrpc: '2.0', id: 9, result: {} },
      { jsonrpc: '2.0', id: 9, error: { code: 1, message: 'x' } },
    ]) {
      const answer = await client.post(message);
      expect([answer.status, await answer.text()]).toEqual([202, '']);
      expect(endpoint.received.at(-1)).toEqual(message);
    }
  });

  it('[HTTP-010] refuses what it cannot accept with an error status and an error without id', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port);
    for (const body of [
      '{"jsonrpc":"2.0","method":5}',
      '{"jsonrpc":"1.0","method":"x"}',
      'nonsense',
      '5',
      '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    ]) {
      const answer = await client.post(body);
      const json = await answer.json();
      expect([answer.status, 'id' in json]).toEqual([400, false]);
    }
  });

  it('[BASE-009] gives an error that has no id a null one where the revision knows no other', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port, '2025-06-18');
    expect((await (await client.post('nonsense')).json())['id']).toBeNull();
  });

  it('[HTTP-043] answers a request without session id with 400', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const requests = [
      post(serving.port, { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      post(serving.port, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-protocol-version': LEGACY }),
      post(serving.port, { jsonrpc: '2.0', method: 'notifications/initialized' }),
      send(serving.port, { method: 'GET', headers: { accept: 'text/event-stream' } }),
      send(serving.port, { method: 'DELETE' }),
    ];
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
  });

  it('[HTTP-044] answers an unknown or ended session with 404', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port);
    expect((await client.delete()).status).toBe(204);
    const answers = await Promise.all([
      client.tool('echo'),
      client.get(),
      client.delete(),
      client.post({ jsonrpc: '2.0', method: 'notifications/x' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(serving.handler.counts.sessions).toBe(0);
  });

  it('[HTTP-045][C-05] answers a modern request with a dead session header as a modern request', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    expect((await modernTool(serving.port, 'echo', {}, { 'mcp-session-id': 'dead' })).status).toBe(200);
  });

  it('[HTTP-046] ends a session on DELETE: its calls are aborted and its streams end', async () => {
    const endpoint = new ScriptedEndpoint();
    const started = gate();
    endpoint.tools.set('long', async ({ call }) => {
      await call.send(progress('t', 1));
      started.open();
      await aborted(call.signal);
      return text('late');
    });
    serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port);
    const [stream, call] = await Promise.all([client.get(), client.tool('long')]);
    await started.promise;
    await client.delete();
    expect([await stream.events(), endpoint.sessions.at(-1)?.isClosed]).toEqual([[], true]);
    expect(await call.response()).toMatchObject({ error: { code: -32600, message: expect.stringContaining('The session has ended') } });
  });

  it('[HTTP-046][ROBUSTNESS-4] answers a request whose session is ended under it, as JSON and by a stream that can be resumed', async () => {
    for (const eventStore of [undefined, new TestEventStore()]) {
      const endpoint = new ScriptedEndpoint();
      const started = gate();
      endpoint.tools.set('long', () => {
        started.open();
        return new Promise(() => undefined);
      });
      serving = await serve(face, endpoint, { eventStore });
      const client = await LegacyClient.open(serving.port);
      const call = client.tool('long', {}, 5);
      await started.promise;
      await until(() => (eventStore?.events.length ?? 1) === 1);
      expect((await client.delete()).status).toBe(204);
      const answer = await call;
      expect([answer.status, await answer.response()]).toMatchObject([
        eventStore === undefined ? 400 : 200,
        { id: 5, error: { code: -32600 } },
      ]);
      // What is forgotten is not written anew.
      expect(eventStore?.events.length ?? 1).toBe(1);
      await serving.close();
    }
  });

  it('[HTTP-026][HTTP-028] needs no version header', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port, '2025-03-26');
    expect((await client.tool('echo')).status).toBe(200);
  });

  it.each(['2099-01-01', MODERN, '', 'x'])('[HTTP-027] answers the version header %j in a session with 400', async (version) => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port);
    const headers = { 'mcp-protocol-version': version };
    const requests = [client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers), client.get(headers), client.delete(headers)];
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(serving.handler.counts.sessions).toBe(1);
  });

  it('[HTTP-013][HTTP-014][HTTP-016] streams what precedes the answer with the answer, and asks the client there', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('ask', async ({ call }) => {
      await call.send(progress('t', 1));
      await call.send({ jsonrpc: '2.0', id: 'q1', method: 'elicitation/create', params: {} });
      return text('asked');
    });
    serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('ask', {}, 7);
    const messages = (await answer.events()).map(({ data }) => JSON.parse(data) as JsonObject);
    expect(messages).toMatchObject([
      { method: 'notifications/progress' },
      { id: 'q1', method: 'elicitation/create' },
      { id: 7, result: {} },
    ]);
  });

  it('[HTTP-017] takes a dropped connection for no cancellation', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    const finished = gate<boolean>();
    endpoint.tools.set('long', async ({ call }) => {
      await call.send(progress('t', 1));
      await go.promise;
      finished.open(call.isCancelled || call.signal.aborted);
      return text('done');
    });
    serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('long');
    await answer.event();
    answer.leave();
    await new Promise<void>((resolve) => answer.message.on('close', resolve));
    await until(() => serving.handler.counts.streams <= 0);
    go.open();
    expect(await finished.promise).toBe(false);
  });

  it('[HTTP-018] takes notifications/cancelled for a cancellation, and ends the stream without an answer', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('long', async ({ call }) => {
      await call.send(progress('t', 1));
      await aborted(call.signal);
      return text('late');
    });
    serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('long', {}, 'call-1');
    await answer.event();
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'call-1' } });
    expect(await answer.events()).toEqual([]);
  });

  it('[HTTP-019][HTTP-020][HTTP-021] opens a stream for a GET that accepts event streams, and no other', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port);
    const refused = await send(serving.port, { method: 'GET', headers: { ...client.headers, accept: 'application/json' } });
    expect(refused.status).toBe(406);
    expect((await client.get()).isStream).toBe(true);
  });

  it('[HTTP-022][HTTP-024] sends what belongs to no request on the newest GET stream, and on no other', async () => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port);
    const first = await client.get();
    const second = await client.get();
    const link = endpoint.sessions.at(-1)?.link;
    await link?.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(await second.nextMessage()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    second.leave();
    await until(() => serving.handler.counts.streams <= 1);
    await link?.send({ jsonrpc: '2.0', id: 1, method: 'roots/list' });
    expect(await first.nextMessage()).toMatchObject({ method: 'roots/list' });
    expect(first.raw).not.toContain('list_changed');
  });

  it('[HTTP-023] sends no response on a GET stream', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const client = await LegacyClient.open(serving.port);
    const stream = await client.get();
    const answers = await Promise.all([client.tool('echo'), client.tool('echo')]);
    await Promise.all(answers.map((answer) => answer.response()));
    await client.delete();
    expect(await stream.events()).toEqual([]);
  });

  it('rejects what belongs to no request where no GET stream is open', async () => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint);
    await LegacyClient.open(serving.port);
    await expect(endpoint.sessions.at(-1)?.link.send({ jsonrpc: '2.0', method: 'notifications/x' })).rejects.toMatchObject({
      code: 'ERR_NO_STREAM',
    });
  });

  it('[HTTP-024] keeps the messages of three calls at once on the streams of their own', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('count', async ({ call, args }) => {
      for (let value = 1; value <= 5; value++) await call.send(progress(String(args['me']), value));
      return text(String(args['me']));
    });
    serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port);
    const answers = await Promise.all(['a', 'b', 'c'].map((me) => client.tool('count', { me })));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(bodies.map((body) => new Set(body.match(/"progressToken":"(.)"/g)).size)).toEqual([1, 1, 1]);
  });

  it('[HTTP-029] gives no priming event without an event store', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('tick', async ({ call }) => {
      await call.send(progress('t', 1));
      return text('x');
    });
    serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('tick');
    expect((await answer.events()).map(({ id }) => id)).toEqual([undefined, undefined]);
  });

  it('answers in JSON-only mode with JSON, drops progress, and asks only through the GET stream', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('ask', async ({ call }) => {
      await call.send(progress('t', 1));
      const outcome = await call.send({ jsonrpc: '2.0', id: 'q1', method: 'elicitation/create', params: {} }).then(
        () => 'asked',
        (error: Error) => error.message,
      );
      return text(outcome);
    });
    const logged: string[] = [];
    serving = await serve(face, endpoint, { jsonOnly: true, logger: { log: (level, line) => void logged.push(`${level} ${line}`) } });
    const client = await LegacyClient.open(serving.port);
    const refused = await client.tool('ask');
    expect([refused.isStream, await refused.text()]).toEqual([false, expect.stringMatching(/JSON only.*GET stream/)]);
    const stream = await client.get();
    const asked = await client.tool('ask');
    expect(await asked.text()).toContain('asked');
    expect(await stream.nextMessage()).toMatchObject({ method: 'elicitation/create' });
    expect(logged).toEqual([expect.stringMatching(/^warning The option "jsonOnly" drops/)]);
  });

  it('[ERA-001][ERA-002] serves both eras on one endpoint at once', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const clients = await Promise.all(
      ['2025-03-26', '2025-06-18', '2025-11-25'].map((version) => LegacyClient.open(serving.port, version)),
    );
    const answers = await Promise.all([...clients.map((client) => client.tool('echo')), modernTool(serving.port, 'echo')]);
    const results = await Promise.all(answers.map(async (answer) => (await answer.response())['result'] as JsonObject));
    expect(results.map((result) => result['resultType'])).toEqual([undefined, undefined, undefined, 'complete']);
  });

  it('[ERA-025][HTTP-043] reads a request that names no version, session or _meta as a modern one without headers', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const answer = await post(serving.port, { jsonrpc: '2.0', id: 3, method: 'tools/list' });
    expect([answer.status, await answer.json()]).toMatchObject([400, { id: 3, error: { code: -32020 } }]);
  });
});

describe.each(FACES)('legacy requests without sessions over the %s face', (face) => {
  it('[HTTP-026][HTTP-038] serves any request without initialize, in the version of its header or the assumed one', async () => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint, { sessions: false });
    const opened = await post(serving.port, initializeRequest());
    expect([opened.status, opened.headers['mcp-session-id']]).toEqual([200, undefined]);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } };
    expect((await post(serving.port, call)).status).toBe(200);
    expect((await post(serving.port, call, { 'mcp-protocol-version': '2025-06-18' })).status).toBe(200);
    expect(endpoint.sessions.map(({ state }) => state['revision'])).toEqual(expect.arrayContaining(['2025-03-26', '2025-06-18', LEGACY]));
    expect((await post(serving.port, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    expect(endpoint.sessions.every(({ link }) => !link.canRequest)).toBe(true);
    expect(endpoint.sessions.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it('[HTTP-021][HTTP-047][ERA-021] answers GET and DELETE with 405', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sessions: false });
    for (const method of ['GET', 'DELETE']) {
      const answer = await send(serving.port, { method, headers: { accept: 'text/event-stream' } });
      expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, OPTIONS']);
    }
  });

  it('[ROBUSTNESS-3] keeps many clients with id 1 apart', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('who', async ({ args, call }) => {
      await go.promise;
      await call.send(progress(String(args['me']), 1));
      return text(String(args['me']));
    });
    serving = await serve(face, endpoint, { sessions: false });
    const answers = Array.from({ length: 20 }, async (_, me) => {
      const answer = await post(serving.port, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'who', arguments: { me } } });
      return answer.text();
    });
    await until(() => endpoint.calls.length >= 20);
    go.open();
    const bodies = await Promise.all(answers);
    expect(bodies.every((body, me) => body.includes(`"text":"${me}"`) && body.includes(`"progressToken":"${me}"`))).toBe(true);
  });

  it('refuses to ask, naming the option', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('ask', ({ link }) =>
      (link ?? { send: () => Promise.reject(new Error('no link')) }).send({ jsonrpc: '2.0', id: 1, method: 'roots/list' }).then(
        () => text('asked'),
        (error: Error) => text(error.message),
      ),
    );
    serving = await serve(face, endpoint, { sessions: false });
    const answer = await post(serving.port, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } });
    expect(await answer.text()).toContain('sessions: false');
  });
});

describe('sessions in a store', () => {
  it('lets another process go on with a session, and end it', async () => {
    const sessionStore = new TestSessionStore();
    serving = await serve('node', new ScriptedEndpoint(), { sessionStore });
    const client = await LegacyClient.open(serving.port);
    const other = await serve('node', new ScriptedEndpoint(), { sessionStore });
    const there = client.at(other.port);
    try {
      expect((await there.tool('echo', { a: 1 })).status).toBe(200);
      expect((await there.delete()).status).toBe(204);
      expect((await client.tool('echo')).status).toBe(404);
      expect(sessionStore.records.size).toBe(0);
    } finally {
      await other.close();
    }
  });

  it('keeps what both processes changed, by compare-and-set', async () => {
    const sessionStore = new TestSessionStore();
    const here = new ScriptedEndpoint();
    serving = await serve('node', here, { sessionStore });
    const client = await LegacyClient.open(serving.port);
    const other = await serve('node', new ScriptedEndpoint(), { sessionStore });
    const there = client.at(other.port);
    const setLevel = { jsonrpc: '2.0', id: 1, method: 'logging/setLevel', params: { level: 'error' } };
    try {
      await Promise.all([client.post(setLevel), there.post({ ...setLevel, id: 2 })]);
      const [record] = sessionStore.records.values();
      expect(record?.state).toMatchObject({ session: { level: 'error', isReady: true, revision: LEGACY } });
    } finally {
      await other.close();
    }
  });

  it('[HTTP-045] outlives the process', async () => {
    const sessionStore = new TestSessionStore();
    const before = await serve('node', new ScriptedEndpoint(), { sessionStore });
    const client = await LegacyClient.open(before.port);
    await before.close();
    serving = await serve('node', new ScriptedEndpoint(), { sessionStore });
    const after = client.at(serving.port);
    expect((await after.tool('echo')).status).toBe(200);
  });
});
