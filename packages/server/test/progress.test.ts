import { describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { McpServer, type HandlerContext } from '@mortise/server';
import { ALL, type Loose, RawPeer, type Version } from './raw-peer.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { defer, type Deferred } from './support.ts';

type Run = (ctx: HandlerContext) => Promise<unknown> | unknown;

async function open(version: Version, run: Run, options: Loose = {}): Promise<RawPeer> {
  const server = new McpServer({ name: 'progress', version: '1' }, options);
  server.registerTool('run', {}, async (ctx) => {
    await run(ctx);
    return 'done';
  });
  return RawPeer.open(server, version);
}
const call = (peer: RawPeer, progressToken?: unknown): Promise<Loose> =>
  peer.call('tools/call', { name: 'run', ...(progressToken === undefined ? {} : { _meta: { progressToken } as JsonObject }) });
const steps = (peer: RawPeer): Loose[] => peer.notifications('notifications/progress').map((message) => message.params);

describe.each(ALL)('progress in %s', (version) => {
  it.each(['token', 7, 0, ''])('[PROG-003][META-021] names the token %j as the client gave it', async (token) => {
    const peer = await open(version, (ctx) => ctx.progress(1));
    await call(peer, token);
    expect(steps(peer)).toEqual([{ progressToken: token, progress: 1 }]);
  });

  it('[PROG-007] is not sent to a client that did not ask', async () => {
    const peer = await open(version, (ctx) => ctx.progress(1));
    await call(peer);
    expect(steps(peer)).toEqual([]);
  });

  it('[PROG-004] grows: what does not increase is dropped', async () => {
    const peer = await open(version, async (ctx) => {
      for (const value of [1, 1, 0.5, 2, Number.NaN, Infinity, 1.5, 3]) await ctx.progress(value);
    });
    await call(peer, 't');
    expect(steps(peer).map((step) => step.progress)).toEqual([1, 2, 3]);
  });

  it('[PROG-005][PROG-006] may be fractional, with a total, and a message where the revision has one', async () => {
    const peer = await open(version, async (ctx) => {
      await ctx.progress(0.25, 1.5, 'a quarter');
      await ctx.progress({ progress: 0.5, total: 1.5, message: 'a half' });
    });
    await call(peer, 't');
    const message = version !== '2024-11-05';
    expect(steps(peer)).toEqual([
      { progressToken: 't', progress: 0.25, total: 1.5, ...(message ? { message: 'a quarter' } : {}) },
      { progressToken: 't', progress: 0.5, total: 1.5, ...(message ? { message: 'a half' } : {}) },
    ]);
  });

  it('[PROG-008] stops with the answer', async () => {
    const late = defer();
    let context: HandlerContext | undefined;
    const peer = await open(version, (ctx) => {
      context = ctx;
      void late.promise.then(() => ctx.progress(5));
      return ctx.progress(1);
    });
    await call(peer, 't');
    late.resolve();
    await late.promise;
    await context?.sendNotification({ method: 'notifications/progress', params: { progressToken: 't', progress: 9 } });
    await context?.notify('notifications/acme', {});
    await peer.settle();
    expect(peer.received.at(-1)?.result).toBeDefined();
  });

  it('[PROG-009] is merged to the newest once a burst is used up, and the last is always sent', async () => {
    const clock = new FakeClock();
    const peer = await open(
      version,
      async (ctx) => {
        for (let value = 1; value <= 100; value++) await ctx.progress(value, 100);
        clock.advance(50);
        for (let value = 101; value <= 200; value++) await ctx.progress(value, 200);
      },
      { clock },
    );
    await call(peer, 't');
    expect(steps(peer).map((step) => step.progress)).toEqual([...Array.from({ length: 20 }, (_, step) => step + 1), 100, 200]);
  });

  it('[PROG-001] keeps calls with different tokens apart', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('run', { inputSchema: { type: 'object', properties: { n: { type: 'number' } } } }, async ({ n }, ctx) => {
      await ctx.progress(Number(n));
      await Promise.resolve();
      await ctx.progress(Number(n) + 1);
      return 'done';
    });
    const peer = await RawPeer.open(server, version);
    await Promise.all([1, 10].map((n) => peer.call('tools/call', { name: 'run', arguments: { n }, _meta: { progressToken: `t${n}` } })));
    for (const n of [1, 10]) {
      expect(
        steps(peer)
          .filter((step) => step.progressToken === `t${n}`)
          .map((step) => step.progress),
      ).toEqual([n, n + 1]);
    }
  });

  it('[PROG-003] is sent under the token of its own call alone', async () => {
    const peer = await open(version, async (ctx) => {
      await ctx.sendNotification({ method: 'notifications/progress', params: { progressToken: 'other', progress: 1 } });
      await ctx.sendNotification({ method: 'notifications/progress', params: { progressToken: 't', progress: 2, total: 3 } });
    });
    await call(peer, 't');
    expect(steps(peer)).toEqual([{ progressToken: 't', progress: 2, total: 3 }]);
  });
});

