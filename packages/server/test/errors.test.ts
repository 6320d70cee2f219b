import { describe, expect, it } from 'vitest';
import { ProtocolError } from '@mortise/jsonrpc-core';
import { McpServer } from '@mortise/server';
import { ALL, LEGACY, type Loose, MODERN, RawPeer } from './raw-peer.ts';
import { createCalculator } from './support.ts';

function createFailing(error: () => unknown): McpServer {
  const server = new McpServer({ name: 'failing', version: '1' });
  server.registerTool('fail', {}, () => {
    throw error();
  });
  server.registerResource('r', 'test://r', {}, () => {
    throw error();
  });
  server.server.setRequestHandler('acme/fail', () => {
    throw error();
  });
  return server;
}

describe.each(ALL)('errors in %s', (version) => {
  it('[ERR-001][CAP-006] are -32601 for an unknown method and for one whose capability is not advertised', async () => {
    const peer = await RawPeer.open(createCalculator(), version);
    for (const method of ['no/such', 'prompts/list', 'resources/read', 'completion/complete', 'toString', '__proto__']) {
      expect((await peer.request(method, { uri: 'test://r' })).error).toEqual({ code: -32601, message: `Method not found: ${method}` });
    }
  });

  it('[ERR-001] are -32600 for what is no request, and the connection lives', async () => {
    const peer = await RawPeer.open(createCalculator(), version);
    for (const bad of [
      { id: 'x', method: 'tools/list' },
      { jsonrpc: '2.0', id: 'x' },
      { jsonrpc: '2.0', id: 'x', method: 5 },
      { jsonrpc: '1.0', id: 'x', method: 'ping' },
      5,
      'text',
    ]) {
      const answer = peer.next((message) => message.error !== undefined);
      peer.send(bad);
      expect((await answer).error?.code).toBe(-32600);
    }
    expect((await peer.callTool('add', { a: 1, b: 1 })).content[0].text).toBe('{"sum":2}');
  });

  it('[ERR-001] are -32602 for params of the wrong type in any field', async () => {
    const server = createCalculator();
    server.registerResource('r', 'test://r', {}, () => 'r');
    server.registerPrompt('p', {}, () => 'p');
    const peer = await RawPeer.open(server, version);
    const bad: [string, Loose][] = [
      ['tools/call', { name: 5 }],
      ['tools/call', { name: 'add', arguments: 'a=1' }],
      ['tools/list', { cursor: {} }],
      ['resources/read', { uri: 5 }],
      ['prompts/get', { name: 'p', arguments: { a: 1 } }],
      ['prompts/get', {}],
      ['tools/list', { _meta: { progressToken: [] } }],
    ];
    for (const [method, params] of bad) expect((await peer.request(method, params)).error?.code).toBe(-32602);
  });

  it('[BASE-012] say one short sentence, whatever the input', async () => {
    const peer = await RawPeer.open(createCalculator(), version);
    const long = 'x'.repeat(10_000);
    for (const [method, params] of [
      [long, {}],
      ['tools/call', { name: long }],
      ['tools/list', { cursor: long }],
    ] as Loose[]) {
      const { error } = await peer.request(method, params);
      expect(error?.message.length).toBeLessThan(300);
      expect(error?.message).not.toContain('\n');
    }
  });

  it('[ERR-014][CAP-025] keep the codes that an application chose, with their data', async () => {
    const peer = await RawPeer.open(
      createFailing(() => new ProtocolError(1234, 'own', [1, null])),
      version,
    );
    expect((await peer.request('acme/fail')).error).toEqual({ code: 1234, message: 'own', data: [1, null] });
  });

  it.each([-32042, -32020, -32021, -32022, -32050, -32099])(
    '[ERR-007][CAP-023] never are %s where the revision does not say so',
    async (code) => {
      const peer = await RawPeer.open(
        createFailing(() => new ProtocolError(code, 'own meaning')),
        version,
      );
      const defined: Record<string, readonly number[]> = { '2025-11-25': [-32042], [MODERN]: [-32020, -32021, -32022] };
      const expected = defined[version]?.includes(code) ? code : -32603;
      expect((await peer.request('acme/fail')).error?.code).toBe(expected);
      expect((await peer.request('tools/call', { name: 'fail' })).error?.code).toBe(expected);
    },
  );
});

