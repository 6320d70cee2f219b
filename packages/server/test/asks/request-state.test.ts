/** What travels between rounds opens for the request that it was made for, and for nothing else. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { McpServer, type McpServerOptions, type RequestStateOptions } from '@mortise/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import type { Loose, RawPeer } from '../raw-peer.ts';
import { answerTo, askName, callThrough, obliging, open, openPeer, serverOf } from './chain.ts';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';

const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);

/** A server whose first answer is a question, and the retry that would go on. */
async function firstRound(options: McpServerOptions = {}): Promise<{ peer: RawPeer; server: McpServer; retry: JsonObject; state: string }> {
  const server = serverOf((ctx) => askName(ctx, 'a'), options);
  const peer = await openPeer(server);
  const { result } = await peer.request('tools/call', { name: 'run', arguments: { n: 1 } });
  return { peer, server, retry: { name: 'run', arguments: { n: 1 }, ...answerTo(result) }, state: result.requestState };
}

/** Calls with a state and gives what was said against it; fails where it was taken. */
async function refusal(peer: RawPeer, params: JsonObject, method = 'tools/call'): Promise<string> {
  const { error, result } = await peer.request(method, params);
  expect(result).toBeUndefined();
  expect(error?.code).toBe(-32602);
  return error?.message ?? '';
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('ROBUSTNESS-15 a requestState', () => {
  it('[MRTR-020][MRTR-021][PAT-006] is refused with -32602 after any change of any byte, and its handler does not run', async () => {
    let runs = 0;
    const server = serverOf((ctx) => (runs++, askName(ctx, 'a')));
    const peer = await openPeer(server);
    const { result } = await peer.request('tools/call', { name: 'run' });
    const state: string = result.requestState;
    const altered = fc.record({ at: fc.nat(state.length - 1), by: fc.integer({ min: 1, max: 63 }) }).map(({ at, by }) => {
      const other = BASE64URL[(BASE64URL.indexOf(state.charAt(at)) + by) % 64] ?? '';
      return state.slice(0, at) + other + state.slice(at + 1);
    });
    const cut = fc.nat(state.length - 1).map((length) => state.slice(0, length));
    const longer = fc.string({ minLength: 1, maxLength: 9 }).map((tail) => state + tail);
    const garbage = fc.string({ maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 6, arbitrary: altered }, cut, longer, garbage), async (forged) => {
        await refusal(peer, { name: 'run', requestState: forged, inputResponses: {} });
      }),
      { numRuns: 400 },
    );
    expect(runs).toBe(1);
    expect((await peer.request('tools/call', { name: 'run', ...answerTo(result) })).result.content[0].text).toBe('a');
  });

  it('[MRTR-021] is refused after a change of each of its bytes in turn', async () => {
    const { peer, retry, state } = await firstRound();
    for (let at = 0; at < state.length; at++) {
      const other = BASE64URL[(BASE64URL.indexOf(state.charAt(at)) + 1) % 64] ?? '';
      await refusal(peer, { ...retry, requestState: state.slice(0, at) + other + state.slice(at + 1) });
    }
  });

  it('has one spelling: neither padding, nor the other alphabet, nor spaces', async () => {
    const { peer, retry, state } = await firstRound();
    for (const spelling of [`${state}=`, `${state}==`, ` ${state}`, `${state}\n`, state.replaceAll('-', '+').replaceAll('_', '/') + '+'])
      await refusal(peer, { ...retry, requestState: spelling });
  });

  it('tells neither its content nor why it was refused', async () => {
    const { peer, retry, state } = await firstRound();
    const altered = await refusal(peer, { ...retry, requestState: `B${state.slice(1)}` });
    expect(await refusal(peer, { ...retry, requestState: 'nonsense' })).toBe(altered);
    expect(await refusal(peer, { ...retry, arguments: { n: 2 } })).toBe(altered);
    const decoded = Buffer.from(state, 'base64url').toString('latin1');
    expect(decoded).not.toContain('elicitation');
  });

  it('[MRTR-022][PAT-007] is refused from another principal', async () => {
    const { server, retry } = await firstRound();
    const other = await openPeer(server, { info: { principal: 'somebody else' } });
    await refusal(other, retry);
  });

  it('[MRTR-022] is refused for another tool and other arguments', async () => {
    const { peer, retry } = await firstRound();
    await refusal(peer, { ...retry, name: 'other' });
    await refusal(peer, { ...retry, arguments: { n: 2 } });
    await refusal(peer, { ...retry, arguments: { n: 1, m: 1 } });
    await refusal(peer, { name: 'run', inputResponses: retry['inputResponses'], requestState: retry['requestState'] });
  });

  it('[MRTR-022] is refused for another method with the same parameters', async () => {
    const server = serverOf((ctx) => askName(ctx, 'a'));
    server.registerPrompt('run', {}, (ctx) => askName(ctx, 'a'));
    const peer = await openPeer(server);
    const params = { name: 'run', arguments: { n: '1' } };
    const { result } = await peer.request('tools/call', params);
    await refusal(peer, { ...params, ...answerTo(result) }, 'prompts/get');
    const prompted = await peer.request('prompts/get', params);
    await refusal(peer, { ...params, ...answerTo(prompted.result) });
  });

  it('is good for the same arguments in another order, and with another _meta', async () => {
    const peer = await open((ctx) => askName(ctx, 'a'));
    const { result } = await peer.request('tools/call', { name: 'run', arguments: { n: { a: 1, b: [1, { c: 2, d: 3 }] } } });
    const again = { _meta: { 'acme/trace': 'x' }, arguments: { n: { b: [1, { d: 3, c: 2 }], a: 1 } }, name: 'run' };
    expect((await peer.request('tools/call', { ...again, ...answerTo(result) })).result.content[0].text).toBe('a');
  });

  it('[MRTR-022][PAT-007] is refused once its time is over', async () => {
    const clock = new FakeClock();
    const peer = await open((ctx) => askName(ctx, 'a'), { clock, requestState: { ttlMs: 1_000 } });
    const first = peer.request('tools/call', { name: 'run' });
    while (clock.running < 2) await peer.settle();
    clock.advance(0);
    const retry = { name: 'run', ...answerTo((await first).result) };
    clock.advance(999);
    expect((await peer.request('tools/call', retry)).result.content[0].text).toBe('a');
    clock.advance(1);
    expect(await refusal(peer, retry)).toContain('expired');
  });

  it('[ROBUSTNESS-18] is refused if its machine is over a minute ahead, and is remembered for longer than it can be used', async () => {
    const claims: number[] = [];
    const replay = { claim: async (_id: string, ttlMs: number) => claims.push(ttlMs) > 0 };
    const start = async (aheadMs: number): Promise<RawPeer> => {
      const clock = { ...systemClock, now: () => Date.now() + aheadMs };
      return open((ctx) => askName(ctx, 'a'), { clock, clusterKey: key(1), requestState: { ttlMs: 60_000, replay } });
    };
    const stateOf = async (peer: RawPeer): Promise<JsonObject> => answerTo((await peer.request('tools/call', { name: 'run' })).result);
    const [behind, ahead, farAhead] = [await start(0), await start(59_000), await start(3_600_000)];
    expect(await refusal(behind, { name: 'run', ...(await stateOf(farAhead)) })).toContain('clocks');
    const retry = { name: 'run', ...(await stateOf(ahead)) };
    expect((await behind.request('tools/call', retry)).result.content[0].text).toBe('a');
    expect(claims).toEqual([180_000]);
  });

  it('is refused where it is longer than any that was handed out', async () => {
    const { peer, retry, state } = await firstRound();
    const cpuMs = countCpuMs();
    await refusal(peer, { ...retry, requestState: state + 'A'.repeat(4_000_000) });
    expect(cpuMs()).toBeLessThan(200);
  });

  it.each([5, null, {}, ['x'], true])('[MRTR-020] is refused where it is no text: %j', async (requestState) => {
    const { peer, retry } = await firstRound();
    await refusal(peer, { ...retry, requestState: requestState as Loose });
  });

  it('is refused by middleware-free and by wrapped servers alike, and reaches no handler', async () => {
    let runs = 0;
    const server = serverOf(() => (runs++, 'done'));
    server.use((_call, next) => next());
    const peer = await openPeer(server);
    await refusal(peer, { name: 'run', requestState: 'forged' });
    expect(runs).toBe(0);
  });
});

