import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { McpServer, type HandlerContext } from '@mortise/server';
import { LEGACY, type Loose, MODERN, RawPeer, type Version } from './raw-peer.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { MemoryLogger } from './support.ts';

const everything = { roots: { listChanged: true }, sampling: { tools: {} }, elicitation: { form: {}, url: {} } };

async function open(version: Version, run: (ctx: HandlerContext) => Promise<unknown>, options: Loose = {}): Promise<RawPeer> {
  const server = new McpServer({ name: 'asks', version: '1' }, options);
  server.registerTool('run', {}, async (ctx) => {
    try {
      return JSON.stringify((await run(ctx)) ?? null);
    } catch (error) {
      return `rejected: ${(error as { code?: string }).code ?? ''} ${(error as Error).message}`;
    }
  });
  return RawPeer.open(server, version, { capabilities: everything });
}
const run = async (peer: RawPeer): Promise<string> => (await peer.callTool('run')).content[0].text;

describe.each(LEGACY)('questions to the client in %s', (version) => {
  const hasElicitation = version === '2025-06-18' || version === '2025-11-25';

  it('[BASE-020] are requests on the channel, answered by the client', async () => {
    const peer = await open(version, (ctx) => ctx.listRoots());
    peer.onRequest = () => ({ roots: [{ uri: 'file:///home', name: 'home' }] });
    expect(JSON.parse(await run(peer))).toEqual({ roots: [{ uri: 'file:///home', name: 'home' }] });
    expect(peer.requests()).toMatchObject([{ method: 'roots/list' }]);
  });

  it('[PROG-002] ask for progress of themselves, by which their time begins anew', async () => {
    const clock = new FakeClock();
    const peer = await open(version, (ctx) => ctx.sample({ messages: [], maxTokens: 5 }, { timeoutMs: 1000 }), { clock });
    peer.onRequest = () => undefined;
    const running = run(peer);
    const { id, params } = await peer.next(({ method }) => method === 'sampling/createMessage');
    const { progressToken } = params._meta;
    expect(progressToken).toEqual(expect.any(Number));
    for (const progress of [1, 2, 3]) {
      clock.advance(900);
      peer.notify('notifications/progress', { progressToken, progress });
      await peer.settle();
    }
    peer.send({ jsonrpc: '2.0', id, result: { role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'm' } });
    expect(JSON.parse(await running)).toMatchObject({ model: 'm' });
  });

  it("sample the client's model", async () => {
    const peer = await open(version, (ctx) =>
      ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 }),
    );
    peer.onRequest = () => ({ role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'm' });
    expect(JSON.parse(await run(peer))).toMatchObject({ role: 'assistant', model: 'm' });
    expect(peer.requests()[0]?.params).toMatchObject({ maxTokens: 5, messages: [{ role: 'user' }] });
  });

  it('elicit with a form of any library, whose answer is checked', async () => {
    const requestedSchema = { name: z.string(), age: z.number().default(18) };
    const peer = await open(version, (ctx) => ctx.elicit({ message: 'Who?', requestedSchema }));
    peer.onRequest = () => ({ action: 'accept', content: { name: 'Ann' } });
    const text = await run(peer);
    if (!hasElicitation) {
      expect(text).toContain('ERR_ASK_UNAVAILABLE');
      expect(peer.requests()).toEqual([]);
      return;
    }
    expect(JSON.parse(text)).toEqual({ action: 'accept', content: { name: 'Ann', age: 18 } });
    expect(peer.requests()[0]?.params.requestedSchema).toMatchObject({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    });
    peer.onRequest = () => ({ action: 'accept', content: { name: 5 } });
    expect(await run(peer)).toContain('ERR_INVALID_ANSWER');
    peer.onRequest = () => ({ action: 'decline' });
    expect(JSON.parse(await run(peer))).toEqual({ action: 'decline' });
  });

  it('reject with the refusal of the client', async () => {
    const peer = await open(version, (ctx) => ctx.sample({ messages: [], maxTokens: 1 }));
    peer.onRequest = () => ({ error: { code: -1, message: 'User rejected sampling request' } });
    expect(await run(peer)).toBe('rejected: ERR_REMOTE User rejected sampling request');
  });

  it('[TIME-001][TIME-003] reject when no answer comes in time, and tell the client', async () => {
    const clock = new FakeClock();
    const peer = await open(version, (ctx) => ctx.listRoots({ timeoutMs: 500 }), { clock });
    const text = run(peer);
    const asked = await peer.next((message) => message.method === 'roots/list');
    clock.advance(500);
    expect(await text).toContain('ERR_TIMEOUT');
    expect((await peer.nextNotification('notifications/cancelled')).params.requestId).toBe(asked.id);
  });

  it('end with their call', async () => {
    const peer = await open(version, (ctx) => ctx.listRoots());
    void peer.request('tools/call', { name: 'run' }, 'call');
    const asked = await peer.next((message) => message.method === 'roots/list');
    peer.notify('notifications/cancelled', { requestId: 'call' });
    expect((await peer.nextNotification('notifications/cancelled')).params.requestId).toBe(asked.id);
  });

  it('may be anything that the two agree on', async () => {
    const peer = await open(version, (ctx) => ctx.sendRequest({ method: 'acme/ask', params: { a: 1 } }));
    peer.onRequest = ({ params }) => ({ got: params.a });
    expect(JSON.parse(await run(peer))).toEqual({ got: 1 });
  });

  it('never reuse an id', async () => {
    const ask = (ctx: HandlerContext) => ctx.sendRequest({ method: 'roots/list' });
    const peer = await open(version, async (ctx) => [await ask(ctx), await ask(ctx), await ask(ctx)]);
    peer.onRequest = () => ({ roots: [] });
    await run(peer);
    await run(peer);
    const ids = peer.requests().map((message) => message.id);
    expect(new Set(ids).size).toBe(6);
  });
});

