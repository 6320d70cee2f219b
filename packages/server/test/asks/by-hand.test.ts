/** Handlers that return their questions instead of waiting for the answers. */

import { describe, expect, it } from 'vitest';
import { type HandlerContext, inputRequired, McpServer } from '@mortise/server';
import { ALL, LEGACY, type Loose, MODERN, RawPeer } from '../raw-peer.ts';
import { MemoryLogger } from '../support.ts';
import { answerTo, askName, callIn, callThrough, everything, form, obliging, open, openPeer, serverOf } from './chain.ts';

const who = { method: 'elicitation/create', params: form('Who?') } as const;
const sampling = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } as const;

/** Asks for a name, then for a colour, and keeps the name in its state. */
function twoQuestions(ctx: HandlerContext): Loose {
  const { inputResponses: answers, requestState } = ctx;
  if (!answers) return inputRequired({ inputRequests: { name: who }, requestState: { step: 1 } });
  if (answers['name']) {
    return inputRequired({
      inputRequests: { colour: { ...who, params: form('Colour?') } },
      requestState: { step: 2, name: (answers['name'] as Loose).content.name, before: requestState as Loose },
    });
  }
  return JSON.stringify([requestState, (answers['colour'] as Loose).content.name]);
}

describe('inputRequired', () => {
  it.each(['2025-06-18', '2025-11-25', MODERN] as const)('asks and is run again with the answers in %s', async (version) => {
    const { asked, text } = await callIn(version, serverOf(twoQuestions));
    expect(asked.map(({ params }) => params.message)).toEqual(['Who?', 'Colour?']);
    expect(JSON.parse(text ?? '')).toEqual([{ step: 2, name: 'Who?', before: { step: 1 } }, 'Colour?']);
  });

  it.each(['2025-11-25', MODERN] as const)('works in prompts and resources, and from handlers that do not wait, in %s', async (version) => {
    const server = new McpServer({ name: 's', version: '1' });
    const ask = (ctx: HandlerContext): Loose =>
      ctx.inputResponses ? `hello ${(ctx.inputResponses['who'] as Loose).content.name}` : inputRequired({ inputRequests: { who } });
    server.registerPrompt('greet', {}, ask);
    server.registerResource('note', 'note://1', { ttlMs: 9, cacheScope: 'public' }, (_uri, ctx) => ask(ctx));
    server.registerTool('plain', {}, ask);
    const peer = await RawPeer.open(server, version, { capabilities: everything });
    peer.onRequest = (message) => obliging(message, '') ?? {};
    const run = async (method: string, params: Loose): Promise<Loose> => {
      if (version !== MODERN) return peer.call(method, params);
      const { asked, result } = await callThrough(peer, params, obliging, method);
      expect(asked).toHaveLength(1);
      expect(Object.keys(asked[0]).toSorted()).toEqual(['_meta', 'inputRequests', 'requestState', 'resultType']);
      return result;
    };
    expect((await run('prompts/get', { name: 'greet' })).messages[0].content.text).toBe('hello Who?');
    expect((await run('resources/read', { uri: 'note://1' })).contents[0].text).toBe('hello Who?');
    expect((await run('tools/call', { name: 'plain' })).content[0].text).toBe('hello Who?');
  });

  it('[PAT-006][MRTR-021] has its state sealed: nobody reads or changes what the handler keeps in it', async () => {
    const peer = await open(twoQuestions);
    const { result } = await peer.request('tools/call', { name: 'run' });
    expect(Buffer.from(result.requestState, 'base64url').toString('latin1')).not.toContain('step');
    const retry = { name: 'run', ...answerTo(result) };
    expect((await peer.request('tools/call', { ...retry, requestState: '{"step":2}' })).error?.code).toBe(-32602);
    expect((await peer.request('tools/call', { ...retry, requestState: `${result.requestState}x` })).error?.code).toBe(-32602);
  });

  it('[MRTR-006] may have a state alone, with which the client comes back at once', async () => {
    const peer = await open((ctx) => (ctx.requestState === 'later' ? 'done' : inputRequired({ requestState: 'later' })));
    const { asked, text } = await callThrough(peer);
    expect(asked).toHaveLength(1);
    expect(asked[0]).not.toHaveProperty('inputRequests');
    expect(text).toBe('done');
  });

  it.each(LEGACY)('[MRTR-027] is not seen by the client in %s', async (version) => {
    const server = serverOf((ctx) => {
      const roots = ctx.inputResponses?.['roots'];
      return roots ? JSON.stringify(roots) : inputRequired({ inputRequests: { roots: { method: 'roots/list' } }, requestState: 'secret' });
    });
    const { peer, text } = await callIn(version, server);
    expect(JSON.parse(text ?? '')).toEqual({ roots: [{ uri: 'file:///home/ann' }] });
    for (const word of ['resultType', 'inputRequests', 'requestState', 'secret']) expect(JSON.stringify(peer.received)).not.toContain(word);
  });

  it.each<[string, (ctx: HandlerContext) => Loose]>([
    ['at once', (ctx) => (ctx.inputResponses ? new Promise(() => undefined) : inputRequired({ inputRequests: { who } }))],
    ['later', async (ctx) => (ctx.inputResponses ? new Promise(() => undefined) : inputRequired({ inputRequests: { who } }))],
  ])('[ROBUSTNESS-4] given %s, does not keep a second run that hangs from its time limit', async (_when, run) => {
    const server = new McpServer({ name: 's', version: '1' }, { handlerTimeoutMs: 20 });
    server.registerTool('run', {}, run);
    const peer = await RawPeer.open(server, '2025-11-25', { capabilities: everything });
    peer.onRequest = (message) => obliging(message, '') ?? {};
    expect((await peer.callTool('run')).content[0].text).toMatch(/did not finish within 20 ms/);
  });

  it.each<[string, (ctx: HandlerContext) => Loose]>([
    ['by hand', () => inputRequired({ inputRequests: { who } })],
    ['by hand, later', async () => inputRequired({ inputRequests: { who } })],
    ['by waiting', (ctx) => askName(ctx, 'Who?')],
  ])('[ROBUSTNESS-4] asked %s, does not wait for a hung step beyond the time limit', async (_how, ask) => {
    const server = new McpServer({ name: 's', version: '1' }, { handlerTimeoutMs: 200 });
    server.registerTool('run', {}, (ctx) => {
      void ctx.once('hangs', () => new Promise<never>(() => undefined));
      return ask(ctx);
    });
    const peer = await openPeer(server);
    expect((await peer.callTool('run')).content[0].text).toMatch(/did not finish within 200 ms/);
  });

  it('[MRTR-006] that wants nothing is the fault of the handler', async () => {
    const logger = new MemoryLogger();
    for (const version of ['2026-07-28'] as const) {
      const { result } = await callIn(
        version,
        serverOf(() => inputRequired({}), { logger }),
      );
      expect(result.isError).toBe(true);
    }
    expect(logger.lines.some(({ data }) => String(data?.['error']).includes('give at least one of them'))).toBe(true);
  });

  it('[PAT-003][MRTR-010][MRTR-011] asks nothing that the client did not declare', async () => {
    const server = serverOf(() => inputRequired({ inputRequests: { who, sampling } }));
    for (const version of ALL) {
      const { asked, error, result } = await callIn(version, server, undefined, { elicitation: {} });
      if (version === MODERN) expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { sampling: {} } } });
      else expect(result).toMatchObject({ isError: true });
      expect(asked.filter(({ method }) => method === 'sampling/createMessage')).toEqual([]);
    }
  });

  it('[MRTR-008] asks for nothing but the three kinds, in their own shape', async () => {
    const asks: Loose[] = [
      { method: 'acme/ask', params: {} },
      { method: 'ping' },
      { params: {} },
      'roots/list',
      {
        method: 'elicitation/create',
        params: { message: 'm', requestedSchema: { type: 'object', properties: { a: { type: 'object' } } } },
      },
      { method: 'sampling/createMessage', params: { messages: [] } },
    ];
    for (const ask of asks) {
      const { asked, result } = await callIn(
        MODERN,
        serverOf(() => ({ resultType: 'input_required', inputRequests: { ask } })),
      );
      expect(asked).toEqual([]);
      expect(result.isError).toBe(true);
    }
    const stray = { jsonrpc: '2.0', id: 7, method: 'roots/list' };
    const peer = await open(() => ({ resultType: 'input_required', inputRequests: { stray } }));
    expect((await peer.request('tools/call', { name: 'run' })).result.inputRequests).toEqual({ stray: { method: 'roots/list' } });
  });

  it('[MRTR-024] gets its answers checked for their shape, and no others', async () => {
    const peer = await open((ctx) => (ctx.inputResponses ? JSON.stringify(ctx.inputResponses) : inputRequired({ inputRequests: { who } })));
    const { result } = await peer.request('tools/call', { name: 'run' });
    const { requestState } = result;
    const bad = await peer.request('tools/call', { name: 'run', requestState, inputResponses: { who: { action: 'perhaps' } } });
    expect(bad.error?.code).toBe(-32602);
    const stray = { who: { action: 'decline' }, other: { action: 'accept' } };
    const good = await peer.request('tools/call', { name: 'run', requestState, inputResponses: stray });
    expect(JSON.parse(good.result.content[0].text)).toEqual({ who: { action: 'decline' } });
    const none = await peer.request('tools/call', { name: 'run', requestState });
    expect(JSON.parse(none.result.content[0].text)).toEqual({});
  });

  it('[MRTR-024] is shown answers that come without a state, unless they are no objects', async () => {
    const peer = await open((ctx) => (ctx.inputResponses ? JSON.stringify(ctx.inputResponses) : inputRequired({ inputRequests: { who } })));
    const answers = { who: { action: 'accept', content: { name: 'Ada' } }, other: { action: 'decline' } };
    const { result } = await peer.request('tools/call', { name: 'run', inputResponses: answers });
    expect(JSON.parse(result.content[0].text)).toEqual(answers);
    const unreadable = await peer.request('tools/call', { name: 'run', inputResponses: { who: 5 } });
    expect(unreadable.error?.code).toBe(-32602);
  });

  it.each(['2025-11-25', MODERN] as const)('is bounded in %s', async (version) => {
    const server = serverOf(() => inputRequired({ inputRequests: { who } }), { requestState: { maxRounds: 3 } });
    const { asked, result } = await callIn(version, server);
    expect(asked).toHaveLength(3);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('maxRounds') }] });
  });

  it.each(['2025-11-25', MODERN] as const)('goes with steps, and with what was told already, in %s', async (version) => {
    let steps = 0;
    const server = serverOf(
      async (ctx) => {
        await ctx.log.info('begin');
        const step = await ctx.once('step', () => ++steps);
        if (!ctx.inputResponses) return inputRequired({ inputRequests: { who } });
        await ctx.log.info('end');
        return `${step}`;
      },
      { capabilities: { logging: {} } },
    );
    const peer = await RawPeer.open(server, version, { capabilities: everything, logLevel: 'debug' });
    peer.onRequest = (message) => obliging(message, '') ?? {};
    const text = version === MODERN ? (await callThrough(peer)).text : (await peer.callTool('run')).content[0].text;
    expect(text).toBe('1');
    expect(steps).toBe(1);
    expect(peer.notifications('notifications/message').map(({ params }) => params.data)).toEqual(['begin', 'end']);
  });

  it('goes with questions that are waited for', async () => {
    const peer = await open(async (ctx) => {
      const name = await askName(ctx, 'a');
      if (!ctx.inputResponses?.['who']) return inputRequired({ inputRequests: { who }, requestState: name });
      return JSON.stringify([name, ctx.requestState]);
    });
    const { asked, text } = await callThrough(peer);
    expect(asked).toHaveLength(2);
    expect(text).toBe('["a","a"]');
  });

  it('fails the call in a legacy session whose client refuses', async () => {
    const server = serverOf(() => inputRequired({ inputRequests: { who } }));
    const { error } = await callIn('2025-11-25', server, () => ({ error: { code: -1, message: 'User rejected' } }));
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('the client did not answer') });
  });

  it('gives low-level handlers the state that they gave, in the params too', async () => {
    const server = new McpServer({ name: 's', version: '1' }, { capabilities: { tools: {} } });
    server.server.setRequestHandler('tools/call', ({ params }) => {
      const { requestState, inputResponses } = params as Loose;
      if (requestState === undefined) return { resultType: 'input_required', inputRequests: { who }, requestState: 'mine' } as Loose;
      return { content: [{ type: 'text', text: JSON.stringify([requestState, inputResponses.who.action]) }] };
    });
    const peer = await openPeer(server);
    expect((await callThrough(peer)).text).toBe('["mine","accept"]');
  });
});
