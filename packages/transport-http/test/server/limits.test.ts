import { connect } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { initializeRequest, LegacyClient } from '../support/legacy-client.ts';
import { modern, modernHeaders, modernRequest, modernTool } from '../support/modern.ts';
import { ACCEPT, type Answer, post, send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { TestEventStore, TestSessionStore } from '../support/memory-stores.ts';
import { aborted, gate, progress, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';
import { untilStill } from '../support/until-still.ts';
import { countOwnMs } from '../../../../scripts/test/cpu-time.ts';

let serving: Serving;
afterEach(() => serving.close());

describe.each(FACES)('bounds over the %s face', (face) => {
  it('[ROBUSTNESS-7] refuses a body past the bound with 413, by its announced length and by what comes', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { maxBodyBytes: 1000 });
    const request = modernRequest('tools/call', { name: 'echo', arguments: { long: 'x'.repeat(2000) } });
    const headers = { 'content-type': 'application/json', accept: '*/*', ...modernHeaders(request) };
    const announced = await send(serving.port, { headers, body: JSON.stringify(request) });
    expect(announced.status).toBe(413);
    const chunked = await send(serving.port, { headers: { ...headers, 'transfer-encoding': 'chunked' }, body: JSON.stringify(request) });
    expect([chunked.status, await chunked.json()]).toMatchObject([413, { error: { message: expect.stringContaining('1000 bytes') } }]);
    expect((await modernTool(serving.port, 'echo', { short: 'x' })).status).toBe(200);
  });

  it('[ROBUSTNESS-7] answers 64 MiB with 413 in under 200 ms, at less than 16 MiB of growth', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const times: number[] = [];
    // The best of three, so that a busy machine does not fail it.
    for (let round = 0; round < 3; round++) {
      const { status, tookMs, grewBytes } = await floodWithBody(serving.port);
      expect(status).toContain('413');
      // The client's own buffers are in this process too.
      expect(grewBytes).toBeLessThan(32 * 1024 * 1024);
      times.push(tookMs);
    }
    expect(Math.min(...times)).toBeLessThan(200);
  });

  it('[ROBUSTNESS-7] refuses JSON that nests too deeply, from the wire and from a parser in front', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":${deep}}}`;
    const answer = await post(serving.port, body, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32700 } }]);
    const parsed = await serving.handler.fetch(
      new Request('http://localhost/mcp', { method: 'POST', headers: { 'content-type': 'application/json' } }),
      { parsedBody: JSON.parse(body) },
    );
    expect(await parsed.json()).toMatchObject({ error: { code: -32700 } });
  });

  it('[ROBUSTNESS-9] ends a stalled body with 408 before 30 seconds are over', async () => {
    const clock = new FakeClock();
    serving = await serve(face, new ScriptedEndpoint(), { clock });
    void clock.untilScheduled().then(() => clock.advance(29_000));
    const line = await new Promise<string>((resolve, reject) => {
      const socket = connect(serving.port, '127.0.0.1', () => {
        socket.write(`POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"json`);
      });
      socket.once('data', (data) => {
        resolve(data.toString().split('\r\n', 1)[0] ?? '');
        socket.destroy();
      });
      socket.on('error', reject);
    });
    expect(line).toContain('408');
  });

  it('[ROBUSTNESS-8] gives a full house of sessions a new one by ending the one that was idle longest', async () => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint, { maxSessionsPerKey: 3 });
    const clients = [await LegacyClient.open(serving.port), await LegacyClient.open(serving.port), await LegacyClient.open(serving.port)];
    await clients[0]?.tool('echo');
    const fourth = await LegacyClient.open(serving.port);
    const statuses = await Promise.all([...clients, fourth].map(async (client) => (await client.tool('echo')).status));
    expect(statuses).toEqual([200, 404, 200, 200]);
    expect(serving.handler.counts.sessions).toBe(3);
  });

  it('[ROBUSTNESS-8] ends a session that nobody listens to before one that somebody does, and that one before it refuses', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { maxSessionsPerKey: 2 });
    const listening = await LegacyClient.open(serving.port);
    await listening.get();
    const silent = await LegacyClient.open(serving.port);
    const third = await LegacyClient.open(serving.port);
    await third.get();
    expect([(await listening.tool('echo')).status, (await silent.tool('echo')).status]).toEqual([200, 404]);
    const fourth = await LegacyClient.open(serving.port);
    const statuses = await Promise.all([listening, third, fourth].map(async (client) => (await client.tool('echo')).status));
    expect(statuses).toEqual([200, 404, 200]);
  });

  it('[ROBUSTNESS-8] never ends a session with a call in flight, and answers 503 with Retry-After where all are busy', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('wait', async () => {
      await go.promise;
      return text('done');
    });
    serving = await serve(face, endpoint, { maxSessionsPerKey: 2 });
    const clients = [await LegacyClient.open(serving.port), await LegacyClient.open(serving.port)];
    const calls = clients.map((client) => client.tool('wait'));
    await until(() => serving.handler.counts.calls >= 2);
    const refused = await post(serving.port, initializeRequest());
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    go.open();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await post(serving.port, initializeRequest())).status).toBe(200);
  });

  it('[ROBUSTNESS-8] lets one caller push out only sessions of its own', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { maxSessionsPerKey: 2, limitKey: ({ header }) => header('x-who') ?? 'nobody' });
    const mine = await LegacyClient.open(serving.port, undefined, { 'x-who': 'me' });
    for (let count = 0; count < 5; count++) await LegacyClient.open(serving.port, undefined, { 'x-who': 'other' });
    expect((await mine.tool('echo')).status).toBe(200);
    expect(serving.handler.counts.sessions).toBe(3);
  });

  it('[ROBUSTNESS-8] counts a session out by the key that it was counted in by, whatever the program says the next time', async () => {
    let asked = 0;
    serving = await serve(face, new ScriptedEndpoint(), { maxSessions: 2, limitKey: () => String(++asked) });
    for (let opened = 1; opened <= 4; opened++) await LegacyClient.open(serving.port);
    expect([asked, serving.handler.counts.sessions]).toEqual([4, 2]);
  });

  it('[SEC-002][ROBUSTNESS-8] ends idle sessions, and none that is used or listened to', async () => {
    const clock = new FakeClock();
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint, { clock, sessionIdleMs: 60_000, eventStore: new TestEventStore() });
    const [idle, used, listening] = [
      await LegacyClient.open(serving.port),
      await LegacyClient.open(serving.port),
      await LegacyClient.open(serving.port),
    ];
    await listening.get();
    clock.advance(50_000);
    await (await used.tool('echo')).text();
    clock.advance(40_000);
    const statuses = await Promise.all([idle, used, listening].map(async (client) => (await client.tool('echo')).status));
    expect(statuses).toEqual([404, 200, 200]);
    expect(endpoint.sessions.map(({ isClosed }) => isClosed)).toEqual([true, false, false]);
  });

  it('[ROBUSTNESS-8] bounds the streams of one caller with 503, and frees them when they close', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { maxSessionsPerKey: 2 });
    const client = await LegacyClient.open(serving.port);
    const listen = (): Promise<Answer> => modern(serving.port, 'subscriptions/listen', { notifications: {} });
    const [first] = [await client.get(), await listen()];
    expect([(await client.get()).status, (await listen()).status]).toEqual([503, 503]);
    first?.leave();
    await until(() => serving.handler.counts.streams <= 1);
    expect((await listen()).status).toBe(200);
  });

  it('[ROBUSTNESS-8] answers a session of another principal like none', async () => {
    const verifier = {
      verify: ({ token }: { readonly token: string | undefined }) => Promise.resolve({ principal: token ?? 'nobody', scopes: [] }),
    };
    for (const stores of [{}, { sessionStore: new TestSessionStore() }]) {
      serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier: verifier, ...stores });
      const mine = await LegacyClient.open(serving.port, undefined, { authorization: 'Bearer me' });
      const theirs = { authorization: 'Bearer thief' };
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } };
      const stolen = [mine.post(call, theirs), mine.get(theirs), mine.delete(theirs)];
      expect((await Promise.all(stolen)).map(({ status }) => status)).toEqual([404, 404, 404]);
      expect((await mine.post(call, { authorization: 'Bearer me' })).status).toBe(200);
      const elsewhere = await serve(face, new ScriptedEndpoint(), { tokenVerifier: verifier, ...stores });
      const there = await post(elsewhere.port, call, { ...mine.headers, ...theirs });
      expect(there.status).toBe(404);
      await elsewhere.close();
      await serving.close();
    }
  });

  it('[ROBUSTNESS-7] makes a sender wait for a slow reader, and goes on when it reads', async () => {
    const endpoint = new ScriptedEndpoint();
    let sent = 0;
    const block = 'x'.repeat(64 * 1024);
    endpoint.tools.set('flood', async ({ call }) => {
      for (; sent < 400 && !call.isCancelled; sent++)
        await call.send({ jsonrpc: '2.0', method: 'notifications/message', params: { block } });
      return text('done');
    });
    serving = await serve(face, endpoint);
    const answer = await modernTool(serving.port, 'flood');
    answer.message.pause();
    await untilStill(serving.port, () => sent);
    expect(sent).toBeLessThan(300);
    answer.message.resume();
    expect(await answer.text()).toContain('done');
    expect(sent).toBe(400);
  });

  it('[ROBUSTNESS-7][ROBUSTNESS-9] cuts a listen stream whose reader takes nothing', async () => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint);
    const answer = await modern(serving.port, 'subscriptions/listen', { notifications: {} });
    await answer.event();
    answer.message.pause();
    const call = endpoint.calls.at(-1);
    const block = 'x'.repeat(64 * 1024);
    let queued = 0;
    while (call?.isCancelled === false && queued < 2000) {
      void call.send({ jsonrpc: '2.0', method: 'notifications/x', params: { block } });
      queued++;
      await new Promise(setImmediate);
    }
    expect([call?.isCancelled, serving.handler.counts.streams]).toEqual([true, 0]);
    // What loopback's own buffers take, and 1 MiB more.
    expect(queued).toBeLessThan(300);
  });

  it('cuts a stream that has taken nothing for the stall time, and leaves one alone that is only quiet', async () => {
    const clock = new FakeClock();
    const endpoint = new ScriptedEndpoint();
    const block = 'x'.repeat(64 * 1024);
    let sent = 0;
    endpoint.tools.set('flood', async ({ call }) => {
      for (; !call.isCancelled; sent++) await call.send({ jsonrpc: '2.0', method: 'notifications/message', params: { block } });
      return text('done');
    });
    serving = await serve(face, endpoint, { clock, stallMs: 30_000 });
    const quiet = await modern(serving.port, 'subscriptions/listen', { notifications: {} });
    await quiet.event();
    const stalled = await modernTool(serving.port, 'flood');
    stalled.message.pause();
    let calls = endpoint.calls.filter(({ isCancelled }) => !isCancelled).length;
    for (let beat = 0; beat < 20 && calls === 2; beat++) {
      await untilStill(serving.port, () => sent);
      clock.advance(15_000);
      calls = endpoint.calls.filter(({ isCancelled }) => !isCancelled).length;
    }
    expect([calls, serving.handler.counts.streams]).toEqual([1, 1]);
    await until(() => quiet.raw.includes('\n:\n'));
    expect(quiet.hasEnded).toBe(false);
  });

  it('[HTTPM-012] sends a comment on a quiet stream, and none on a busy one', async () => {
    const clock = new FakeClock();
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint, { clock });
    const answer = await modern(serving.port, 'subscriptions/listen', { notifications: {} });
    await answer.event();
    clock.advance(15_000);
    await endpoint.calls[0]?.send(progress('t', 1));
    clock.advance(15_000);
    await answer.event();
    expect(answer.raw.match(/^:$/gm)).toBeNull();
    clock.advance(15_000);
    await until(() => /^:$/m.test(answer.raw));
  });
});

