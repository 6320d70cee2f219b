/** How a client over HTTP finds out which era a server speaks: the transport's facts and the client's verdict together. */

import { type EraMemory, McpClient } from '@mortise/client';
import { NEWEST, NEWEST_LEGACY } from '@mortise/protocol';
import type { Authorizer } from '@mortise/protocol/contracts';
import { httpTransport } from '@mortise/transport-http/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerHandshake, initializeResult } from './support/legacy.ts';
import { complete, discovery } from './support/modern.ts';
import { type EventStream, ScriptedHttp, type Visit } from './support/scripted-http.ts';
import { SENDERS } from './support/senders.ts';

let server: ScriptedHttp;
let eraMemory: EraMemory;
let client: McpClient | undefined;
beforeEach(async () => {
  server = await ScriptedHttp.listen();
  eraMemory = new Map();
});
afterEach(async () => {
  await client?.close();
  client = undefined;
  await server.close();
});

/** What was asked, in order: the method of the message, or of HTTP. */
function asked(): readonly string[] {
  return server.visits
    .map((visit) => (visit.method === 'POST' ? String(visit.message['method']) : visit.method))
    .filter((name) => name !== 'DELETE');
}

describe.each(SENDERS)('over $name', ({ options }) => {
  async function connect(more: Parameters<typeof httpTransport>[1] = {}): Promise<McpClient> {
    client = await McpClient.connect(httpTransport(server.url, { ...options, ...more }), { name: 'test', version: '1' }, { eraMemory });
    return client;
  }

  it('[ERA-013][VERS-001] asks a modern question first, with all that belongs to it, and shakes no hands with a modern server', async () => {
    server.on('server/discover', (visit) => visit.result(discovery));
    expect((await connect()).era).toBe('modern');
    expect(asked()).toEqual(['server/discover']);
    expect(server.visits[0]?.headers).toMatchObject({ 'mcp-method': 'server/discover', 'mcp-protocol-version': NEWEST.version });
  });

  it.each([
    { code: -32020, outcome: 'rejects' },
    { code: -32021, outcome: 'rejects' },
  ])('[ERA-014][ERA-015] reads the body of a 400, and stays modern on $code', async ({ code }) => {
    server.on('server/discover', (visit) => visit.error(code, 400));
    await expect(connect()).rejects.toMatchObject({ rpcCode: code });
    expect(asked()).toEqual(['server/discover']);
  });

  it('[ERA-015][VERS-004] asks again in a version that a 400 names', async () => {
    const supported = [NEWEST_LEGACY.version];
    answerHandshake(server);
    server.on('server/discover', (visit) => visit.error(-32022, 400, { supported, requested: NEWEST.version }));
    expect((await connect()).protocolVersion).toBe(NEWEST_LEGACY.version);
    expect(asked().slice(0, 2)).toEqual(['server/discover', 'initialize']);
  });

  it.each<readonly [string, (visit: Visit) => void]>([
    ['400 and nothing', (visit) => visit.reply(400)],
    ['400 and words', (visit) => visit.reply(400, { 'content-type': 'text/plain' }, 'Bad Request')],
    [
      '400 and a foreign error',
      (visit) => visit.json({ jsonrpc: '2.0', error: { code: -32000, message: 'Bad Request: No valid session ID' }, id: null }, 400),
    ],
    ['400 and a draft’s error', (visit) => visit.error(-32001, 400)],
    ['404', (visit) => visit.reply(404)],
    ['405', (visit) => visit.reply(405)],
    ['406 and JSON of another kind', (visit) => visit.json({ detail: 'Not Acceptable' }, 406)],
    ['422 and JSON of another kind', (visit) => visit.json({ detail: [] }, 422)],
  ])('[ERA-016] goes over to initialize on %s', async (_, refuse) => {
    answerHandshake(server);
    server.on('server/discover', refuse);
    expect((await connect()).era).toBe('legacy');
    expect(asked().slice(0, 3)).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
  });

  it.each<readonly [string, (visit: Visit) => void]>([
    ['an unknown method', (visit) => visit.error(-32601)],
    ['an unknown method and 404', (visit) => visit.error(-32601, 404)],
    ['a result of another kind', (visit) => visit.result({ tools: [] })],
    [
      'a stream with an error',
      (visit) =>
        visit
          .stream()
          .send({ jsonrpc: '2.0', id: visit.id, error: { code: -32602, message: 'no' } })
          .end(),
    ],
  ])('[ERA-017] goes over to initialize on a 200 with %s', async (_, answer) => {
    answerHandshake(server);
    server.on('server/discover', answer);
    expect((await connect()).era).toBe('legacy');
  });

  it.each([500, 502, 503, 429])('concludes nothing from a %i', async (status) => {
    answerHandshake(server);
    server.on('server/discover', (visit) => visit.reply(status));
    await expect(connect()).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status });
    expect(asked()).toEqual(['server/discover']);
  });

  it.each([503, 429])('concludes nothing from a %i that comes with an error of JSON-RPC', async (status) => {
    answerHandshake(server);
    server.on('server/discover', (visit) => visit.error(-32603, status));
    await expect(connect()).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status });
    expect(asked()).toEqual(['server/discover']);
  });

  it('[ERA-019] concludes nothing from a 401 or 403 that nobody settles', async () => {
    for (const status of [401, 403]) {
      server.on('server/discover', (visit) => visit.reply(status));
      await expect(connect()).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status });
    }
    expect(asked()).toEqual(['server/discover', 'server/discover']);
  });

  it('[ERA-019] settles a 401 first, and then goes by the answer', async () => {
    let token = '';
    const authorizer: Authorizer = {
      headers: async () => ({ authorization: token }),
      onChallenge: async () => {
        token = 'Bearer good';
        return 'retry';
      },
    };
    server.on('server/discover', (visit) => (visit.headers.authorization === 'Bearer good' ? visit.result(discovery) : visit.reply(401)));
    expect((await connect({ authorizer })).era).toBe('modern');
    expect(asked()).toEqual(['server/discover', 'server/discover']);
  });

  describe('a server of HTTP+SSE', () => {
    let stream: EventStream;

    /** Answers every POST to its address with a status, and speaks HTTP+SSE. */
    function speakSse(status: number, body?: unknown): void {
      server.on(
        (visit) => visit.method === 'POST' && visit.path === '/mcp',
        (visit) => (body === undefined ? visit.reply(status) : visit.json(body, status)),
      );
      server.on('GET', (visit) => {
        stream = visit.stream().event({ event: 'endpoint', data: '/messages' });
      });
      server.on(
        (visit) => visit.path === '/messages',
        (visit) => {
          visit.accept();
          if (visit.message['method'] === 'initialize')
            stream.send({ jsonrpc: '2.0', id: visit.id, result: initializeResult('2024-11-05') });
          if (visit.message['method'] === 'tools/call') stream.send({ jsonrpc: '2.0', id: visit.id, result: { content: [] } });
        },
      );
    }

    it.each([400, 404, 405])('[ERA-018][SSE-012] is spoken to as such where initialize meets a %i', async (status) => {
      speakSse(status);
      const { protocolVersion } = await connect();
      expect(protocolVersion).toBe('2024-11-05');
      expect(asked().slice(0, 5)).toEqual(['server/discover', 'initialize', 'GET', 'initialize', 'notifications/initialized']);
      expect(await client?.callTool('x')).toEqual({ content: [] });
    });

    it('[ERA-018][SSE-013] is found behind an error that is not MCP’s', async () => {
      speakSse(400, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'no' } });
      expect((await connect()).protocolVersion).toBe('2024-11-05');
    });

    it.each([402, 406, 410, 415, 422])(
      '[SSE-011] is not looked for behind a %i either, which only the older texts allow',
      async (status) => {
        speakSse(405);
        server.on('initialize', (visit) => visit.reply(status));
        await expect(connect()).rejects.toMatchObject({ status });
        expect(asked()).not.toContain('GET');
      },
    );

    it.each([401, 403, 429, 500])('[SSE-012] is not looked for behind a %i', async (status) => {
      speakSse(405);
      server.on('initialize', (visit) => visit.reply(status));
      await expect(connect()).rejects.toMatchObject({ status });
      expect(asked()).not.toContain('GET');
    });

    it.each([-32601, -32022, -32020])('[SSE-013] is not looked for behind the modern error %i', async (code) => {
      speakSse(405);
      server.on('initialize', (visit) => visit.error(code, 400));
      await expect(connect()).rejects.toMatchObject({ rpcCode: code });
      expect(asked()).not.toContain('GET');
    });

    it('is not found where the GET is refused, and the first refusal counts', async () => {
      server.on(
        () => true,
        (visit) => (visit.method === 'GET' ? visit.reply(406) : visit.reply(405)),
      );
      await expect(connect()).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 405 });
    });

    it('is not found where its first event is another', async () => {
      speakSse(405);
      server.on('GET', (visit) => void visit.stream().send({ jsonrpc: '2.0', method: 'x' }));
      await expect(connect()).rejects.toMatchObject({ status: 405 });
    });
  });

  describe('what is remembered', () => {
    it('[ERA-003][ERA-004] asks a server that is known as a legacy one no modern question again', async () => {
      answerHandshake(server);
      server.on('server/discover', (visit) => visit.reply(400));
      await connect();
      await client?.close();
      server.visits.length = 0;
      await connect();
      expect(asked().slice(0, 2)).toEqual(['initialize', 'notifications/initialized']);
    });

    it.each<readonly [string, (visit: Visit) => void]>([
      ['400 and -32020', (visit) => visit.error(-32020, 400)],
      ['404 and -32601', (visit) => visit.error(-32601, 404)],
      ['404 and nothing', (visit) => visit.reply(404)],
      ['400 and an error without id', (visit) => visit.json({ jsonrpc: '2.0', error: { code: -32020, message: 'no' } }, 400)],
    ])('[ERA-004][CAP-028] asks it again when it refuses the handshake with %s', async (_, refuse) => {
      answerHandshake(server);
      server.on('server/discover', (visit) => visit.reply(400));
      await connect();
      await client?.close();
      server.visits.length = 0;
      server.on(
        () => true,
        (visit) => visit.reply(405),
      );
      server.on('initialize', refuse);
      server.on('server/discover', (visit) => visit.result(discovery));
      server.on('tools/call', (visit) => visit.result(complete));
      expect((await connect()).era).toBe('modern');
      await client?.callTool('x');
    });

    it('[ERA-003] keeps the verdicts on two addresses apart, and no secret of theirs', async () => {
      const keys = ['/mcp', '/other', '/mcp?key=secret', '/mcp?key=other'].map((path) => httpTransport(new URL(path, server.url)).eraKey);
      expect(new Set(keys).size).toBe(4);
      expect(keys[0]).toBe(server.url);
      expect(keys.join()).not.toContain('secret');
      expect(httpTransport(new URL('/mcp?key=secret#part', server.url)).eraKey).toBe(keys[2]);
    });
  });
});
