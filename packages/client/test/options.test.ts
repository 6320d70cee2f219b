/** What a program gives a client: what is misspelt or of the wrong kind would silently have no effect. */

import type { Transport } from '@mortise/jsonrpc-core';
import { NEWEST_LEGACY } from '@mortise/protocol';
import type { ElicitResult } from '@mortise/protocol/model';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { describe, expect, it } from 'vitest';
import { type CallOptions, type ClientOptions, McpClient } from '../src/index.ts';
import { info, legacyScript, ScriptedServer } from './scripted-server.ts';

const counts = ['keepAliveMs'];
const amounts = ['probeTimeoutMs', 'requestTimeoutMs', 'maxRequestTimeoutMs', 'asksPerMinute'];
const cases = [...counts.map((path) => ({ path, least: 1 })), ...amounts.map((path) => ({ path, least: 0 }))];

const open = (): Promise<McpClient> =>
  McpClient.connect(new ScriptedServer(legacyScript(NEWEST_LEGACY.version)).factory, info, { era: 'legacy' });

describe("a client's option", () => {
  it.each(cases)(
    '[ROBUSTNESS-7] $path is refused, by its name and what it is, unless it is a number of $least or more',
    ({ path, least }) => {
      const make = (value: unknown): McpClient => new McpClient(info, { [path]: value } as ClientOptions);
      const bad = [
        [Number.NaN, 'NaN'],
        [least - 1, `${least - 1}`],
        ['1mb', '"1mb"'],
        [null, 'null'],
      ] as const;
      for (const [value, text] of bad) {
        expect(() => make(value)).toThrow(new TypeError(`client options: "${path}" must be a number, ${least} or more, got ${text}`));
      }
      for (const value of [undefined, least, 2.5, Infinity]) expect(() => make(value)).not.toThrow();
    },
  );

  it('[ROBUSTNESS-7] that is no number rejects connecting before anything is started', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    await expect(McpClient.connect(server.factory, info, { requestTimeoutMs: Number.NaN })).rejects.toThrow('"requestTimeoutMs"');
    expect(server.starts).toBe(0);
  });

  it('that does not exist is an error that lists those that do', async () => {
    const misspelt = { elicitaton: () => ({ action: 'cancel' }) } as object;
    const { factory } = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    const known = /unknown option "elicitaton" \(known: .*\belicitation\b.*\)/u;
    expect(() => new McpClient(info, misspelt)).toThrow(known);
    await expect(McpClient.connect(factory, info, misspelt)).rejects.toThrow(/\brequires\b/u);
    await expect(McpClient.connect(factory, info, misspelt)).rejects.toThrow(known);
    await expect(new McpClient(info).connect(factory, { require: ['tools'] } as object)).rejects.toThrow(
      'connect() options: unknown option "require" (known: signal, requires)',
    );
    expect(() => new McpClient(info, { elicitation: { forms: 1 } } as object)).toThrow(/unknown option "forms"/u);
  });

  it('of a call that does not exist is an error that lists those that do, such as timeoutMs for the timeout of other SDKs', async () => {
    await using client = await open();
    const options = { timeout: 1000 } as CallOptions;
    for (const call of [client.callTool('x', {}, options), client.listTools({}, options), client.ping(options)])
      await expect(call).rejects.toThrow(/unknown option "timeout" \(known: signal, timeoutMs, /u);
    const misspelt = client.callTool({ name: 'x', args: { a: 1 } });
    await expect(misspelt).rejects.toThrow(
      new TypeError('the params of callTool: unknown option "args" (known: name, arguments, task, inputResponses, requestState, _meta)'),
    );
    await expect(client.tools(options).next()).rejects.toThrow(/unknown option "timeout" /u);
  });
});

it('without which nothing could be spoken or given up is an error', async () => {
  const { factory } = new ScriptedServer({});
  await expect(McpClient.connect(factory, info, { revisions: [] })).rejects.toThrow('"revisions" must contain a revision');
  const signal = {} as AbortSignal;
  await expect(McpClient.connect(factory, info, { signal })).rejects.toThrow('"signal" must be an AbortSignal, got an object');
  await using client = await open();
  await expect(client.callTool('x', {}, { signal })).rejects.toThrow('"signal" must be an AbortSignal, got an object');
  await expect(client.request(5 as never, {} as never)).rejects.toThrow('request() needs a method name');
  await expect(client.requestRaw(5 as never)).rejects.toThrow('request() needs a method name');
});

