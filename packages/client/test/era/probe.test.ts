/** Which era a channel's server is found to speak. */

import { ConnectionClosedError, type JsonObject, RemoteError } from '@mortise/jsonrpc-core';
import { NEWEST, NEWEST_LEGACY, REVISIONS, type Revision, revisionsOf } from '@mortise/protocol';
import { META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import { describe, expect, it } from 'vitest';
import { type ClientOptions, McpClient, UnsupportedVersionError } from '../../src/index.ts';
import { ProcessEraMemory } from '../../src/era/era-memory.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import {
  allCapabilities,
  info,
  legacyScript,
  modernScript,
  type Reply,
  type Script,
  ScriptedServer,
  serverInfo,
} from '../scripted-server.ts';

/** A modern revision that does not exist yet, to have a choice between two. */
const next: Revision = { ...NEWEST, version: '2027-03-01' };
const withNext = [next, ...REVISIONS];

function unsupported(supported: readonly string[], requested: string = NEWEST.version): Reply {
  return { error: { code: -32022, message: 'Unsupported protocol version', data: { supported, requested } } };
}

/** The transports of a server whose name is known. */
function named(server: ScriptedServer, eraKey: string): ScriptedServer['factory'] {
  return Object.assign(server.factory, { eraKey });
}

function versionOf(params: JsonObject | undefined): unknown {
  return (params?.['_meta'] as JsonObject)[META_PROTOCOL_VERSION];
}

