/** HTTP+SSE as a server of the oldest revision sees it. */

import { SSEClientTransport } from '@mortise/transport-http/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { hear, initialize, note, request } from './support/legacy.ts';
import { type EventStream, ScriptedHttp } from './support/scripted-http.ts';
import { SENDERS } from './support/senders.ts';
import { turns, until } from './support/wait.ts';

let server: ScriptedHttp;
beforeEach(async () => {
  server = await ScriptedHttp.listen();
});
afterEach(() => server.close());

describe.each(SENDERS)('HTTP+SSE over $name', ({ options }) => {
  let clock: FakeClock;
  let transport: SSEClientTransport;
  let heard: ReturnType<typeof hear>;
  let stream: EventStream;

  beforeEach(() => {
    clock = new FakeClock();
    transport = new SSEClientTransport(`${server.url}?tenant=1`, { clock, ...options });
    heard = hear(transport);
  });
  afterEach(() => transport.close());

  /** Begins to start, and gives the stream. */
  async function begin(): Promise<{ readonly started: Promise<void> }> {
    const started = transport.start();
    started.catch(() => undefined);
    stream = (await server.next()).stream();
    return { started };
  }

  async function start(endpoint = '/messages?sessionId=abc'): Promise<void> {
    const { started } = await begin();
    stream.event({ event: 'endpoint', data: endpoint });
    await started;
  }

  it('[SSE-003] posts every message to the address of the first event', async () => {
    await start();
    for (const message of [
      initialize,
      note('notifications/initialized'),
      request(1, 'tools/list'),
      { jsonrpc: '2.0', id: 's', result: {} } as const,
    ]) {
      const sent = transport.send(message);
      const visit = await server.next();
      expect(visit).toMatchObject({ method: 'POST', path: '/messages?sessionId=abc', message });
      expect(visit.headers['content-type']).toBe('application/json');
      visit.accept();
      await sent;
    }
  });

  it.each([
    ['/messages?s=1', '/messages?s=1'],
    ['messages', '/messages'],
    ['?s=1', '/mcp?s=1'],
    ['absolute', '/elsewhere'],
  ])('[SSE-003] understands the address %s', async (endpoint, path) => {
    await start(endpoint === 'absolute' ? new URL('/elsewhere', server.url).href : endpoint);
    const sent = transport.send(initialize);
    const visit = await server.next();
    expect(visit.path).toBe(path);
    visit.accept();
    await sent;
  });

  it('[SSE-004] posts nothing before the address has come', async () => {
    const { started } = await begin();
    expect(stream.visit).toMatchObject({ method: 'GET', path: '/mcp?tenant=1', headers: { accept: 'text/event-stream' } });
    await expect(transport.send(initialize)).rejects.toMatchObject({ code: 'ERR_NOT_CONNECTED' });
    await turns();
    expect(server.visits).toHaveLength(1);
    stream.write(': hello\n\n').event({ event: 'endpoint', data: '/m' });
    await started;
  });

  it.each([
    'http://127.0.0.1:1/messages',
    'https://evil.example/messages',
    '//evil.example/m',
    'http://user@127.0.0.1/',
    'javascript:alert(1)',
  ])('[SSE-008] refuses the address %s, which is of another origin', async (endpoint) => {
    const { started } = await begin();
    stream.event({ event: 'endpoint', data: endpoint });
    await expect(started).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
    await stream.visit.over;
    expect(heard.closes).toBe(1);
    expect(server.visits).toHaveLength(1);
  });

  it('refuses a server whose first event is a message', async () => {
    const { started } = await begin();
    stream.send(note('x'));
    await expect(started).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
    expect(heard.messages).toEqual([]);
  });

  it('[SSE-009] sends no session, no version, and no event id', async () => {
    await start();
    stream.send(note('x'), 'e1');
    (transport as { setProtocolVersion?: (version: string) => void }).setProtocolVersion?.('2024-11-05');
    const sent = transport.send(initialize);
    const visit = await server.next();
    visit.reply(202, { 'mcp-session-id': 'nothing' });
    await sent;
    const again = transport.send(note('y'));
    const second = await server.next();
    second.accept();
    await again;
    for (const { headers } of [stream.visit, visit, second]) {
      for (const name of ['mcp-session-id', 'mcp-protocol-version', 'last-event-id']) expect(headers).not.toHaveProperty(name);
    }
  });

  it('delivers what comes over the stream, and reports what is not JSON', async () => {
    await start();
    stream.send({ jsonrpc: '2.0', id: 1, result: {} }).event({ data: 'oops' }).send(request('s', 'ping'));
    await until(() => heard.messages.length === 2);
    expect(heard.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }, request('s', 'ping')]);
    expect(heard.errors).toEqual([expect.objectContaining({ code: 'ERR_PARSE' })]);
  });

  it('reports what a callback throws, and delivers the next message', async () => {
    const thrown = new Error('thrown by onmessage');
    const seen: unknown[] = [];
    transport.onmessage = (message) => {
      seen.push(message);
      throw thrown;
    };
    await start();
    stream.send(note('a')).send(note('b'));
    await until(() => seen.length === 2);
    expect(heard.errors).toEqual([thrown, thrown]);
  });

  it('ends when the stream ends', async () => {
    await start();
    stream.end();
    await until(() => heard.closes === 1);
    await expect(transport.send(note('x'))).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it('closes the stream when it closes, and rejects what waits', async () => {
    await start();
    const sent = transport.send(note('x'));
    const settled = sent.catch((error: unknown) => error);
    const visit = await server.next();
    await transport.close();
    expect(await settled).toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    await Promise.all([visit.over, stream.visit.over]);
    expect(heard.closes).toBe(1);
    expect(clock.running).toBe(0);
  });

  it('says that its session is lost where the server does not know it, and ends', async () => {
    await start();
    const sent = transport.send(request(1, 'tools/call'));
    (await server.next()).reply(404);
    await expect(sent).rejects.toMatchObject({ code: 'ERR_SESSION_LOST' });
    clock.advance(0);
    await until(() => heard.closes === 1);
  });

  it('rejects what the server refuses, or delivers its answer', async () => {
    await start();
    const refused = transport.send(note('x'));
    (await server.next()).reply(413);
    await expect(refused).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 413 });
    const answered = transport.send(request(1, 'x'));
    (await server.next()).error(-32600, 400);
    await answered;
    expect(heard.messages).toEqual([expect.objectContaining({ id: 1, error: expect.objectContaining({ code: -32600 }) })]);
  });

  it.each([404, 405, 500])('does not start where the server answers %i', async (status) => {
    const started = transport.start();
    (await server.next()).reply(status);
    await expect(started).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status });
    await expect(transport.start()).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it('does not start where there is no stream', async () => {
    const started = transport.start();
    (await server.next()).json({});
    await expect(started).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 200 });
  });

  it('waits ten seconds for the address', async () => {
    const { started } = await begin();
    await turns();
    clock.advance(10_000);
    await expect(started).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
    await stream.visit.over;
  });

  it('does not start where the stream ends before the address', async () => {
    const { started } = await begin();
    stream.end();
    await expect(started).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it.each<[string, () => unknown]>([
    ['sends a message first', () => stream.send(note('x'))],
    ['names an address of another origin', () => stream.event({ event: 'endpoint', data: 'https://evil.example/m' })],
    ['ends its stream', () => stream.end()],
  ])('leaves no timer behind where the server %s', async (_what, answer) => {
    const { started } = await begin();
    answer();
    await expect(started).rejects.toThrow();
    expect(clock.running).toBe(0);
  });

  it('starts once, and not after it was closed', async () => {
    await start();
    await expect(transport.start()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
    await transport.close();
    await expect(transport.start()).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it('settles start when it is closed meanwhile', async () => {
    const { started } = await begin();
    await transport.close();
    await expect(started).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    await stream.visit.over;
  });
});
