/** Servers that go without a word, and connections that come to their end. */

import { revisionsOf } from '@mortise/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, McpClient } from '../src/index.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { info, legacyScript, modernScript, type Reply, type Script, ScriptedServer } from './scripted-server.ts';

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const fast = 1000;

async function connect(script: Script, options: ClientOptions): Promise<{ client: McpClient; server: ScriptedServer; clock: FakeClock }> {
  const clock = new FakeClock();
  const server = new ScriptedServer(script);
  const client = await McpClient.connect(server.factory, info, { clock, ...options });
  open.push(client);
  await settle();
  return { client, server, clock };
}

/** Lets what is under way arrive. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Resolves once the client has sent so many pings and their answers have come. */
async function untilPings(server: ScriptedServer, count: number): Promise<void> {
  while (server.requests('ping').length < count) await settle();
  await settle();
}

describe.each(revisionsOf('legacy'))('keepAlive in $version', ({ version }) => {
  it('[PING-004] asks the server every so often, again and again', async () => {
    const { server, clock } = await connect(legacyScript(version), { era: 'legacy', keepAliveMs: fast });
    for (const count of [1, 2]) {
      clock.advance(999);
      await settle();
      expect(server.requests('ping')).toHaveLength(count - 1);
      clock.advance(1);
      await untilPings(server, count);
    }
  });

  it('[PING-003] takes the connection for lost where so many pings in a row are not answered, and opens it again', async () => {
    const { client, server, clock } = await connect(
      legacyScript(version, { ping: () => 'silence', 'tools/list': () => ({ result: { tools: [] } }) }),
      {
        era: 'legacy',
        keepAliveMs: fast,
      },
    );
    for (let count = 1; count <= 3; count += 1) {
      clock.advance(1000);
      await untilPings(server, count);
      clock.advance(10_000);
      await settle();
    }
    while (client.isConnected) await settle();
    const listed = client.listTools();
    while (server.starts < 2) {
      await settle();
      clock.advance(500);
    }
    await expect(listed).resolves.toMatchObject({ tools: [] });
  });
});

it('keepAlive counts an error as an answer', async () => {
  const { client, server, clock } = await connect(
    legacyScript('2025-11-25', { ping: (): Reply => ({ error: { code: -32601, message: 'no' } }) }),
    { era: 'legacy', keepAliveMs: fast },
  );
  for (let count = 1; count <= 4; count += 1) {
    clock.advance(1000);
    await untilPings(server, count);
  }
  expect(client.isConnected).toBe(true);
});

it('[PING-005] keepAlive sends nothing to a modern server', async () => {
  const { server, clock } = await connect(modernScript(), { keepAliveMs: fast });
  await settle();
  clock.advance(100_000);
  await settle();
  expect(server.methods).toEqual(['server/discover']);
});

describe('closed', () => {
  it('resolves on close, and not when a connection is lost that will be opened again', async () => {
    const { client, server, clock } = await connect(legacyScript('2025-11-25', { 'tools/list': () => ({ result: { tools: [] } }) }), {
      era: 'legacy',
    });
    let isClosed = false;
    void client.closed.then(() => {
      isClosed = true;
    });
    await server.die();
    while (client.isConnected) await settle();
    const listed = client.listTools();
    while (!client.isConnected) {
      await settle();
      clock.advance(1000);
    }
    await listed;
    expect(isClosed).toBe(false);
    const { closed } = client;
    await client.close();
    await closed;
    await client.connect(server.factory);
    expect(client.closed).not.toBe(closed);
  });

  it('resolves when a connection is lost that cannot be opened again', async () => {
    const server = new ScriptedServer(legacyScript('2025-11-25'));
    const client = await McpClient.connect(server.factory(), info, { era: 'legacy' });
    open.push(client);
    await server.die();
    await client.closed;
    expect(client.isConnected).toBe(false);
  });

  it('resolves where connecting fails', async () => {
    const client = new McpClient(info, { era: 'legacy' });
    const server = new ScriptedServer({});
    await expect(client.connect(server.factory)).rejects.toThrow();
    await client.closed;
  });
});

it('a server that writes noise instead of an answer is named by what it wrote, when its time is over', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer({ initialize: () => 'silence' });
  const source = () => {
    const transport = server.factory();
    const start = transport.start.bind(transport);
    transport.start = async () => {
      await start();
      transport.onerror?.(new Error('The line begins with "Listening on"'));
    };
    return transport;
  };
  const connecting = McpClient.connect(source, info, { era: 'legacy', clock });
  connecting.catch(() => undefined);
  await server.nextMethod('initialize');
  clock.advance(30_000);
  await expect(connecting).rejects.toMatchObject({
    code: 'ERR_TIMEOUT',
    message: expect.stringContaining('Listening on'),
    cause: { message: 'The line begins with "Listening on"' },
  });
});

describe('the first message', () => {
  it.each([
    { what: 'initialize', options: { era: 'legacy' }, asks: 'initialize' },
    { what: 'discovery of a client that speaks the modern era alone', options: { era: 'modern' }, asks: 'server/discover' },
  ] as const)('of $what is waited for 30 seconds, or as long as requestTimeoutMs says where that is less', async ({ options, asks }) => {
    for (const [given, boundMs] of [
      [undefined, 30_000],
      [50, 50],
    ] as const) {
      const clock = new FakeClock();
      const server = new ScriptedServer({ [asks]: () => 'silence' });
      const connecting = McpClient.connect(server.factory, info, { ...options, clock, requestTimeoutMs: given });
      connecting.catch(() => undefined);
      await server.nextMethod(asks);
      clock.advance(boundMs - 1);
      await Promise.resolve();
      expect(clock.running).toBeGreaterThan(0);
      clock.advance(1);
      await expect(connecting).rejects.toMatchObject({ code: 'ERR_TIMEOUT', message: expect.stringContaining(`${boundMs} ms`) });
    }
  });
});
