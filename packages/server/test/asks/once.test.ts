/** `ctx.once`: steps that are not repeated when a handler runs again. */

import { describe, expect, it } from 'vitest';
import type { HandlerContext, McpServerOptions } from '@mortise/server';
import { type Loose, RawPeer } from '../raw-peer.ts';
import { defer } from '../support.ts';
import { answerTo, askName, callThrough, everything, obliging, open, openPeer, serverOf } from './chain.ts';

/** Claims that hold over all servers that share it. */
function memoryReplayStore(): { claim(id: string, expiresAtMs: number): Promise<boolean>; readonly ids: Set<string> } {
  const ids = new Set<string>();
  return { ids, claim: async (id) => !ids.has(id) && ids.add(id) !== undefined };
}

/** A handler of three rounds with one step in each, and how often each step ran. */
function counting(): { run: (ctx: HandlerContext) => Promise<string>; runs: Record<string, number>; keys: Set<string> } {
  const runs: Record<string, number> = { one: 0, two: 0, three: 0 };
  const keys = new Set<string>();
  const step = (ctx: HandlerContext, name: string): Promise<number> =>
    ctx.once(name, (key) => {
      keys.add(key);
      return (runs[name] = (runs[name] ?? 0) + 1);
    });
  return {
    runs,
    keys,
    async run(ctx) {
      const one = await step(ctx, 'one');
      const a = await askName(ctx, 'a');
      const two = await step(ctx, 'two');
      const b = await askName(ctx, 'b');
      const three = await step(ctx, 'three');
      return `${one}${a}${two}${b}${three}`;
    },
  };
}