describe('an argument that other SDKs take in this place is an error that says what to give:', () => {
  it('a client without a name and a version', async () => {
    const says = 'A client needs a name and a version: pass { name: "my-app", version: "1.0.0" } as its info';
    for (const wrong of [undefined, {}, { name: 'x' }, { era: 'legacy' }]) expect(() => new McpClient(wrong as never)).toThrow(says);
    await expect(McpClient.connect({} as Transport, undefined as never)).rejects.toThrow(says);
  });

  it('a schema object in place of a method', () => {
    const client = new McpClient(info);
    const schema = { shape: { method: { value: 'elicitation/create' } } } as never;
    expect(() => client.setRequestHandler(schema, () => ({}))).toThrow(
      'setRequestHandler() needs a method name, such as "elicitation/create"',
    );
    expect(() => client.onNotification(schema, () => undefined)).toThrow('onNotification() needs a method name');
  });
});

describe('where nothing else is given,', () => {
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** Lets time pass until just before something happens, and then the last millisecond. */
  async function expectAfter(clock: FakeClock, ms: number, event: Promise<unknown>): Promise<void> {
    let hasHappened = false;
    void event.catch(() => undefined).then(() => (hasHappened = true));
    clock.advance(ms - 1);
    await settled();
    expect(hasHappened).toBe(false);
    clock.advance(1);
    await event.catch(() => undefined);
  }

  it('the first messages wait for 3 and for 30 seconds', async () => {
    const clock = new FakeClock();
    const silence = (): 'silence' => 'silence';
    const server = new ScriptedServer({ 'server/discover': silence, initialize: silence });
    const connecting = McpClient.connect(server.factory, info, { clock });
    await server.nextMethod('server/discover');
    await expectAfter(clock, 3000, server.nextMethod('initialize'));
    await expectAfter(clock, 30_000, connecting);
    await expect(connecting).rejects.toThrow('within 30000 ms');
  });

  it('a call waits for a minute, and a list has at most 1,000 pages', async () => {
    const clock = new FakeClock();
    let pages = 0;
    const script = legacyScript(NEWEST_LEGACY.version, {
      ping: () => 'silence',
      'tools/list': () => ({ result: { tools: [], nextCursor: String((pages += 1)) } }),
    });
    const server = new ScriptedServer(script);
    await using client = await McpClient.connect(server.factory, info, { era: 'legacy', clock });
    const ping = client.ping();
    await server.nextMethod('ping');
    await expectAfter(clock, 60_000, ping);
    await expect(ping).rejects.toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 60_000 });
    await expect(client.tools().next()).rejects.toThrow('more than 1000 pages');
  });

  it('a server may ask 60 times a minute', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    const elicitation = (): ElicitResult => ({ action: 'decline' });
    const clock = new FakeClock();
    await using client = await McpClient.connect(server.factory, info, { era: 'legacy', clock, elicitation });
    const ask = async (id: number): Promise<object> => {
      const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
      await server.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
      return server.next((message) => !('method' in message) && message.id === id);
    };
    for (let id = 1; id <= 60; id += 1) expect(await ask(id)).toHaveProperty('result');
    expect(await ask(61)).toMatchObject({ error: { code: -32000 } });
    expect(client.isConnected).toBe(true);
  });

  it('a legacy server is pinged every keepAliveMs, and given up after three pings without an answer', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version, { ping: () => 'silence' }));
    await using client = await McpClient.connect(server.factory, info, { era: 'legacy', clock, keepAliveMs: 30_000 });
    await settled();
    for (const count of [1, 2, 3]) {
      const asked = async (): Promise<void> => {
        while (server.requests('ping').length < count) await settled();
      };
      await expectAfter(clock, 30_000, asked());
      expect(client.isConnected).toBe(true);
      clock.advance(10_000);
      await settled();
    }
    while (client.isConnected) await settled();
  });
});

describe('a bound of', () => {
  it('[ROBUSTNESS-7] one call must be a number', async () => {
    await using client = await open();
    await expect(client.tools({ timeoutMs: Number.NaN }).next()).rejects.toThrow('"timeoutMs" must be a number, 0 or more, got NaN');
  });
});
