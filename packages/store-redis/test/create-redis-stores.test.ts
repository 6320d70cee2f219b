/** Opening the stores, losing Redis and finding it again, and what is refused. */

import { createRedisStores, type RedisStoresOptions, RedisStoreError } from '@mortise/store-redis';
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  expectBoundedStreams,
  expectNoLongWait,
  expectOwnIds,
  expectRefusals,
  expectSeparate,
} from '../../../scripts/test/store-clusters.ts';
import { hasRedis, type RedisProxy, RedisServer } from './redis-server.ts';

const HOUR_MS = 3_600_000;
const session = (id: string) => ({ id, principal: 'ada', state: { layout: 1 } });
const task = {
  principal: 'ada',
  generation: 'g',
  status: 'working',
  driver: 'engine',
  resumable: true,
  asks: [],
  createdAtMs: 1,
  updatedAtMs: 1,
  ttlMs: HOUR_MS,
} as const;

it.each<[string, RedisStoresOptions, RegExp]>([
  ['neither url nor client', {}, /set "url" or "client", and not both/],
  ['braces in the prefix', { url: 'redis://127.0.0.1:1', prefix: 'a{b}' }, /"prefix" must be a text without/],
  ['an empty prefix', { url: 'redis://127.0.0.1:1', prefix: '' }, /"prefix" must be a text without/],
  ['a bound that is not a number', { url: 'redis://127.0.0.1:1', waitMs: NaN }, /"waitMs" must be a number, 1 or more/],
  ['what is no client', { client: {} as never }, /"client" must be an object with a function "evalSha"/],
])('[ROBUSTNESS-7] refuses %s', async (_, options, message) => {
  await expect(createRedisStores(options)).rejects.toThrow(message);
});

it('says at once that Redis is not there', async () => {
  const opened = createRedisStores({ url: 'redis://127.0.0.1:1' });
  await expect(opened).rejects.toThrow(RedisStoreError);
  await expect(opened).rejects.toMatchObject({ code: 'ERR_REDIS_UNAVAILABLE' });
});

