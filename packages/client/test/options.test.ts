/** The figures that a program gives a client: one that is none would silently switch a bound or a time limit off. */

import type { CompleterOptions } from '../src/completer.ts';
import { describe, expect, it } from 'vitest';
import { createResultCache, type ResultCacheOptions } from '../src/cache.ts';
import { createCompleter, fetchIcon } from '../src/host.ts';
import { type ClientOptions, McpClient } from '../src/index.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { info, legacyScript, ScriptedServer } from './scripted-server.ts';
import { NEWEST_LEGACY } from '@mortise/protocol';
import type { ElicitResult } from '@mortise/protocol/model';

const counts = ['maxPages', 'keepAlive.intervalMs', 'keepAlive.failures'];
const amounts = [
  'probeTimeoutMs',
  'initializeTimeoutMs',
  'requestTimeoutMs',
  'maxRequestTimeoutMs',
  'maxInFlightBytes',
  'maxInputRounds',
  'keepAlive.timeoutMs',
  'askLimits.elicitationsPerMinute',
  'askLimits.samplingsPerMinute',
  'elicitation.pageTimeoutMs',
];
const cases = [...counts.map((path) => ({ path, least: 1 })), ...amounts.map((path) => ({ path, least: 0 }))];

const open = (): Promise<McpClient> =>
  McpClient.connect(new ScriptedServer(legacyScript(NEWEST_LEGACY.version)).factory, info, { era: 'legacy' });

describe("a client's option", () => {
  it.each(cases)(
    '[ROBUSTNESS-7] $path is refused, by its name and what it is, unless it is a number of $least or more',
    ({ path, least }) => {
      const [name = '', member] = path.split('.');
      const make = (value: unknown): McpClient =>
        new McpClient(info, { [name]: member === undefined ? value : { [member]: value } } as ClientOptions);
      const where = member === undefined ? `: "${name}"` : `: ${name}: "${member}"`;
      const bad = [
        [Number.NaN, 'NaN'],
        [least - 1, `${least - 1}`],
        ['1mb', '"1mb"'],
      ] as const;
      for (const [value, text] of bad) {
        expect(() => make(value)).toThrow(new RangeError(`the client's options${where} must be a number, ${least} or more, got ${text}`));
      }
      for (const value of [undefined, null, least, 2.5, Infinity]) expect(() => make(value)).not.toThrow();
    },
  );

  it('[ROBUSTNESS-7] that is no number rejects connecting before anything is started', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    await expect(McpClient.connect(server.factory, info, { requestTimeoutMs: Number.NaN })).rejects.toThrow('"requestTimeoutMs"');
    expect(server.starts).toBe(0);
  });
});

describe('a bound that is null, as a configuration read from JSON may say,', () => {
  const nulls = (...names: string[]): object => Object.fromEntries(names.map((name) => [name, null]));
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

  it('is the usual one: of the first messages', async () => {
    // It is loaded when it is needed, which takes turns that are not counted here.
    await import('../src/era/handshake.ts');
    const clock = new FakeClock();
    const silence = (): 'silence' => 'silence';
    const server = new ScriptedServer({ 'server/discover': silence, initialize: silence });
    const options = nulls('probeTimeoutMs', 'initializeTimeoutMs');
    const connecting = McpClient.connect(server.factory, info, { clock, ...options });
    await server.nextMethod('server/discover');
    await expectAfter(clock, 3000, server.nextMethod('initialize'));
    await expectAfter(clock, 30_000, connecting);
    await expect(connecting).rejects.toThrow('within 30000 ms');
  });

  it('is the usual one: of calls and lists', async () => {
    const clock = new FakeClock();
    let pages = 0;
    const script = legacyScript(NEWEST_LEGACY.version, {
      ping: () => 'silence',
      'tools/list': () => ({ result: { tools: [], nextCursor: String((pages += 1)) } }),
    });
    const options = nulls('requestTimeoutMs', 'maxRequestTimeoutMs', 'maxInFlightBytes', 'maxPages');
    const server = new ScriptedServer(script);
    await using client = await McpClient.connect(server.factory, info, { era: 'legacy', clock, ...options });
    const ping = client.ping(nulls('timeoutMs', 'maxTimeoutMs'));
    await server.nextMethod('ping');
    await expectAfter(clock, 60_000, ping);
    await expect(ping).rejects.toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 60_000 });
    const tools = client.tools(nulls('maxPages'))[Symbol.asyncIterator]();
    await expect(tools.next()).rejects.toThrow('more than 1000 pages');
  });

  it('is the usual one: of how often a server may ask', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    const elicitation = (): ElicitResult => ({ action: 'decline' });
    const askLimits = nulls('elicitationsPerMinute', 'samplingsPerMinute');
    const clock = new FakeClock();
    await using client = await McpClient.connect(server.factory, info, { era: 'legacy', clock, elicitation, askLimits });
    const ask = async (id: number): Promise<object> => {
      const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
      await server.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
      return server.next((message) => !('method' in message) && message.id === id);
    };
    for (let id = 1; id <= 60; id += 1) expect(await ask(id)).toHaveProperty('result');
    expect(await ask(61)).toMatchObject({ error: { code: -32000 } });
    expect(client.isConnected).toBe(true);
  });

  it('is the usual one: of how often it is asked whether a server lives', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version, { ping: () => 'silence' }));
    const keepAlive = nulls('intervalMs', 'timeoutMs', 'failures');
    await using client = await McpClient.connect(server.factory, info, { era: 'legacy', clock, keepAlive });
    await import('../src/keep-alive.ts');
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

  it('is the usual one: of an icon', async () => {
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const icon = await fetchIcon({ src: `data:image/png;base64,${pixel}` }, nulls('maxBytes', 'maxPixels', 'maxFrames'));
    expect(icon).toMatchObject({ type: 'image/png' });
  });
});

describe('a bound of', () => {
  it.each(['maxEntries', 'maxCharacters', 'maxTtlMs'] satisfies (keyof ResultCacheOptions)[])(
    '[ROBUSTNESS-7] a result cache, %s, must be a number',
    (name) => {
      expect(() => createResultCache({ [name]: Number.NaN })).toThrow(
        `the result cache's options: "${name}" must be a number, 0 or more, got NaN`,
      );
    },
  );

  it('[ROBUSTNESS-7] one list must be a number', async () => {
    await using client = await open();
    const tools = client.tools({ maxPages: Number.NaN })[Symbol.asyncIterator]();
    await expect(tools.next()).rejects.toThrow('the options of a list: "maxPages" must be a number, 1 or more, got NaN');
  });

  it.each(['debounceMs', 'maxCached'] satisfies (keyof CompleterOptions)[])(
    '[ROBUSTNESS-7] a completer, %s, must be a number',
    async (name) => {
      await using client = await open();
      expect(() => createCompleter(client, { type: 'ref/prompt', name: 'a' }, { [name]: Number.NaN })).toThrow(
        `"${name}" must be a number`,
      );
    },
  );

  it.each(['maxBytes', 'maxPixels', 'maxFrames'])('[ROBUSTNESS-7] an icon, %s, must be a number', async (name) => {
    await expect(fetchIcon({ src: 'data:image/png;base64,' }, { [name]: Number.NaN })).rejects.toThrow(
      `"${name}" must be a number, 0 or more`,
    );
  });
});