describe('an answer to what cannot be read', () => {
  const bad = [{ jsonrpc: '2.0', id: null, method: 'ping' }, []];

  it.each(['a server', 'a gateway'])('[BASE-009] leaves the id out where %s was spoken to in the modern era alone', async (what) => {
    const server = createCalculator();
    if (what === 'a gateway') server.server.onAnyRequest((request) => ({ jsonrpc: '2.0', id: request.id, result: {} }));
    const peer = await RawPeer.attach(server, MODERN);
    for (const request of bad) {
      const answer = peer.next((message) => message.error !== undefined);
      peer.send(request);
      expect(await answer).toMatchObject({ id: null, error: { code: -32600 } });
    }
    await peer.request('tools/list');
    for (const request of bad) {
      const answer = peer.next((message) => message.error !== undefined);
      peer.send(request);
      const { error, ...rest } = await answer;
      expect(error?.code).toBe(-32600);
      expect(rest).toEqual({ jsonrpc: '2.0' });
    }
  });

  it('[BASE-009] has the id null on a connection of both eras whose session knows no answer without one', async () => {
    const peer = await RawPeer.open(createCalculator(), '2025-06-18');
    const meta = { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} };
    expect((await peer.rawRequest('tools/list', { _meta: meta })).result).toBeDefined();
    const answer = peer.next((message) => message.error !== undefined);
    peer.send([]);
    expect(await answer).toMatchObject({ id: null });
  });
});

describe('reserved codes in the modern era', () => {
  it.each([-32000, -32001, -32003, -32019])('[ERR-008][ERR-009][CAP-024] never include %s', async (code) => {
    const peer = await RawPeer.open(
      createFailing(() => new ProtocolError(code, 'habit')),
      MODERN,
    );
    expect((await peer.request('acme/fail')).error?.code).toBe(-32603);
  });

  it('[ERR-011] turn -32002 into the code of a missing resource', async () => {
    const peer = await RawPeer.open(
      createFailing(() => new ProtocolError(-32002, 'Resource not found', { uri: 'test://r' })),
      MODERN,
    );
    expect((await peer.request('resources/read', { uri: 'test://r' })).error).toEqual({
      code: -32602,
      message: 'Resource not found',
      data: { uri: 'test://r' },
    });
  });

  it('[ERR-013] never include -32042', async () => {
    const peer = await RawPeer.open(
      createFailing(() => new ProtocolError(-32042, 'open a page')),
      MODERN,
    );
    expect((await peer.request('tools/call', { name: 'fail' })).error?.code).toBe(-32603);
  });

  it('[ERR-002] answer a method whose capability is missing with -32601, a missing client capability with -32021', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('ask', {}, async (ctx) => JSON.stringify(await ctx.sample({ messages: [], maxTokens: 1 })));
    const peer = await RawPeer.open(server, MODERN);
    expect((await peer.request('prompts/list')).error?.code).toBe(-32601);
    expect((await peer.request('tools/call', { name: 'ask' })).error?.code).toBe(-32021);
  });
});

describe.each(LEGACY)('custom server codes in %s', (version) => {
  it('stay as they are', async () => {
    const peer = await RawPeer.open(
      createFailing(() => new ProtocolError(-32001, 'habit')),
      version,
    );
    expect((await peer.request('acme/fail')).error).toEqual({ code: -32001, message: 'habit' });
  });
});

describe('missing client capabilities', () => {
  const asks: [string, (ctx: Loose) => Promise<unknown>, Loose][] = [
    ['sampling', (ctx) => ctx.sample({ messages: [], maxTokens: 1 }), { sampling: {} }],
    ['roots', (ctx) => ctx.listRoots(), { roots: {} }],
    ['elicitation', (ctx) => ctx.elicit({ message: 'm', requestedSchema: { type: 'object', properties: {} } }), { elicitation: {} }],
    ['elicitation.url', (ctx) => ctx.elicit({ mode: 'url', message: 'm', url: 'https://example.com' }), { elicitation: { url: {} } }],
  ];

  it.each(asks)('[META-016][ERR-005][CAP-005] are -32021 in the modern era, naming %s', async (name, ask, requiredCapabilities) => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('ask', {}, async (ctx) => JSON.stringify(await ask(ctx)));
    const capabilities = name === 'elicitation.url' ? { elicitation: {} } : {};
    const peer = await RawPeer.open(server, MODERN, { capabilities });
    expect((await peer.request('tools/call', { name: 'ask' })).error).toMatchObject({ code: -32021, data: { requiredCapabilities } });
  });

  it.each(asks)('[CAP-001] are a failure of the tool in the legacy era, naming %s', async (name, ask) => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('ask', {}, async (ctx) => JSON.stringify(await ask(ctx)));
    const peer = await RawPeer.open(server, '2025-11-25', { capabilities: name === 'elicitation.url' ? { elicitation: {} } : {} });
    const result = await peer.callTool('ask');
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain(`"${name}"`);
    expect(peer.requests()).toEqual([]);
  });
});
