/** A client whose server has forgotten its session: a new one is opened and the call made once more. */

import { McpClient } from '@mortise/client';
import { McpServer } from '@mortise/server';
import { httpTransport, SSEClientTransport, StreamableHTTPClientTransport } from '@mortise/transport-http/client';
import { type HttpServing, serveHttp } from '@mortise/transport-http/node';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { afterEach, describe, expect, it } from 'vitest';
import { initializeResult } from './support/legacy.ts';
import { type EventStream, ScriptedHttp, type Visit } from './support/scripted-http.ts';
import { SENDERS } from './support/senders.ts';
import { turn, until } from './support/wait.ts';

const info = { name: 'test', version: '1' };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function connect(
  source: Parameters<typeof McpClient.connect>[0],
  options: Parameters<typeof McpClient.connect>[2] = {},
): Promise<McpClient> {
  const client = await McpClient.connect(source, info, { era: 'legacy', eraMemory: new Map(), ...options });
  closing.push(() => client.close());
  return client;
}

/** A server that keeps sessions by itself, so that a test can take them away. */
class Sessions {
  readonly http: ScriptedHttp;
  readonly alive: Set<string> = new Set();
  /** How a request of an unknown session is refused. */
  refuse: (visit: Visit) => void = (visit) => visit.reply(404);
  count = 0;

  constructor(http: ScriptedHttp) {
    this.http = http;
    http.on(
      () => true,
      (visit) => this.#serve(visit),
    );
  }

  get calls(): number {
    return this.http.visits.filter(({ body }) => body.includes('"tools/call"')).length;
  }

  #serve(visit: Visit): void {
    if (visit.method === 'GET') return visit.reply(405);
    if (visit.method === 'DELETE') return visit.reply(204);
    if (visit.message['method'] === 'initialize') {
      const id = `session-${++this.count}`;
      this.alive.add(id);
      return visit.result(initializeResult(), { 'mcp-session-id': id });
    }
    if (!this.alive.has(String(visit.headers['mcp-session-id']))) return this.refuse(visit);
    if (visit.id === undefined) return visit.accept();
    visit.result({ content: [{ type: 'text', text: String(visit.headers['mcp-session-id']) }] });
  }
}

async function listen(): Promise<Sessions> {
  const http = await ScriptedHttp.listen();
  closing.push(() => http.close());
  return new Sessions(http);
}