describe('a connection that closes while a response waits behind another one', () => {
  it('[ROBUSTNESS-9] cancels all its requests, also those that Node has not begun to answer', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('wait', async ({ call }) => {
      await aborted(call.signal);
      return text('done');
    });
    serving = await serve('node', endpoint);
    const posts = Array.from({ length: 20 }, (_, id) => {
      const request = modernRequest('tools/call', { name: 'wait' }, id);
      const body = JSON.stringify(request);
      const headers = { ...modernHeaders(request), host: '127.0.0.1', 'content-type': 'application/json', accept: ACCEPT };
      const lines = Object.entries({ ...headers, 'content-length': body.length }).map(([name, value]) => `${name}: ${value}`);
      return `POST /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
    });
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const socket = connect(serving.port, '127.0.0.1', () => socket.write(posts.join('')));
    await until(() => endpoint.calls.length === posts.length);
    socket.destroy();
    await until(() => endpoint.calls.every((call) => call.isCancelled));
    expect(warnings).toEqual([]);
  });
});

describe('a `fetch` request whose platform promises less than Node', () => {
  const makeRequest = (init: RequestInit): Request => {
    const request = modernRequest('tools/call', { name: 'wait' });
    const headers = { ...modernHeaders(request), 'content-type': 'application/json', accept: ACCEPT };
    return new Request('http://localhost/mcp', { method: 'POST', body: JSON.stringify(request), headers, ...init });
  };

  it('[ROBUSTNESS-7] refuses a body without Content-Length that is longer than the bound, without reading all of it', async () => {
    serving = await serve('fetch', new ScriptedEndpoint(), { maxBodyBytes: 1000 });
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(600));
        if (pulled === 100) controller.close();
      },
    });
    const response = await serving.handler.fetch(makeRequest({ body, duplex: 'half' } as RequestInit));
    expect([response.status, pulled < 10]).toEqual([413, true]);
  });

  it('takes an event id that contains a comma', async () => {
    serving = await serve('fetch', new ScriptedEndpoint());
    const { handler } = serving;
    const headers = { accept: 'text/event-stream', 'last-event-id': 'a,b', 'mcp-session-id': 'unknown' };
    expect((await handler.fetch(new Request('http://localhost/mcp', { headers }))).status).toBe(404);
  });

  it('ends the response body once the signal of the request aborts', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('wait', async ({ call }) => {
      await call.send(progress('t', 0));
      await aborted(call.signal);
      return text('done');
    });
    serving = await serve('fetch', endpoint);
    const client = new AbortController();
    const response = await serving.handler.fetch(makeRequest({ signal: client.signal }));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    client.abort();
    await expect(reader.read()).rejects.toThrow('The server aborted the response before its end');
    expect(endpoint.calls[0]?.isCancelled).toBe(true);
  });
});

describe('a reader that is slower than its sender', () => {
  /** Has a call open whose stream is read piece by piece. */
  async function openFlood(stallMs: number) {
    const [clock, endpoint] = [new FakeClock(), new ScriptedEndpoint()];
    endpoint.tools.set('flood', async ({ call }) => {
      await call.send(progress('t', 0));
      await aborted(call.signal);
      return text('done');
    });
    serving = await serve('fetch', endpoint, { clock, stallMs });
    const request = modernRequest('tools/call', { name: 'flood' });
    const headers = { ...modernHeaders(request), 'content-type': 'application/json', accept: ACCEPT };
    const body = JSON.stringify(request);
    const { handler } = serving;
    const response = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
    const reader = response.body?.getReader();
    const [call] = endpoint.calls;
    const send = async (value: number): Promise<void> => {
      void call?.send(progress('t', value));
      // Behind the stream's own timer, so that each is written by itself.
      await new Promise((resolve) => setTimeout(resolve));
    };
    const state = (): unknown => [call?.isCancelled, handler.counts.streams];
    return { clock, send, read: async () => void (await reader?.read()), state };
  }

  it('keeps its stream for as long as it takes something, and loses it when it takes nothing', async () => {
    const { clock, send, read, state } = await openFlood(30_000);
    for (let beat = 1; beat <= 10; beat++) {
      await send(2 * beat);
      await send(2 * beat + 1);
      await read();
      clock.advance(15_000);
    }
    expect(state()).toEqual([false, 1]);
    await send(99);
    for (let beat = 0; beat < 4; beat++) clock.advance(15_000);
    expect(state()).toEqual([true, 0]);
  });

  it('costs no timer while it takes nothing', async () => {
    const { send, state } = await openFlood(30_000);
    await send(1);
    await send(2);
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const turns = 20;
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setTimeout(resolve));
    expect(timers.mock.calls.length).toBeLessThanOrEqual(turns);
    timers.mockRestore();
    expect(state()).toEqual([false, 1]);
  });

  it.each([10_000, 30_000])('has the whole stall time of %d ms for what is sent just before its stream is looked at', async (stallMs) => {
    const everyMs = Math.min(15_000, stallMs);
    const { clock, send, read, state } = await openFlood(stallMs);
    await read();
    // Nothing is left, and then there is a comment, which is taken too.
    for (let beat = 0; beat < 2; beat++) clock.advance(everyMs);
    await read();
    clock.advance(everyMs - 1);
    await send(1);
    clock.advance(stallMs);
    expect(state()).toEqual([false, 1]);
    clock.advance(everyMs);
    expect(state()).toEqual([true, 0]);
  });
});

describe('leaving', () => {
  it('[ROBUSTNESS-9] reaches the signal within 100 ms, and 300 disconnects leave nothing behind', async () => {
    const endpoint = new ScriptedEndpoint();
    const lags: number[] = [];
    let ownMs = (): number => 0;
    endpoint.tools.set('long', async ({ call }) => {
      await call.send(progress('t', 1));
      await aborted(call.signal);
      lags.push(ownMs());
      return text('late');
    });
    serving = await serve('node', endpoint);
    for (let round = 0; round < 300; round++) {
      const answer = await modernTool(serving.port, 'long');
      await answer.event();
      ownMs = countOwnMs();
      answer.leave();
      await until(() => lags.length > round);
    }
    // All but a few, which a busy machine may keep waiting.
    expect(lags.filter((lag) => lag >= 100).length).toBeLessThan(15);
    await until(() => serving.handler.counts.calls <= 0);
    expect(serving.handler.counts).toEqual({ sessions: 0, streams: 0, calls: 0 });
    let connections = -1;
    const count = (): void => void serving.server.getConnections((_error, now) => (connections = now));
    await until(() => {
      count();
      return connections === 0;
    });
  });

  it('[ROBUSTNESS-5] survives clients that break off anywhere', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('burst', async ({ call }) => {
      for (let value = 0; value < 50; value++) void call.send(progress('t', value));
      await new Promise(setImmediate);
      for (let value = 0; value < 50; value++) await call.send(progress('t', value));
      return text('x'.repeat(100_000));
    });
    serving = await serve('node', endpoint, { sse: true });
    const unhandled: unknown[] = [];
    const note = (error: unknown): number => unhandled.push(error);
    process.on('unhandledRejection', note);
    const request = modernRequest('tools/call', { name: 'burst' });
    const body = JSON.stringify(request);
    const head = [
      'POST /mcp HTTP/1.1',
      'host: 127.0.0.1',
      'content-type: application/json',
      ...Object.entries(modernHeaders(request)).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${body.length}`,
    ];
    const whole = `${head.join('\r\n')}\r\n\r\n${body}`;
    for (let length = 1; length <= whole.length + 20; length += 7) {
      await new Promise<void>((resolve) => {
        const socket = connect(serving.port, '127.0.0.1', () => {
          socket.write(whole.slice(0, length), () => setImmediate(() => socket.resetAndDestroy()));
        });
        socket.on('close', () => resolve());
        socket.on('error', () => undefined);
      });
    }
    expect((await modernTool(serving.port, 'echo')).status).toBe(200);
    await until(() => serving.handler.counts.calls <= 0);
    process.off('unhandledRejection', note);
    expect([unhandled, serving.handler.counts]).toEqual([[], { sessions: 0, streams: 0, calls: 0 }]);
  });

  it('[ROBUSTNESS-4] answers a request whose result JSON cannot carry', async () => {
    const endpoint = new ScriptedEndpoint();
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    endpoint.tools.set('cycle', () => cycle as never);
    endpoint.tools.set('late', async ({ call }) => {
      await call.send(progress('t', 1));
      return { big: 1n } as never;
    });
    serving = await serve('node', endpoint, { eventStore: new TestEventStore() });
    const client = await LegacyClient.open(serving.port);
    const answers = await Promise.all([
      modernTool(serving.port, 'cycle'),
      modernTool(serving.port, 'late'),
      client.tool('cycle'),
      client.tool('late'),
    ]);
    for (const answer of answers) expect(await answer.response()).toMatchObject({ error: { code: -32603 } });
  });

  it('[ROBUSTNESS-14] tells nothing of a fault of its own', async () => {
    const logged: unknown[] = [];
    const tokenVerifier = { verify: () => Promise.reject(new Error('secret /etc/passwd')) };
    serving = await serve('node', new ScriptedEndpoint(), {
      tokenVerifier,
      logger: { log: (_level, _message, data) => logged.push(data) },
    });
    const answer = await modernTool(serving.port, 'echo');
    expect([answer.status, await answer.text()]).toEqual([500, '{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"}}']);
    expect(JSON.stringify(logged)).toContain('secret');
  });
});

/** Sends 64 MiB in chunks until something is answered. */
async function floodWithBody(port: number): Promise<{ readonly status: string; readonly tookMs: number; readonly grewBytes: number }> {
  const before = process.memoryUsage().rss;
  const ownMs = countOwnMs();
  let peak = before;
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(64 * 1024, 0x20), Buffer.from('\r\n')]);
  const status = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
      let left = 1024;
      const more = (): void => {
        while (left-- > 0) {
          peak = Math.max(peak, process.memoryUsage().rss);
          if (!socket.write(chunk)) return void socket.once('drain', more);
        }
      };
      more();
    });
    socket.once('data', (data) => {
      resolve(data.toString().split('\r\n', 1)[0] ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
  });
  return { status, tookMs: ownMs(), grewBytes: peak - before };
}