describe('a channel', () => {
  it('[ERA-005][ERA-012][VERS-007] is asked server/discover first, with the preferred version and nothing but _meta', async () => {
    const server = new ScriptedServer(modernScript());
    const client = await McpClient.connect(server.factory, info, { era: 'modern' });
    expect(server.methods).toEqual(['server/discover']);
    expect(server.requests('server/discover')[0]?.params).toEqual({
      _meta: { [META_PROTOCOL_VERSION]: NEWEST.version, [META_CLIENT_CAPABILITIES]: {}, [META_CLIENT_INFO]: info },
    });
    await client.close();
  });

  it('[ERA-006][VERS-010] that answers a DiscoverResult is spoken to in a version from its list', async () => {
    const server = new ScriptedServer(
      modernScript(
        { 'tools/call': () => ({ result: { resultType: 'complete', content: [] } }) },
        { supportedVersions: [NEWEST.version, '1999-01-01'] },
      ),
    );
    const client = await McpClient.connect(server.factory, info, { revisions: withNext });
    expect(versionOf(server.requests('server/discover')[0]?.params)).toBe(next.version);
    await client.callTool('x');
    expect(versionOf(server.requests('tools/call')[0]?.params)).toBe(NEWEST.version);
    expect(client.era).toBe('modern');
    expect(client.serverInfo).toEqual(serverInfo);
    await client.close();
  });

  it('[VERS-001] of the modern era is never sent initialize or initialized', async () => {
    const server = new ScriptedServer(modernScript({ 'tools/list': () => ({ result: { resultType: 'complete', tools: [] } }) }));
    const client = await McpClient.connect(server.factory, info);
    await client.listTools();
    expect(server.methods).toEqual(['server/discover', 'tools/list']);
    await client.close();
  });

  it('[ERA-007][VERS-004] that refuses the version is asked again in one that it supports, and never to initialize', async () => {
    const discover = modernScript()['server/discover'];
    const server = new ScriptedServer({
      'server/discover': (request, self) =>
        versionOf(request.params) === NEWEST.version && discover ? discover(request, self) : unsupported(['1999-01-01', NEWEST.version]),
    });
    const client = await McpClient.connect(server.factory, info, { revisions: withNext });
    expect(server.methods).toEqual(['server/discover', 'server/discover']);
    expect(client.protocolVersion).toBe(NEWEST.version);
    await client.close();
  });

  it('[VERS-004] that refuses the only common version and names it is asked once more in it, and no third time', async () => {
    let refusals = 1;
    const discover = modernScript()['server/discover'];
    const server = new ScriptedServer({
      'server/discover': (request, self) => (refusals-- > 0 || !discover ? unsupported([NEWEST.version]) : discover(request, self)),
    });
    const client = await McpClient.connect(server.factory, info);
    expect(client.protocolVersion).toBe(NEWEST.version);
    await client.close();
    refusals = Infinity;
    const stubborn = McpClient.connect(server.factory, info, { era: 'modern' });
    await expect(stubborn).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED_VERSION', supported: [NEWEST.version] });
    expect(server.methods).toEqual(['server/discover', 'server/discover', 'server/discover', 'server/discover']);
  });

  it('[VERS-004] that refuses every version is asked once in each and then given up with both lists', async () => {
    const server = new ScriptedServer({
      'server/discover': (request) => unsupported([next.version, NEWEST.version], String(versionOf(request.params))),
    });
    const connecting = McpClient.connect(server.factory, info, { revisions: withNext });
    await expect(connecting).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED_VERSION', supported: [next.version, NEWEST.version] });
    expect(server.methods).toEqual(['server/discover', 'server/discover']);
  });

  it('[ERA-007] that refuses the version and shares none is not asked to initialize', async () => {
    for (const [supported, named] of [
      [['2099-01-01', '2098-01-01'], '2099-01-01, 2098-01-01'],
      [[], 'none'],
    ] as const) {
      const server = new ScriptedServer({ 'server/discover': () => unsupported(supported) });
      const connecting = McpClient.connect(server.factory, info);
      await expect(connecting).rejects.toBeInstanceOf(UnsupportedVersionError);
      await expect(connecting).rejects.toThrow(`no common version: the server supports ${named}, this client supports `);
      expect(server.methods).toEqual(['server/discover']);
    }
  });

  it.each([
    { code: -32020, what: 'a header mismatch' },
    { code: -32021, what: 'a missing capability' },
  ])('[ERA-007] that answers the probe with $what is modern, and the error is surfaced', async ({ code }) => {
    const server = new ScriptedServer({ 'server/discover': () => ({ error: { code, message: 'no' } }) });
    await expect(McpClient.connect(server.factory, info)).rejects.toMatchObject({ code: 'ERR_REMOTE', rpcCode: code });
    expect(server.methods).toEqual(['server/discover']);
  });

  it.each([
    { how: 'refuses and lists', script: { 'server/discover': () => unsupported(['2025-06-18']) } satisfies Script },
    { how: 'discovers and lists', script: modernScript({}, { supportedVersions: ['2025-06-18'] }) },
  ])('[ERA-026] that $how legacy versions only is spoken to through initialize at that version', async ({ script }) => {
    const server = new ScriptedServer({ ...legacyScript('2025-06-18'), ...script });
    const client = await McpClient.connect(server.factory, info);
    expect(server.requests('initialize')[0]?.params?.['protocolVersion']).toBe('2025-06-18');
    expect(client.protocolVersion).toBe('2025-06-18');
    await client.close();
  });

  it('[ERA-026] that lists a modern version beside legacy ones is spoken to in the modern one', async () => {
    const server = new ScriptedServer(modernScript({}, { supportedVersions: REVISIONS.map(({ version }) => version) }));
    const client = await McpClient.connect(server.factory, info);
    expect(client.protocolVersion).toBe(NEWEST.version);
    await client.close();
  });

  const legacyAnswers: { readonly what: string; readonly reply: Reply }[] = [
    ...[-32601, -32602, -32600, -32603, -32700, -32000, -32001, -32003, -32004, -1, 1].map((code) => ({
      what: `the error ${code}`,
      reply: { error: { code, message: 'what?' } },
    })),
    { what: 'an empty result', reply: { result: {} } },
    { what: 'a result without capabilities', reply: { result: { supportedVersions: [NEWEST.version] } } },
  ];
  it.each(legacyAnswers)('[ERA-008][ERA-009] that answers the probe with $what is legacy', async ({ reply }) => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version, { 'server/discover': () => reply }));
    const client = await McpClient.connect(server.factory, info);
    expect(client.era).toBe('legacy');
    expect(server.methods).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
    await client.close();
  });

  it('[ERA-008][ERA-010] that is silent for probeTimeoutMs is legacy: initialize goes out with a fresh id and the late reply is ignored', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(
      legacyScript(NEWEST_LEGACY.version, { 'server/discover': () => 'silence', 'tools/list': () => ({ result: { tools: [] } }) }),
    );
    const connecting = McpClient.connect(server.factory, info, { clock, probeTimeoutMs: 3000 });
    await server.nextMethod('server/discover');
    await clock.untilScheduled();
    clock.advance(2999);
    expect(server.methods).toEqual(['server/discover']);
    clock.advance(1);
    const client = await connecting;
    const [probe] = server.requests('server/discover');
    expect(server.requests('initialize')[0]?.id).not.toBe(probe?.id);
    const late = modernScript()['server/discover'];
    if (probe && late) await server.send({ jsonrpc: '2.0', id: probe.id, ...((await late(probe, server)) as { result: JsonObject }) });
    await client.listTools();
    expect(client.era).toBe('legacy');
    await client.close();
  });

  it('[ERA-010] that is slow but refuses initialize turns out to be modern by its late answer', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer({});
    server.script = {
      'server/discover': () => 'silence',
      initialize: async () => {
        const [probe] = server.requests('server/discover');
        const late = modernScript()['server/discover'];
        if (probe && late) await server.send({ jsonrpc: '2.0', id: probe.id, ...((await late(probe, server)) as { result: JsonObject }) });
        return { error: { code: -32601, message: 'Method not found' } };
      },
    };
    const connecting = McpClient.connect(server.factory, info, { clock });
    await server.nextMethod('server/discover');
    await clock.untilScheduled();
    clock.advance(3000);
    const client = await connecting;
    expect(client.era).toBe('modern');
    await client.close();
  });

  it('[ERA-008] of which nothing is heard at all is given up with the error of initialize', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer({
      'server/discover': () => 'silence',
      initialize: () => ({ error: { code: -32603, message: 'broken' } }),
    });
    const connecting = McpClient.connect(server.factory, info, { clock });
    await server.nextMethod('server/discover');
    await clock.untilScheduled();
    clock.advance(3000);
    await expect(connecting).rejects.toThrow(RemoteError);
  });

  it('[ERA-011] that dies on the probe is started again and goes straight to initialize', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version, { 'server/discover': () => 'die' }));
    const client = await McpClient.connect(server.factory, info);
    expect(server.starts).toBe(2);
    expect(server.methods).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
    expect(client.era).toBe('legacy');
    await client.close();
  });

  it('[ERA-011] whose process refuses initialize after the probe is started again and goes straight to initialize', async () => {
    const { initialize = (): Reply => 'silence' } = legacyScript(NEWEST_LEGACY.version);
    const server: ScriptedServer = new ScriptedServer({
      initialize: (...asked) =>
        server.starts === 1 ? { error: { code: -32600, message: 'initialize comes first' } } : initialize(...asked),
    });
    const client = await McpClient.connect(server.factory, info);
    expect(server.starts).toBe(2);
    expect(server.methods).toEqual(['server/discover', 'initialize', 'initialize', 'notifications/initialized']);
    await client.close();
  });

  it.each([{ code: 400 }, { status: 404 }])('[ERA-011] whose transport rejects the probe with %j is taken for legacy', async (members) => {
    const transport = new ScriptedServer(legacyScript(NEWEST_LEGACY.version)).factory();
    const send = transport.send.bind(transport);
    transport.send = (message, options) =>
      'method' in message && message.method === 'server/discover'
        ? Promise.reject(Object.assign(new Error('refused'), members))
        : send(message, options);
    const client = await McpClient.connect(transport, info);
    expect(client.era).toBe('legacy');
    await client.close();
  });

  it('of others is given the signal of each request as requestSignal, to close the stream of a cancelled one', async () => {
    const server = new ScriptedServer(modernScript({ 'tools/call': () => 'silence' }));
    const transport = server.factory();
    const send = transport.send.bind(transport);
    let given: AbortSignal | undefined;
    transport.send = (message, options) => {
      if ('method' in message && message.method === 'tools/call') given = (options as { requestSignal?: AbortSignal }).requestSignal;
      return send(message, options);
    };
    const client = await McpClient.connect(transport, info);
    const controller = new AbortController();
    const call = client.callTool('x', {}, { signal: controller.signal });
    controller.abort(new Error('never mind'));
    await expect(call).rejects.toThrow('never mind');
    expect(given?.aborted).toBe(true);
    await client.close();
  });

  it('[ERA-011] that dies on the probe and cannot be started again is an error that names the remedy', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version, { 'server/discover': () => 'die' }));
    await expect(McpClient.connect(server.factory(), info)).rejects.toThrow(/pass connect\(\) a factory/u);
  });

  it('is closed when connecting is given up, and rejects with the reason', async () => {
    const server = new ScriptedServer({ 'server/discover': () => 'silence' });
    const controller = new AbortController();
    const connecting = McpClient.connect(server.factory, info, { signal: controller.signal });
    await server.nextMethod('server/discover');
    controller.abort(new Error('never mind'));
    await expect(connecting).rejects.toThrow('never mind');
  });

  it.each([
    ['start', { start: () => new Promise<void>(() => undefined) }, {}],
    [
      'eraMemory',
      { eraKey: 'a server' },
      { eraMemory: { get: () => new Promise<undefined>(() => undefined), set: () => {}, delete: () => {} } },
    ],
  ])(
    'whose %s never ends is given up by the signal of connect() at once, and is closed',
    async (_what, members, options: ClientOptions) => {
      const server = new ScriptedServer(modernScript());
      const transport = Object.assign(server.factory(), members);
      const closed = new Promise<void>((resolve) => (transport.onclose = resolve));
      const controller = new AbortController();
      const connecting = McpClient.connect(transport, info, { ...options, signal: controller.signal });
      controller.abort(new Error('never mind'));
      await expect(connecting).rejects.toThrow('never mind');
      await closed;
    },
  );

  it("answers a ping while its server's era is not known", async () => {
    const server = new ScriptedServer({
      'server/discover': async (_request, self) => {
        await self.send({ jsonrpc: '2.0', id: 'p', method: 'ping' });
        await self.next((message) => 'result' in message && message.id === 'p');
        return { error: { code: -32601, message: 'no' } };
      },
      ...legacyScript(NEWEST_LEGACY.version),
    });
    const client = await McpClient.connect(server.factory, info);
    expect(server.received).toContainEqual({ jsonrpc: '2.0', id: 'p', result: {} });
    await client.close();
  });
});