describe.each(SENDERS)('over $name', ({ options }) => {
  it('[HTTP-045][ROBUSTNESS-10] opens one new session on a 404, and repeats the call once', async () => {
    const sessions = await listen();
    const client = await connect(httpTransport(sessions.http.url, options));
    sessions.alive.clear();
    const { content } = await client.callTool('x');
    expect(content).toEqual([{ type: 'text', text: 'session-2' }]);
    expect(sessions).toMatchObject({ count: 2, calls: 2 });
    const [, second] = sessions.http.visits.filter(({ body }) => body.includes('"initialize"'));
    expect(second?.headers).not.toHaveProperty('mcp-session-id');
  });

  it('[ROBUSTNESS-10] repeats no call twice', async () => {
    const sessions = await listen();
    const client = await connect(httpTransport(sessions.http.url, options));
    const { alive } = sessions;
    alive.clear();
    alive.has = () => sessions.http.visits.at(-1)?.message['method'] === 'notifications/initialized';
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'ERR_SESSION_LOST' });
    expect(sessions).toMatchObject({ count: 2, calls: 2 });
  });

  it('[ROBUSTNESS-10] repeats all calls of a lost session in one new session', async () => {
    const sessions = await listen();
    const client = await connect(httpTransport(sessions.http.url, options));
    sessions.alive.clear();
    const results = await Promise.all(Array.from({ length: 20 }, () => client.callTool('x')));
    expect(new Set(results.map(({ content }) => (content[0] as { readonly text: string }).text))).toEqual(new Set(['session-2']));
    expect(sessions.count).toBe(2);
  });

  it('takes a 400 about the session for a lost one, once', async () => {
    const sessions = await listen();
    const client = await connect(httpTransport(sessions.http.url, options));
    sessions.refuse = (visit) =>
      visit.json({ jsonrpc: '2.0', error: { code: -32000, message: 'Bad Request: No valid session ID provided' }, id: null }, 400);
    sessions.alive.clear();
    expect((await client.callTool('x')).content).toEqual([{ type: 'text', text: 'session-2' }]);
    sessions.alive.clear();
    sessions.alive.has = () => sessions.http.visits.at(-1)?.message['method'] === 'notifications/initialized';
    await expect(client.callTool('x')).rejects.toThrow();
    expect(sessions).toMatchObject({ count: 3, calls: 4 });
  });

  it('repeats what a gateway sends, too', async () => {
    const sessions = await listen();
    const client = await connect(httpTransport(sessions.http.url, options));
    sessions.alive.clear();
    expect(await client.requestRaw('tools/call', { name: 'x' })).toMatchObject({ result: { content: [{ text: 'session-2' }] } });
  });

  it('does so for the class that MCP users know, whose sessionId is then the new one', async () => {
    const sessions = await listen();
    const transport = new StreamableHTTPClientTransport(new URL(sessions.http.url), options);
    const client = await connect(transport);
    expect(transport.sessionId).toBe('session-1');
    sessions.alive.clear();
    await client.callTool('x');
    expect(transport.sessionId).toBe('session-2');
    await transport.terminateSession();
    expect(sessions.http.visits.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 'session-2' } });
  });

  it('says what happened where the program wants no new session', async () => {
    const sessions = await listen();
    const client = await connect(httpTransport(sessions.http.url, options), { restart: false });
    sessions.alive.clear();
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'ERR_SESSION_LOST' });
    expect(sessions).toMatchObject({ count: 1, calls: 1 });
  });

  it('stops waiting for a new session when the call is given up', async () => {
    const sessions = await listen();
    const client = await connect(httpTransport(sessions.http.url, options));
    sessions.alive.clear();
    const controller = new AbortController();
    sessions.refuse = (visit) => {
      visit.reply(404);
      sessions.http.on('initialize', () => controller.abort(new Error('enough')));
    };
    await expect(client.callTool('x', {}, { signal: controller.signal })).rejects.toThrow('enough');
  });

  describe('a call on its way in the lost session', () => {
    /** Loses a session while a call is on its way in it. What is on its way has a second: not one of a busy machine. */
    async function lose(): Promise<{ readonly slow: Promise<unknown>; readonly held: Visit[]; readonly clock: FakeClock }> {
      const sessions = await listen();
      const clock = new FakeClock();
      const client = await connect(httpTransport(sessions.http.url, { ...options, clock }));
      const held: Visit[] = [];
      sessions.http.on(
        (visit) => visit.body.includes('"slow"'),
        (visit) => void held.push(visit),
      );
      const slow = client.callTool('slow').then(
        ({ content }) => content,
        (error: unknown) => error,
      );
      await until(() => held.length === 1);
      sessions.alive.clear();
      expect((await client.callTool('x')).content).toEqual([{ type: 'text', text: 'session-2' }]);
      return { slow, held, clock };
    }

    it('may finish within a second', async () => {
      const { slow, held, clock } = await lose();
      clock.advance(999);
      held[0]?.result({ content: [{ type: 'text', text: 'late' }] });
      expect(await slow).toEqual([{ type: 'text', text: 'late' }]);
      expect(held).toHaveLength(1);
    });

    it('is given up after a second', async () => {
      const { slow, held, clock } = await lose();
      clock.advance(1000);
      expect(await slow).toMatchObject({ code: 'ERR_CONNECTION_LOST' });
      expect(held).toHaveLength(1);
    });
  });

  it('keeps a subscription that the new session accepted, whatever the old one answers to it later', async () => {
    const http = await ScriptedHttp.listen();
    closing.push(() => http.close());
    const capabilities = { tools: {}, resources: { subscribe: true } };
    const isNew = ({ headers }: Visit): boolean => headers['mcp-session-id'] === 'session-2';
    const streams: EventStream[] = [];
    const late: Visit[] = [];
    let sessions = 0;
    http
      .on('initialize', (visit) =>
        visit.result({ ...initializeResult(), capabilities }, { 'mcp-session-id': `session-${(sessions += 1)}` }),
      )
      .on('notifications/initialized', (visit) => visit.accept())
      .on('DELETE', (visit) => visit.reply(204))
      .on('GET', (visit) => (isNew(visit) ? void streams.push(visit.stream()) : visit.reply(405)))
      .on('resources/subscribe', (visit) => (isNew(visit) ? visit.result({}) : void late.push(visit)))
      .on('tools/call', (visit) => (isNew(visit) ? visit.result({ content: [] }) : visit.reply(404)));
    const client = await connect(httpTransport(http.url, options));
    const subscription = client.listen({ resourceSubscriptions: ['test://r'] });
    await until(() => late.length === 1);
    await client.callTool('who');
    await subscription.accepted;
    late[0]?.reply(404);
    await late[0]?.over;
    for (let calls = 0; calls < 5; calls++) await client.callTool('who');
    await until(() => streams.length === 1);
    streams[0]?.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://r' } });
    const methods: string[] = [];
    for await (const { method } of subscription) if (methods.push(method) === 2) break;
    expect(methods).toEqual(['notifications/subscriptions/acknowledged', 'notifications/resources/updated']);
  });

  describe('of the real server', () => {
    function createServer(): McpServer {
      const server = new McpServer({ name: 'real', version: '1' });
      server.registerTool('who', {}, () => 'me');
      server.registerResource('r', 'test://r', {}, () => 'text');
      return server;
    }

    /** Ends a server and starts another at the same address. */
    async function restart(serving: HttpServing, more: object = {}): Promise<{ readonly server: McpServer; readonly again: HttpServing }> {
      await serving.close();
      const server = createServer();
      const again = await serveHttp(server, { port: serving.port, ...more });
      closing.push(() => again.close());
      return { server, again };
    }

    /** A call that meets a connection which is being closed is reported as lost: whether it was carried out nobody can know. */
    async function call(client: McpClient): Promise<unknown> {
      for (;;) {
        try {
          return (await client.callTool('who')).content;
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_CONNECTION_LOST' });
        }
      }
    }

    it('[HTTP-045] survives its restart, with its subscriptions', async () => {
      const serving = await serveHttp(createServer(), { port: 0 });
      const client = await connect(httpTransport(serving.url, options));
      const updated: string[] = [];
      client.onResourceUpdated(({ uri }) => void updated.push(uri));
      await client.subscribeResource('test://r');
      const { server, again } = await restart(serving);
      expect(await call(client)).toEqual([{ type: 'text', text: 'me' }]);
      // The stream of the new session is opened, and the subscription sent anew, beside any call.
      await until(() => again.handler.counts.streams === 1);
      while (updated.length === 0) {
        await server.sendResourceUpdated({ uri: 'test://r' });
        await turn();
      }
      expect(new Set(updated)).toEqual(new Set(['test://r']));
    });

    it.each(['legacy', 'modern'] as const)('says that a call was not carried out if its connection was refused (%s)', async (era) => {
      const serving = await serveHttp(createServer(), { port: 0 });
      const client = await connect(httpTransport(serving.url, options), { era });
      await serving.close();
      const wasRefused = /^"tools\/call" was not carried out: POST .* got no response: connect ECONNREFUSED/;
      for (;;) {
        const error: unknown = await client.callTool('who').catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: 'ERR_CONNECTION_LOST', cause: { code: 'ERR_CONNECTION_CLOSED' } });
        // A connection that the server closes as the call begins leaves unknown whether the call was carried out.
        if (wasRefused.test(String((error as Error).message))) break;
        expect(error).toHaveProperty('message', expect.stringContaining('is not known'));
      }
    });

    it('survives its restart over HTTP+SSE', async () => {
      const serving = await serveHttp(createServer(), { port: 0, sse: true });
      const client = await connect(new SSEClientTransport(new URL('/sse', serving.url), options));
      await restart(serving, { sse: true });
      await until(() => !client.isConnected);
      expect((await client.callTool('who')).content).toEqual([{ type: 'text', text: 'me' }]);
    });
  });
});