it('[PROG-008] hands nothing to a host after the answer, or once the caller has left', async () => {
  const sent: Loose[] = [];
  const contexts: HandlerContext[] = [];
  const server = new McpServer({ name: 's', version: '1' }, { capabilities: { logging: {} } });
  server.registerTool('run', {}, (ctx) => {
    contexts.push(ctx);
    return 'done';
  });
  server.registerTool('leave', {}, async (ctx) => {
    controller.abort(new Error('left'));
    await ctx.notify('notifications/acme');
    await ctx.progress(1);
    await ctx.log.error('late');
    return 'unheard';
  });
  const controller = new AbortController();
  const call = {
    principal: 'x',
    signal: controller.signal,
    cancel: () => undefined,
    get isCancelled() {
      return controller.signal.aborted;
    },
    send: (message: Loose) => Promise.resolve(void sent.push(message)),
  };
  const _meta = {
    progressToken: 't',
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/logLevel': 'debug',
  };
  await server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'run', _meta } }, call);
  for (const ctx of contexts) {
    await ctx.notify('notifications/acme');
    await ctx.progress(1);
    await ctx.log.error('late');
  }
  await server.handle({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'leave', _meta } }, call);
  expect(sent).toEqual([]);
});

it.each(ALL)('sends a notification of the program as it is, with its params or without, in %s', async (version) => {
  const server = new McpServer({ name: 's', version: '1' });
  server.registerTool('t', {}, async (ctx) => {
    await ctx.notify('notifications/acme');
    await ctx.notify('notifications/acme', { at: 1 });
    return 'done';
  });
  const peer = await RawPeer.open(server, version);
  await peer.callTool('t');
  const acme = { jsonrpc: '2.0', method: 'notifications/acme' };
  expect(peer.notifications()).toEqual([acme, { ...acme, params: { at: 1 } }]);
});

it('merges while the transport is full, and sends the last before the answer', async () => {
  const sent: Loose[] = [];
  const gates: Deferred<void>[] = [];
  const server = new McpServer({ name: 's', version: '1' });
  server.registerTool('run', {}, async (ctx) => {
    for (let value = 1; value <= 5; value++) await ctx.progress(value);
    gates[0]?.resolve(undefined);
    await gates[0]?.promise;
    await new Promise((resolve) => setImmediate(resolve));
    for (let value = 6; value <= 9; value++) await ctx.progress(value);
    return 'done';
  });
  const request: Loose = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'run',
      _meta: {
        progressToken: 't',
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  };
  const send = (message: Loose): Promise<void> => {
    sent.push(message.params.progress);
    const gate = defer();
    gates.push(gate);
    return gate.promise;
  };
  const signal = new AbortController().signal;
  const answer = await server.handle(request, { principal: 'x', signal, cancel: () => undefined, isCancelled: false, send });
  expect('result' in answer).toBe(true);
  expect(sent).toEqual([1, 5, 9]);
});