describe('a pinned client', () => {
  it('sends no probe to a server that it takes for legacy', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    const client = await McpClient.connect(server.factory, info, { era: 'legacy' });
    expect(server.methods).toEqual(['initialize', 'notifications/initialized']);
    await client.close();
  });

  it.each(revisionsOf('legacy'))('offers $version when it is pinned to that', async ({ version }) => {
    const server = new ScriptedServer(legacyScript(version));
    const client = await McpClient.connect(server.factory, info, { protocolVersion: version });
    expect(server.requests('initialize')[0]?.params?.['protocolVersion']).toBe(version);
    await client.close();
  });

  it('[LIFE-009] disconnects from a server that wants another version than the pinned one', async () => {
    const server = new ScriptedServer(legacyScript('2024-11-05'));
    await expect(McpClient.connect(server.factory, info, { protocolVersion: '2025-06-18' })).rejects.toMatchObject({
      code: 'ERR_UNSUPPORTED_VERSION',
      supported: ['2024-11-05'],
      offered: ['2025-06-18'],
    });
  });

  it('never falls back from the modern era', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    await expect(McpClient.connect(server.factory, info, { era: 'modern' })).rejects.toBeInstanceOf(UnsupportedVersionError);
    expect(server.methods).toEqual(['server/discover']);
  });

  it('names the versions that exist when it is pinned to one that does not', async () => {
    const server = new ScriptedServer({});
    await expect(McpClient.connect(server.factory, info, { protocolVersion: '1999-01-01' })).rejects.toThrow(
      /"1999-01-01": use one of 2026-07-28/u,
    );
    expect(server.starts).toBe(0);
  });
});

