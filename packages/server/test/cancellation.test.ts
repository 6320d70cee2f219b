import { describe, expect, it } from 'vitest';
import { McpServer } from '@mortise/server';
import { HandlerStoppedError } from '@mortise/server/errors';
import { ALL, type Loose, MODERN, RawPeer } from './raw-peer.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { defer, MemoryLogger } from './support.ts';

function createWaiting(options: Loose = {}) {
  const started = defer();
  const aborted = defer<Loose>();
  const release = defer();
  const server = new McpServer({ name: 'waiting', version: '1' }, { capabilities: { logging: {} }, ...options });
  server.registerTool('wait', {}, async (ctx) => {
    ctx.signal.addEventListener('abort', () => aborted.resolve(ctx.signal.reason));
    started.resolve();
    await release.promise;
    await ctx.progress(99);
    await ctx.log('error', 'too late');
    return 'over';
  });
  server.registerTool('quick', {}, () => 'quick');
  return { server, started, aborted, release };
}

describe.each(ALL)('cancellation in %s', (version) => {
  it('[CANCEL-006][CANCEL-007] reaches the handler with its reason, is logged, and nothing more is sent for the call', async () => {
    const logger = new MemoryLogger();
    const { server, started, aborted, release } = createWaiting({ logger });
    const peer = await RawPeer.open(server, version, { logLevel: 'debug' });
    void peer.request('tools/call', { name: 'wait', _meta: { progressToken: 'p' } }, 'slow');
    await started.promise;
    peer.notify('notifications/cancelled', { requestId: 'slow', reason: 'enough' });
    const reason = await aborted.promise;
    expect(reason).toMatchObject({ code: 'ERR_CANCELLED', reason: 'enough' });
    release.resolve();
    await peer.settle();
    expect(peer.answersTo('slow')).toEqual([]);
    expect(peer.notifications()).toEqual([]);
    expect(logger.lines).toContainEqual({
      level: 'info',
      message: 'A call was cancelled',
      data: { method: 'tools/call', requestId: 'slow', reason: 'enough' },
    });
    expect((await peer.callTool('quick')).content[0].text).toBe('quick');
  });

  it('[CANCEL-008][CANCEL-010][CANCEL-011] is ignored where it is late, malformed or names nothing', async () => {
    const { server, started, release } = createWaiting();
    const peer = await RawPeer.open(server, version);
    await peer.request('tools/call', { name: 'quick' }, 'done');
    const slow = peer.request('tools/call', { name: 'wait' }, 'slow');
    await started.promise;
    for (const params of [{ requestId: 'done' }, { requestId: 'nobody' }, { requestId: {} }, {}, { requestId: null }] as Loose[])
      peer.notify('notifications/cancelled', params);
    peer.notify('notifications/cancelled');
    release.resolve();
    expect((await slow).result.content[0].text).toBe('over');
  });

  it('[CANCEL-001] tells ids of different JSON types apart', async () => {
    const { server, started, release } = createWaiting();
    const peer = await RawPeer.open(server, version);
    const slow = peer.request('tools/call', { name: 'wait' }, 5);
    await started.promise;
    peer.notify('notifications/cancelled', { requestId: '5' });
    release.resolve();
    expect((await slow).result.content[0].text).toBe('over');
  });

  it('[CANCEL-003] works for the id 0 and without a reason', async () => {
    const { server, started, aborted } = createWaiting();
    const peer = await RawPeer.open(server, version);
    void peer.request('tools/call', { name: 'wait' }, 0);
    await started.promise;
    peer.notify('notifications/cancelled', { requestId: 0 });
    expect(await aborted.promise).toMatchObject({ code: 'ERR_CANCELLED', reason: undefined });
  });

  it('[CANCEL-004] ignores one that names no request', async () => {
    const { server, started, release } = createWaiting();
    const peer = await RawPeer.open(server, version);
    const slow = peer.request('tools/call', { name: 'wait' });
    await started.promise;
    peer.notify('notifications/cancelled', { reason: 'none named' });
    release.resolve();
    expect((await slow).result).toBeDefined();
  });

  it('[CANCEL-015] is never sent by a handler', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('t', {}, async (ctx) => {
      await ctx.sendNotification({ method: 'notifications/cancelled', params: { requestId: 1 } });
      return 't';
    });
    const peer = await RawPeer.open(server, version);
    await peer.callTool('t');
    expect(peer.notifications()).toEqual([]);
  });
});