describe('a step', () => {
  it('runs once over three rounds, under one idempotency key', async () => {
    const { run, runs, keys } = counting();
    const peer = await open(run);
    const { asked, text } = await callThrough(peer);
    expect(asked).toHaveLength(2);
    expect(text).toBe('1a1b1');
    expect(runs).toEqual({ one: 1, two: 1, three: 1 });
    expect(keys.size).toBe(3);
  });

  it('runs once over two servers that share a key, each taking every other round', async () => {
    const { run, runs } = counting();
    const options: McpServerOptions = { requestState: { keys: [new Uint8Array(32).fill(7)] } };
    const peers = [await openPeer(serverOf(run, options)), await openPeer(serverOf(run, options))];
    let round: Loose = {};
    let turn = 0;
    for (;;) {
      const { result } = await (peers[turn++ % 2] as RawPeer).request('tools/call', { name: 'run', ...round });
      if (result.resultType === 'complete') {
        expect(result.content[0].text).toBe('1a1b1');
        break;
      }
      round = answerTo(result);
    }
    expect(turn).toBe(3);
    expect(runs).toEqual({ one: 1, two: 1, three: 1 });
  });

  it('has another idempotency key in another chain', async () => {
    const { run, keys } = counting();
    const peer = await open(run);
    await callThrough(peer);
    await callThrough(peer);
    expect(keys.size).toBe(6);
  });

  it('that failed is run again, under the same key', async () => {
    const keys: string[] = [];
    const peer = await open(async (ctx) => {
      const attempt = (): Promise<string> =>
        ctx.once('flaky', (key) => {
          keys.push(key);
          if (keys.length < 3) throw new Error('not yet');
          return 'done';
        });
      await attempt().catch(() => undefined);
      await askName(ctx, 'a');
      return attempt().catch(() => attempt());
    });
    expect((await callThrough(peer)).text).toBe('done');
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  it('that is under way when a question goes out is waited for, and remembered', async () => {
    const gate = defer();
    const suspended = defer();
    let runs = 0;
    const peer = await open((ctx) =>
      Promise.all([
        askName(ctx, 'a').catch((error: unknown) => {
          suspended.resolve();
          throw error;
        }),
        ctx.once('slow', async () => {
          runs += 1;
          await gate.promise;
          return runs;
        }),
      ]),
    );
    const first = peer.request('tools/call', { name: 'run' });
    let isAnswered = false;
    void first.then(() => (isAnswered = true));
    await suspended.promise;
    await peer.settle();
    expect(isAnswered).toBe(false);
    gate.resolve();
    const { result } = await first;
    const { text } = { text: (await peer.request('tools/call', { name: 'run', ...answerTo(result) })).result.content[0].text };
    expect(text).toBe('["a",1]');
    expect(runs).toBe(1);
  });

  it('that would begin after the round is over does not begin before the next', async () => {
    const begun: string[] = [];
    const late = defer<unknown>();
    const answered = defer();
    let runs = 0;
    const peer = await open(async (ctx) => {
      runs += 1;
      const isFirst = runs === 1;
      const step = (): Promise<string> => ctx.once('late', () => (begun.push('late'), 'x'));
      if (isFirst) void answered.promise.then(step).catch((error: unknown) => late.resolve(error));
      await askName(ctx, 'a');
      return step();
    });
    const { result } = await peer.request('tools/call', { name: 'run' });
    answered.resolve();
    expect(await late.promise).toMatchObject({ code: 'ERR_SUSPENDED' });
    expect(begun).toEqual([]);
    expect((await peer.request('tools/call', { name: 'run', ...answerTo(result) })).result.content[0].text).toBe('x');
    expect(begun).toEqual(['late']);
  });

  it.each(['2025-11-25', '2026-07-28'] as const)('gives its value as JSON has it, the first time too, in %s', async (version) => {
    const seen: Loose[] = [];
    const server = serverOf(async (ctx) => {
      seen.push(await ctx.once('value', () => ({ when: new Date(0), none: undefined }) as Loose));
      seen.push((await ctx.once('nothing', () => undefined as Loose)) ?? 'undefined');
      await askName(ctx, 'a');
      return 'done';
    });
    const peer = await RawPeer.open(server, version, { capabilities: everything });
    peer.onRequest = (message) => obliging(message, '') ?? {};
    await (version === '2026-07-28' ? callThrough(peer) : peer.callTool('run'));
    for (let i = 0; i < seen.length; i += 2) expect(seen.slice(i, i + 2)).toEqual([{ when: '1970-01-01T00:00:00.000Z' }, 'undefined']);
  });

  it('whose value is not JSON fails with a word of it', async () => {
    const peer = await open((ctx) =>
      ctx.once('big', () => 1n as Loose).catch((error: { code: string; message: string }) => `${error.code} ${error.message}`),
    );
    expect((await callThrough(peer)).text).toMatch(/^ERR_INVALID_STEP Step "big" ran, but/);
  });

  it('may have any name, also one that objects inherit', async () => {
    let runs = 0;
    const peer = await open(async (ctx) => {
      const values = [];
      for (const name of ['__proto__', 'constructor', 'toString', '']) values.push(await ctx.once(name, () => ++runs));
      await askName(ctx, 'a');
      return values;
    });
    expect((await callThrough(peer)).text).toBe('[1,2,3,4]');
  });

  it('gives a copy, which the handler may change', async () => {
    const peer = await open(async (ctx) => {
      const list = await ctx.once('list', () => [1]);
      list.push(2);
      await askName(ctx, 'a');
      return (await ctx.once('list', () => [0])).length;
    });
    expect((await callThrough(peer)).text).toBe('1');
  });
});

describe('a requestState that is sent twice', () => {
  /** The first round's retry, and how often the step behind it ran. */
  async function prepare(options: McpServerOptions): Promise<{ peer: RawPeer; retry: Loose; runs: () => number; keys: Set<string> }> {
    let runs = 0;
    const keys = new Set<string>();
    const peer = await open(async (ctx) => {
      await askName(ctx, 'a');
      return String(await ctx.once('charge', (key) => (keys.add(key), ++runs)));
    }, options);
    const { result } = await peer.request('tools/call', { name: 'run' });
    return { peer, retry: { name: 'run', ...answerTo(result) }, runs: () => runs, keys };
  }

  it('[MRTR-023] at once runs the step once, with a ReplayStore', async () => {
    const { peer, retry, runs } = await prepare({ requestState: { replay: memoryReplayStore() } });
    const answers = await Promise.all([peer.request('tools/call', retry), peer.request('tools/call', retry)]);
    expect(runs()).toBe(1);
    expect(answers.map(({ result, error }) => result?.content[0].text ?? error?.code).toSorted()).toEqual([-32602, '1']);
  });

  it('[MRTR-023] after the end runs the step once, with a ReplayStore, on any server that shares it', async () => {
    const replay = memoryReplayStore();
    const options: McpServerOptions = { requestState: { replay, keys: [new Uint8Array(32)] } };
    const { peer, retry, runs } = await prepare(options);
    expect((await peer.request('tools/call', retry)).result.content[0].text).toBe('1');
    expect((await peer.request('tools/call', retry)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('already used'),
    });
    const other = await openPeer(serverOf(() => 'never', options));
    expect((await other.request('tools/call', retry)).error?.code).toBe(-32602);
    expect(runs()).toBe(1);
  });

  it('is not used up by an answer that is malformed', async () => {
    const { peer, retry, runs } = await prepare({ requestState: { replay: memoryReplayStore() } });
    const [key = ''] = Object.keys(retry.inputResponses);
    expect((await peer.request('tools/call', { ...retry, inputResponses: { [key]: 5 } })).error?.code).toBe(-32602);
    expect((await peer.request('tools/call', retry)).result.content[0].text).toBe('1');
    expect(runs()).toBe(1);
  });

  it('is claimed until it expires on machines whose clocks differ', async () => {
    const claims: number[] = [];
    const replay = { claim: async (_id: string, expiresAtMs: number) => claims.push(expiresAtMs) > 0 };
    const { peer, retry } = await prepare({ requestState: { replay, ttlMs: 60_000 } });
    await peer.request('tools/call', retry);
    expect(claims).toEqual([180_000]);
  });

  it('runs the step again without a ReplayStore, under the same idempotency key', async () => {
    const { peer, retry, runs, keys } = await prepare({});
    await peer.request('tools/call', retry);
    await peer.request('tools/call', retry);
    expect(runs()).toBe(2);
    expect(keys.size).toBe(1);
  });
});