describe.skipIf(!hasRedis)('stores in a Redis', () => {
  const server = new RedisServer(['--appendonly', 'yes']);
  let proxy: RedisProxy;
  beforeAll(async () => {
    await server.start();
    proxy = await server.openProxy();
  });
  afterAll(() => server.close());

  async function open(options: Partial<RedisStoresOptions> = {}) {
    const line = await server.openProxy();
    const stores = await createRedisStores({ url: line.url, waitMs: 60_000, ...options });
    onTestFinished(() => stores.close());
    return { ...stores, line };
  }

  it('keeps a subscription while an earlier one to its topic, which came too late, is ended', async () => {
    const own = new RedisServer();
    await own.start();
    onTestFinished(() => own.close());
    const stores = await createRedisStores({ url: (await own.openProxy()).url, waitMs: 5000 });
    onTestFinished(() => stores.close());
    await stores.bus.subscribe('first', () => undefined);
    own.pause();
    await expect(stores.bus.subscribe('topic', () => undefined)).rejects.toThrow(RedisStoreError);
    // The answers between the two come in many parts.
    const others = Array.from({ length: 2000 }, (_, n) => stores.bus.subscribe(`other ${n}`.padEnd(200, '.'), () => undefined));
    const heard = vi.fn<() => void>();
    const subscribed = stores.bus.subscribe('topic', heard);
    own.resume();
    await Promise.all([subscribed, ...others]);
    await stores.health();
    await stores.bus.publish({ topic: 'topic' });
    await vi.waitUntil(() => heard.mock.calls.length > 0, { timeout: 10_000 });
  });

  it('hears on every topic again after its connection broke, on more topics than a socket takes at once', async () => {
    const { bus, line } = await open({ prefix: 'many' });
    // 240 kB: the client library itself would send what fits in the buffer of a socket, and wait forever for the rest.
    const topics = Array.from({ length: 1000 }, (_, n) => `topic ${n}`.padEnd(200, '.'));
    const gaps = new Set<string>();
    const heard = new Set<string>();
    const subscribe = (topic: string) =>
      bus.subscribe(
        topic,
        () => void heard.add(topic),
        () => void gaps.add(topic),
      );
    await Promise.all(topics.map(subscribe));
    line.cut();
    line.mend();
    await vi.waitFor(() => expect(gaps.size).toBe(topics.length), 60_000);
    for (const topic of topics) await bus.publish({ topic });
    await vi.waitFor(() => expect(heard.size).toBe(topics.length), 60_000);
  });

  it('sees nothing of a cluster with another prefix', async () => {
    const [one, other] = [await open({ prefix: 'a' }), await open({ prefix: 'a:session' })];
    await expectSeparate(one, other);
  });

  it('tells ids apart that only UTF-16 can tell apart', async () => expectOwnIds(await open({ prefix: 'ids' })));

  it('[ROBUSTNESS-17] keeps 16 MiB of a stream, and 64 MiB of the streams of a session', async () => {
    const stores = await open({ prefix: 'bytes' });
    const { events } = stores;
    await expectBoundedStreams(stores);
    const text = 'x'.repeat(3 * 2 ** 20);
    const starts: string[] = [];
    for (let n = 0; n < 25; n++) {
      starts.push((await events.append('t', `stream ${n}`, undefined)) ?? '');
      await events.append('t', `stream ${n}`, { jsonrpc: '2.0', method: 'm', params: { text } });
    }
    const found = await Promise.all(starts.map(async (id) => (await events.replay('t', id))?.events.length));
    // At the bound half of it is left, and then come more.
    expect(found).toEqual(starts.map((_, n) => (n < 12 ? undefined : 1)));
  });

  it('is not up where nothing can be written, and lists tasks in pages all the same', async () => {
    const stores = await open({ prefix: 'full' });
    for (const id of ['a', 'b']) await stores.tasks.create({ ...task, id }, { leaseMs: HOUR_MS });
    const client = await createClient({ url: proxy.url }).connect();
    onTestFinished(() => client.destroy());
    await client.configSet('maxmemory', '1');
    onTestFinished(async () => void (await client.configSet('maxmemory', '0')));
    expect(await stores.health()).toMatchObject({ isUp: false, problems: [expect.stringContaining('OOM')] });
    const { nextCursor = '' } = await stores.tasks.list('ada', { limit: 1 });
    expect((await stores.tasks.list('ada', { limit: 1, cursor: nextCursor })).tasks).toMatchObject([{ id: 'b' }]);
  });

  it('logs once that a connection broke, and that it is back', async () => {
    const logged: string[] = [];
    const stores = await open({ logger: { log: (level, message) => void logged.push(`${level}: ${message}`) } });
    await stores.bus.subscribe('a', () => undefined);
    const names = ['The connection to Redis', 'The connection of the message bus to Redis'];
    stores.line.cut();
    const lost = names.map((name) => `warning: ${name} is broken`).toSorted();
    await vi.waitFor(() => expect(logged.toSorted()).toEqual(lost), 60_000);
    stores.line.mend();
    const back = names.map((name) => `info: ${name} is back`);
    await vi.waitFor(() => expect(logged.toSorted()).toEqual([...back, ...lost].toSorted()), 60_000);
  });

  it('[ROBUSTNESS-8] refuses what belongs to another principal, on any machine', async () =>
    expectRefusals(await open({ prefix: 'refusals' })));

  it('lets no call wait longer than it may while the engine hangs, and closes', async () => {
    const stores = await open({ prefix: 'hangs', waitMs: 1000 });
    onTestFinished(() => server.resume());
    await expectNoLongWait(stores, () => server.pause());
    await stores.close();
    server.resume();
    await stores.line.idle();
  });

  it('waits while Redis is gone, then goes on with all that it acknowledged, and tells subscribers of the gap', async () => {
    // Without a proxy, which would take a connection and break it while Redis is gone: what had been sent on it by then would fail.
    const client = createClient({ socket: { path: server.socket, tls: false }, commandOptions: { timeout: 120_000 } });
    client.on('error', () => undefined);
    await client.connect();
    onTestFinished(() => client.destroy());
    const stores = await open({ url: undefined, client });
    let reportGap = (): void => undefined;
    const gap = new Promise<void>((resolve) => (reportGap = resolve));
    await stores.bus.subscribe(
      'a',
      () => undefined,
      () => reportGap(),
    );
    await stores.sessions.put(session('kept'), 0, HOUR_MS);
    const isGone = new Promise<void>((resolve) => void client.once('reconnecting', resolve));
    await server.kill();
    await isGone;
    const waiting = stores.sessions.put(session('late'), 0, HOUR_MS);
    await server.start();
    expect(await waiting).toEqual({ isWritten: true });
    expect((await stores.sessions.get('kept', HOUR_MS))?.version).toBe(1);
    await gap;
    expect(await stores.health()).toEqual({ isUp: true, problems: [] });
  });

  it('rejects what waits too long, and what is too much, and says what is down', async () => {
    const stores = await open({ waitMs: 300 });
    await stores.bus.subscribe('a', () => undefined);
    stores.line.cut();
    const calls = await Promise.allSettled(Array.from({ length: 10_007 }, (_, n) => stores.sessions.get(`s${n}`, HOUR_MS)));
    const reasons = calls.map((call) => (call.status === 'rejected' ? (call.reason as RedisStoreError) : undefined));
    expect(new Set(reasons.map((reason) => reason?.code))).toEqual(new Set(['ERR_REDIS_UNAVAILABLE']));
    expect(reasons.filter((reason) => reason?.message.includes('10000 calls wait')).length).toBeGreaterThanOrEqual(7);
    const { isUp, problems } = await stores.health();
    expect({ isUp, problems: problems.map((problem) => problem.slice(0, 30)) }).toEqual({
      isUp: false,
      problems: ['The stores do not work: RedisS', 'The message bus gets no messag'],
    });
    stores.line.mend();
  });

  it('passes on what Redis refuses, with its reason', async () => {
    const stores = await open({ prefix: 'wrong' });
    const client = await createClient({ url: proxy.url }).connect();
    onTestFinished(() => client.destroy());
    await client.set('wrong:session:s', 'no hash');
    await expect(stores.sessions.get('s', HOUR_MS)).rejects.toMatchObject({ code: 'ERR_REDIS_REPLY', message: /WRONGTYPE/ });
  });

  it('runs its scripts also after Redis has forgotten them', async () => {
    const stores = await open();
    const client = await createClient({ url: proxy.url }).connect();
    onTestFinished(() => client.destroy());
    await client.scriptFlush();
    expect(await stores.replays.claim('flushed', HOUR_MS)).toBe(true);
    expect(await stores.replays.claim('flushed', HOUR_MS)).toBe(false);
  });

  it("uses the program's client, and leaves it open", async () => {
    const client = await createClient({ url: proxy.url }).connect();
    onTestFinished(() => client.destroy());
    const stores = await createRedisStores({ client });
    await stores.bus.subscribe('a', () => undefined);
    await stores.states.put('s', 'x', HOUR_MS);
    await stores.close();
    await stores.close();
    expect(await client.ping()).toBe('PONG');
    await expect(stores.bus.subscribe('a', () => undefined)).rejects.toThrow(/closed/);
  });

  it('leaves no connection behind when it is closed, also while Redis is gone', async () => {
    const [one, gone] = [await open(), await open()];
    for (const stores of [one, gone]) await stores.bus.subscribe('a', () => undefined);
    gone.line.cut();
    await Promise.all([one.close(), gone.close()]);
    await expect(one.states.get('s')).rejects.toMatchObject({ code: 'ERR_REDIS_UNAVAILABLE' });
    await Promise.all([one.line, gone.line].map((line) => line.idle()));
  });
});