describe.each(ALL)('the bound of handlers in %s', (version) => {
  it('ends one that never ends, tells its signal, and answers', async () => {
    const clock = new FakeClock();
    const { server, started, aborted } = createWaiting({ clock, handlerTimeoutMs: 1000 });
    const peer = await RawPeer.open(server, version);
    const slow = peer.request('tools/call', { name: 'wait' }, 'slow');
    await started.promise;
    clock.advance(999);
    await peer.settle();
    expect(peer.answersTo('slow')).toEqual([]);
    clock.advance(1);
    expect((await slow).result).toMatchObject({ isError: true, content: [{ text: '"wait" did not finish within 1000 ms' }] });
    expect(await aborted.promise).toBeInstanceOf(HandlerStoppedError);
  });

  it('is ten minutes where the program says nothing', async () => {
    const clock = new FakeClock();
    const { server, started } = createWaiting({ clock });
    const peer = await RawPeer.open(server, version);
    const slow = peer.request('tools/call', { name: 'wait' }, 'slow');
    await started.promise;
    clock.advance(599_999);
    await peer.settle();
    expect(peer.answersTo('slow')).toEqual([]);
    clock.advance(1);
    expect((await slow).result.content[0].text).toBe('"wait" did not finish within 600000 ms');
  });

  it('gives each call its own time', async () => {
    const clock = new FakeClock();
    const server = new McpServer({ name: 's', version: '1' }, { clock, handlerTimeoutMs: 1000 });
    server.registerPrompt('never', {}, () => new Promise<never>(() => undefined));
    const peer = await RawPeer.open(server, version);
    const first = peer.request('prompts/get', { name: 'never' });
    await peer.settle();
    clock.advance(600);
    const second = peer.request('prompts/get', { name: 'never' }, 'second');
    await peer.settle();
    clock.advance(400);
    expect((await first).error).toEqual({ code: -32603, message: '"never" did not finish within 1000 ms' });
    expect(peer.answersTo('second')).toEqual([]);
    clock.advance(600);
    expect((await second).error?.code).toBe(-32603);
  });

  it('leaves no timer once the server is closed', async () => {
    const clock = new FakeClock();
    const { server, started } = createWaiting({ clock });
    const peer = await RawPeer.open(server, version);
    void peer.request('tools/call', { name: 'wait' });
    await started.promise;
    expect(clock.running).toBeGreaterThan(0);
    await server.close();
    expect(clock.running).toBe(0);
  });
});

it('does not count the time that a question to the client takes', async () => {
  const clock = new FakeClock();
  const server = new McpServer({ name: 's', version: '1' }, { clock, handlerTimeoutMs: 1000 });
  const hang = defer();
  server.registerTool('ask', {}, async (ctx) => {
    await ctx.listRoots();
    hang.resolve();
    return new Promise<never>(() => undefined);
  });
  const peer = await RawPeer.open(server, '2025-11-25', { capabilities: { roots: {} } });
  const call = peer.request('tools/call', { name: 'ask' }, 'call');
  const asked = await peer.next((message) => message.method === 'roots/list');
  clock.advance(5000);
  await peer.settle();
  expect(peer.answersTo('call')).toEqual([]);
  peer.send({ jsonrpc: '2.0', id: asked.id, result: { roots: [] } });
  await hang.promise;
  await peer.settle();
  clock.advance(999);
  await peer.settle();
  expect(peer.answersTo('call')).toEqual([]);
  clock.advance(1);
  expect((await call).result.content[0].text).toContain('did not finish within 1000 ms');
});

it('[CANCEL-009] ignores an answer that comes after the question was given up', async () => {
  const logger = new MemoryLogger();
  const server = new McpServer({ name: 's', version: '1' }, { logger });
  const controller = new AbortController();
  server.registerTool('ask', {}, async (ctx) => {
    await ctx.listRoots({ signal: controller.signal }).catch(() => undefined);
    return 'gave up';
  });
  const peer = await RawPeer.open(server, '2025-11-25', { capabilities: { roots: {} } });
  const call = peer.callTool('ask');
  const asked = await peer.next((message) => message.method === 'roots/list');
  controller.abort(new Error('no longer'));
  expect((await call).content[0].text).toBe('gave up');
  expect((await peer.nextNotification('notifications/cancelled')).params).toMatchObject({ requestId: asked.id });
  peer.send({ jsonrpc: '2.0', id: asked.id, result: { roots: [] } });
  expect(await peer.call('ping')).toEqual({});
});

it('[CANCEL-002] reaches the modern handlers of one connection one by one', async () => {
  const { server, started, aborted } = createWaiting();
  const peer = await RawPeer.open(server, MODERN);
  void peer.request('tools/call', { name: 'wait' }, 'one');
  await started.promise;
  peer.notify('notifications/cancelled', { requestId: 'one', reason: 'r' });
  expect((await aborted.promise).reason).toBe('r');
});