describe('the memory of eras', () => {
  it('[ERA-003][CAP-028] spares a server that is known to be legacy the probe', async () => {
    const eraMemory = new Map();
    const options = { eraMemory };
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    const source = named(server, 'node server.js');
    await (await McpClient.connect(source, info, options)).close();
    expect(eraMemory.get('node server.js')).toEqual({ era: 'legacy', protocolVersion: NEWEST_LEGACY.version });
    await (await McpClient.connect(source, info, options)).close();
    expect(server.requests('server/discover')).toHaveLength(1);
    expect(server.requests('initialize')).toHaveLength(2);
  });

  it('[ERA-003] is asked once per restart, not per request', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version, { 'tools/list': () => ({ result: { tools: [] } }) }));
    const client = await McpClient.connect(server.factory, info);
    await client.listTools();
    await client.listTools();
    expect(server.requests('server/discover')).toHaveLength(1);
    await client.close();
  });

  it('uses the name that the transport gives its server', async () => {
    const eraMemory = new Map();
    const server = new ScriptedServer(modernScript());
    await (await McpClient.connect(named(server, 'cmd arg'), info, { eraMemory })).close();
    expect(eraMemory.get('cmd arg')).toEqual({ era: 'modern', protocolVersion: NEWEST.version });
  });

  const refusals: { readonly how: string; readonly reply: Reply }[] = [
    { how: 'refuses initialize', reply: { error: { code: -32601, message: 'speaks 2026-07-28' } } },
    { how: 'ends at initialize', reply: 'die' },
  ];
  it.each(refusals)('[ERA-004][CAP-028] is corrected when a server that was legacy $how', async ({ reply }) => {
    const eraMemory = new Map();
    void eraMemory.set('k', { era: 'legacy', protocolVersion: NEWEST_LEGACY.version });
    const server = new ScriptedServer(modernScript({ initialize: () => reply }));
    const client = await McpClient.connect(named(server, 'k'), info, { eraMemory });
    expect(client.era).toBe('modern');
    expect(eraMemory.get('k')).toEqual({ era: 'modern', protocolVersion: NEWEST.version });
    await client.close();
  });

  it('[ERA-004] is corrected when a server that was modern has become legacy', async () => {
    const eraMemory = new Map();
    void eraMemory.set('k', { era: 'modern', protocolVersion: NEWEST.version });
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    const client = await McpClient.connect(named(server, 'k'), info, { eraMemory });
    expect(client.era).toBe('legacy');
    expect(eraMemory.get('k')).toMatchObject({ era: 'legacy' });
    await client.close();
  });

  it('[ERA-004] never keeps a verdict that rests on silence', async () => {
    const clock = new FakeClock();
    const eraMemory = new Map();
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version, { 'server/discover': () => 'silence' }));
    const connecting = McpClient.connect(named(server, 'k'), info, { clock, eraMemory });
    await server.nextMethod('server/discover');
    await clock.untilScheduled();
    clock.advance(3000);
    await (await connecting).close();
    expect(eraMemory.get('k')).toBeUndefined();
  });

  it('costs a probe where it fails, and never the connection', async () => {
    const errors: string[] = [];
    const fail = (): never => {
      throw new Error('disk full');
    };
    const server = new ScriptedServer(modernScript());
    const eraMemory = { get: () => Promise.reject(new Error('disk gone')), set: fail, delete: fail };
    const client = await McpClient.connect(named(server, 'k'), info, {
      eraMemory,
      onError: ({ message }) => errors.push(message),
    });
    expect(client.era).toBe('modern');
    expect(errors).toEqual(['disk gone', 'disk full']);
    await client.close();
  });

  it('holds a bounded number of servers, the oldest going first', () => {
    const memory = new ProcessEraMemory();
    for (let i = 0; i <= 1000; i += 1) void memory.set(`k${i}`, { era: 'modern', protocolVersion: NEWEST.version });
    expect(memory.get('k0')).toBeUndefined();
    expect(memory.get('k1000')).toBeDefined();
  });
});

it('rejects what waits when a transport without a factory ends', async () => {
  const server = new ScriptedServer(modernScript({ 'tools/list': () => 'die' }));
  const client = await McpClient.connect(server.factory(), info);
  await expect(client.listTools()).rejects.toBeInstanceOf(ConnectionClosedError);
  await expect(client.listTools()).rejects.toThrow(/pass connect\(\) a factory/u);
  expect(client.isConnected).toBe(false);
  await client.close();
});

it('declares everything that its server can do', async () => {
  const server = new ScriptedServer(modernScript({}, { instructions: 'be nice' }));
  const client = await McpClient.connect(server.factory, info);
  expect(client.serverCapabilities).toEqual(allCapabilities);
  expect(client.instructions).toBe('be nice');
  await client.close();
});