describe('the keys of request states', () => {
  const sharing = (keys: readonly Uint8Array[]): McpServerOptions => ({ requestState: { keys } });

  it('where they are shared let any server go on', async () => {
    const { retry } = await firstRound(sharing([key(1)]));
    const second = await openPeer(serverOf((ctx) => askName(ctx, 'a'), sharing([key(1)])));
    expect((await second.request('tools/call', retry)).result.content[0].text).toBe('a');
  });

  it('where they are not shared let none', async () => {
    const { retry } = await firstRound();
    await refusal(await openPeer(serverOf((ctx) => askName(ctx, 'a'))), retry);
    const sealed = await firstRound(sharing([key(1)]));
    await refusal(await openPeer(serverOf((ctx) => askName(ctx, 'a'), sharing([key(2)]))), sealed.retry);
  });

  it('can be changed: the first seals, all open', async () => {
    const { retry } = await firstRound(sharing([key(1)]));
    const rotated = serverOf((ctx) => askName(ctx, 'a'), sharing([key(2), key(1)]));
    const peer = await openPeer(rotated);
    expect((await peer.request('tools/call', retry)).result.content[0].text).toBe('a');
    const { result } = await peer.request('tools/call', { name: 'run' });
    const onlyNew = await openPeer(serverOf((ctx) => askName(ctx, 'a'), sharing([key(2)])));
    expect((await onlyNew.request('tools/call', { name: 'run', ...answerTo(result) })).result.content[0].text).toBe('a');
  });

  it('are checked when the server is made', () => {
    const options: RequestStateOptions = { keys: [new Uint8Array(16)] };
    expect(() => new McpServer({ name: 's', version: '1' }, { requestState: options })).toThrow(/a Uint8Array of 32 bytes/);
  });

  it('never seal twice the same', async () => {
    const peer = await open((ctx) => askName(ctx, 'a'), sharing([key(1)]));
    const states = new Set<string>();
    for (let n = 0; n < 20; n++) states.add((await peer.request('tools/call', { name: 'run' })).result.requestState);
    expect(states.size).toBe(20);
  });
});