describe('deprecated features', () => {
  it('[DEPR-003][VERS-016] warn of includeContext once, and are not used unless a handler does', async () => {
    const logger = new MemoryLogger();
    const peer = await open('2025-11-25', (ctx) => ctx.sample({ messages: [], maxTokens: 1, includeContext: 'thisServer' }), { logger });
    peer.onRequest = () => ({ role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' });
    expect(logger.lines).toEqual([]);
    await run(peer);
    await run(peer);
    expect(logger.lines.filter(({ message }) => message.includes('includeContext'))).toHaveLength(1);
    const plain = await open('2025-11-25', (ctx) => ctx.sample({ messages: [], maxTokens: 1 }), { logger });
    plain.onRequest = peer.onRequest;
    await run(plain);
    expect(plain.requests()[0]?.params).not.toHaveProperty('includeContext');
  });

  it('[DEPR-002] say in their doc comments what to use instead', () => {
    const source = readFileSync(new URL('../src/handler-context.ts', import.meta.url), 'utf8');
    const commentOf = (member: string): string => /\/\*\*(?:(?!\/\*\*)[\s\S])*$/.exec(source.slice(0, source.indexOf(member)))?.[0] ?? '';
    for (const member of ['export type HandlerLog', '  sample(', '  listRoots('])
      expect(commentOf(member)).toMatch(/@deprecated since 2026-07-28[\s\S]*(write to|call a|take directories)/);
  });
});

describe('steps', () => {
  it.each(['2025-11-25', MODERN] as const)('run once in %s, with a key that stays the same', async (version) => {
    const keys: string[] = [];
    let runs = 0;
    const step = (ctx: HandlerContext) =>
      ctx.once('charge', (key) => {
        keys.push(key);
        return ++runs;
      });
    const peer = await open(version, async (ctx) => [await step(ctx), await step(ctx), await ctx.once('other', () => 'x')]);
    expect(JSON.parse(await run(peer))).toEqual([1, 1, 'x']);
    expect(runs).toBe(1);
    await run(peer);
    expect(new Set(keys).size).toBe(2);
  });

  it('may be tried again after they failed', async () => {
    let runs = 0;
    const peer = await open(MODERN, async (ctx) => {
      await ctx.once('s', () => Promise.reject(new Error('first'))).catch(() => undefined);
      return ctx.once('s', () => ++runs);
    });
    expect(await run(peer)).toBe('1');
  });
});
