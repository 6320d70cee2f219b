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

  it('is the usual one: of a client', async () => {
    const server = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
    const options = nulls(
      'probeTimeoutMs',
      'initializeTimeoutMs',
      'requestTimeoutMs',
      'maxRequestTimeoutMs',
      'maxInFlightBytes',
      'maxPages',
    );
    const client = await McpClient.connect(server.factory, info, { era: 'legacy', ...options });
    await client.ping(nulls('timeoutMs', 'maxTimeoutMs'));
    await client.close();
  });

  it('is the usual one: of asks, and of how often it is asked whether a server lives', async () => {
    const clock = new FakeClock();
    const script = legacyScript(NEWEST_LEGACY.version, {
      'tools/call': async (_request, server) => {
        await server.send({
          jsonrpc: '2.0',
          id: 'q',
          method: 'elicitation/create',
          params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
        });
        return 'silence' as const;
      },
    });
    const server = new ScriptedServer(script);
    let asked = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const elicitation = (): ElicitResult => {
      asked();
      return { action: 'decline' };
    };
    const [askLimits, keepAlive] = [nulls('elicitationsPerMinute', 'samplingsPerMinute'), nulls('intervalMs', 'timeoutMs', 'failures')];
    const client = await McpClient.connect(server.factory, info, { era: 'legacy', clock, elicitation, askLimits, keepAlive });
    client.callTool('asks', {}, { timeoutMs: Infinity, maxTimeoutMs: Infinity }).catch(() => undefined);
    await isAsked;
    await import('../src/keep-alive.ts');
    clock.advance(10_000);
    await new Promise(setImmediate);
    expect(server.requests('ping')).toEqual([]);
    await client.close();
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