it('that is not a string is refused', async () => {
  const peer = await open((ctx) => askName(ctx, 'a'));
  expect(await refusal(peer, { name: 'run', requestState: 5 })).toContain('must be a string');
});

describe('the size of a state', () => {
  const big = 'x'.repeat(300_000);

  it('over 256 KiB is an error that names the largest step', async () => {
    const peer = await open(async (ctx) => {
      await ctx.once('small', () => 'x');
      await ctx.once('the big one', () => big);
      return askName(ctx, 'a');
    });
    const { error } = await callThrough(peer);
    expect(error).toMatchObject({ code: -32603, message: expect.stringMatching(/the maximum is 262,144.*"the big one"/) });
    expect(error?.message).not.toContain('xxx');
  });

  it('over 256 KiB goes to the store, and only a short reference travels', async () => {
    const kept = new Map<string, string>();
    const store = {
      put: async (id: string, value: string) => void kept.set(id, value),
      get: async (id: string) => kept.get(id),
      delete: async (id: string) => void kept.delete(id),
    };
    const server = serverOf(
      async (ctx) => {
        const value = await ctx.once('big', () => big);
        return `${await askName(ctx, 'a')} ${value.length}`;
      },
      { requestState: { store } },
    );
    const peer = await openPeer(server);
    const { asked, text } = await callThrough(peer);
    expect(text).toBe('a 300000');
    expect(asked[0].requestState.length).toBeLessThan(400);
    expect([...kept.keys()].every((id) => Buffer.from(id, 'base64url').length >= 16)).toBe(true);
    expect([...kept.values()].join()).not.toContain('x'.repeat(20));
    // Whoever can write to the store cannot forge a state either, and one that is gone is refused.
    for (const [id, value] of kept) kept.set(id, `${value.slice(0, -4)}AAAA`);
    await refusal(peer, { name: 'run', ...answerTo(asked[0]) });
    kept.clear();
    expect(await refusal(peer, { name: 'run', ...answerTo(asked[0]) })).toContain('no longer stored');
  });

  it('does not matter to a client: arguments are not inside', async () => {
    const peer = await open((ctx) => askName(ctx, 'a'));
    const { asked } = await callThrough(peer, { name: 'run', arguments: { n: big } }, obliging);
    expect(asked[0].requestState.length).toBeLessThan(1_000);
  });
});
