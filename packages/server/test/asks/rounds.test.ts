/** What a handler asks in the newest revision: gathered, sent as a result, answered in the next round. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HandlerContext, McpServer, Suspended } from '@mortise/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { type Loose, RawPeer } from '../raw-peer.ts';
import { defer, MemoryLogger } from '../support.ts';
import { answerTo, askName, callThrough, everything, form, messagesOf, obliging, open, openPeer, serverOf } from './chain.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => process.on('unhandledRejection', note));
afterEach(async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled.splice(0)).toEqual([]);
});

const sample = (ctx: HandlerContext): Promise<Loose> =>
  ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Capital?' } }], maxTokens: 9 });

describe('a question', () => {
  it('[MRTR-001][MRTR-002][PAT-002] stands in an input_required result, and no request is sent', async () => {
    const peer = await open(async (ctx) => `hello ${await askName(ctx, 'Who?')}`);
    const { result } = await peer.request('tools/call', { name: 'run' });
    expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    expect(Object.values(result.inputRequests)).toEqual([
      {
        method: 'elicitation/create',
        params: {
          mode: 'form',
          message: 'Who?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
      },
    ]);
    const final = await peer.request('tools/call', { name: 'run', ...answerTo(result) });
    expect(final.result).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: 'hello Who?' }] });
    expect(peer.requests()).toEqual([]);
  });

  it('[MRTR-005][MRTR-006] gives a result of its own kind, with the questions and a state', async () => {
    const peer = await open((ctx) => ctx.listRoots());
    const { result } = await peer.request('tools/call', { name: 'run' });
    expect(Object.keys(result).toSorted()).toEqual(['_meta', 'inputRequests', 'requestState', 'resultType']);
    expect(result.resultType).toBe('input_required');
  });

  it('[MRTR-007][MRTR-008] has a key of its own, and neither an id nor a version', async () => {
    const peer = await open((ctx) => Promise.all([askName(ctx, 'a'), askName(ctx, 'a'), sample(ctx), ctx.listRoots()]));
    const { result } = await peer.request('tools/call', { name: 'run' });
    const requests = Object.values<Loose>(result.inputRequests);
    expect(requests.map(({ method }) => method)).toEqual([
      'elicitation/create',
      'elicitation/create',
      'sampling/createMessage',
      'roots/list',
    ]);
    for (const request of requests) expect(Object.keys(request).filter((key) => key !== 'method' && key !== 'params')).toEqual([]);
    expect(requests[3]).toEqual({ method: 'roots/list' });
  });

  it.each([
    ['prompts/get', { name: 'greet' }, (result: Loose) => result.messages[0].content.text],
    ['resources/read', { uri: 'note://1' }, (result: Loose) => result.contents[0].text],
  ] as const)('[PAT-001] may be asked by %s too', async (method, params, textOf) => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerPrompt('greet', {}, async (ctx) => `hello ${await askName(ctx, 'Who?')}`);
    server.registerResource(
      'note',
      'note://1',
      { ttlMs: 5_000, cacheScope: 'public' },
      async (_uri, ctx) => `hello ${await askName(ctx, 'Who?')}`,
    );
    const peer = await openPeer(server);
    const { asked, result } = await callThrough(peer, params, obliging, method);
    expect(asked).toHaveLength(1);
    expect(textOf(result)).toBe('hello Who?');
  });

  it('[CACHE-002] says nothing of caching, though the resource would', async () => {
    const server = new McpServer({ name: 's', version: '1' }, { cache: { readTtlMs: 9 } });
    server.registerResource('note', 'note://1', { ttlMs: 5_000, cacheScope: 'public' }, async (_uri, ctx) => askName(ctx, 'Who?'));
    const peer = await openPeer(server);
    const { asked, result } = await callThrough(peer, { uri: 'note://1' }, obliging, 'resources/read');
    expect(asked[0]).not.toHaveProperty('ttlMs');
    expect(asked[0]).not.toHaveProperty('cacheScope');
    expect(result).toMatchObject({ ttlMs: 5_000, cacheScope: 'public' });
  });

  it('[MRTR-004] cannot be asked while another method is answered, by ctx or by a result', async () => {
    const server = new McpServer({ name: 's', version: '1' }, { capabilities: { tools: {} } });
    server.server.setRequestHandler('acme/do', async (_request, ctx) => ({
      code: await ctx.listRoots().then(
        () => 'asked',
        (error: { code: string }) => error.code,
      ),
    }));
    server.server.setRequestHandler('tools/list', () => ({ resultType: 'input_required', requestState: 'x' }));
    const peer = await openPeer(server);
    expect(await peer.call('acme/do')).toMatchObject({ code: 'ERR_ASK_UNAVAILABLE' });
    expect((await peer.request('tools/list')).error?.code).toBe(-32603);
  });

  it('[PAT-003][MRTR-010][MRTR-011] is refused with -32021 where the client did not declare on this request that it answers such', async () => {
    const cases: [(ctx: HandlerContext) => unknown, Loose, Loose][] = [
      [(ctx) => askName(ctx, 'a'), { sampling: {} }, { elicitation: {} }],
      [(ctx) => askName(ctx, 'a'), { elicitation: { url: {} } }, { elicitation: { form: {} } }],
      [(ctx) => ctx.elicit({ mode: 'url', message: 'm', url: 'https://a.example' }), { elicitation: {} }, { elicitation: { url: {} } }],
      [sample, { elicitation: {} }, { sampling: {} }],
      [(ctx) => ctx.sample({ messages: [], maxTokens: 1, toolChoice: { mode: 'auto' } }), { sampling: {} }, { sampling: { tools: {} } }],
      [(ctx) => ctx.listRoots(), {}, { roots: {} }],
    ];
    for (const [run, capabilities, requiredCapabilities] of cases) {
      const peer = await open(run, {}, { capabilities });
      const { error } = await peer.request('tools/call', { name: 'run' });
      expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities } });
    }
  });

  it('of a kind that the wire does not have is refused', async () => {
    const peer = await open((ctx) => ctx.sendRequest({ method: 'acme/ask' }).catch((error: { code: string }) => error.code));
    expect((await callThrough(peer)).text).toBe('ERR_ASK_UNAVAILABLE');
  });

  it("has its author's key, where it is given one", async () => {
    const peer = await open(async (ctx) => [await askName(ctx, 'a', 'user_name'), await askName(ctx, 'b', 'user_name')]);
    const { asked, text } = await callThrough(peer);
    expect(asked.map(({ inputRequests }) => Object.keys(inputRequests))).toEqual([['user_name'], ['user_name#2']]);
    expect(text).toBe('["a","b"]');
  });

  it("may be given up by its author's signal, and is not asked then", async () => {
    const controller = new AbortController();
    const peer = await open(async (ctx) => {
      const given = ctx.elicit(form('a'), { signal: controller.signal }).catch((error: Error) => error.message);
      const other = askName(ctx, 'b');
      controller.abort(new Error('no longer'));
      const late = await ctx.elicit(form('c'), { signal: controller.signal }).catch((error: Error) => error.message);
      return [await given, late, await other];
    });
    const { asked, text } = await callThrough(peer);
    expect(messagesOf(asked[0])).toEqual(['b']);
    expect(text).toBe('["no longer","no longer","b"]');
  });
});

describe('questions asked in one turn', () => {
  it('are asked without the one that has no JSON form, which rejects', async () => {
    const broken = { ...form('b'), n: 1n } as Loose;
    const peer = await open((ctx) => Promise.all([askName(ctx, 'a'), ctx.elicit(broken).catch((error: Error) => error.name)]));
    const { asked, text } = await callThrough(peer);
    expect(asked.map(messagesOf)).toEqual([['a']]);
    expect(text).toBe('["a","TypeError"]');
  });

  it('go out together, and the next ones in the next round', async () => {
    const peer = await open(async (ctx) => {
      const first = await Promise.all([askName(ctx, 'a'), Promise.resolve().then(() => askName(ctx, 'b'))]);
      return [...first, await askName(ctx, 'c')];
    });
    const { asked, text } = await callThrough(peer);
    expect(asked.map(messagesOf)).toEqual([['a', 'b'], ['c']]);
    expect(text).toBe('["a","b","c"]');
  });

  it('stay together in each branch, whatever the branch before them took', async () => {
    const branch = async (ctx: HandlerContext, name: string): Promise<string[]> => [
      await askName(ctx, `${name}1`),
      await askName(ctx, `${name}2`),
    ];
    const peer = await open((ctx) => Promise.all(['a', 'b', 'c'].map((name) => branch(ctx, name))));
    const { asked } = await callThrough(peer);
    expect(asked.map(messagesOf)).toEqual([
      ['a1', 'b1', 'c1'],
      ['a2', 'b2', 'c2'],
    ]);
  });

  it('wait for the next round when they come after the gathering', async () => {
    const late = defer();
    const caught: unknown[] = [];
    const peer = await open(async (ctx) => {
      try {
        return await Promise.all([askName(ctx, 'a'), late.promise.then(() => askName(ctx, 'b'))]);
      } catch (error) {
        caught.push(error);
        late.resolve();
        await late.promise.then(() => askName(ctx, 'b')).catch((again) => caught.push(again));
        throw error;
      }
    });
    const { asked, text } = await callThrough(peer);
    expect(asked.map(messagesOf)).toEqual([['a'], ['b']].slice(0, asked.length));
    expect(caught.every((error) => error instanceof Suspended)).toBe(true);
    expect(text).toBe('["a","b"]');
  });

  it('are at most a hundred in one result: the others come in the next', async () => {
    const peer = await open((ctx) => Promise.all(Array.from({ length: 250 }, (_, n) => askName(ctx, `q${n}`))));
    const { asked, text } = await callThrough(peer);
    expect(asked.map(({ inputRequests }) => Object.keys(inputRequests).length)).toEqual([100, 100, 50]);
    expect(JSON.parse(text ?? '').at(-1)).toBe('q249');
  });
});

describe('a run that ends with a question', () => {
  it('leaves by Suspended, runs its finally blocks and hangs nowhere', async () => {
    const trace: string[] = [];
    const peer = await open(async (ctx) => {
      trace.push('begin');
      try {
        return await askName(ctx, 'a');
      } catch (error) {
        trace.push((error as { code: string }).code);
        throw error;
      } finally {
        await new Promise((resolve) => setImmediate(resolve));
        trace.push('finally');
      }
    });
    expect((await callThrough(peer)).text).toBe('a');
    expect(trace).toEqual(['begin', 'ERR_SUSPENDED', 'finally', 'begin', 'finally']);
  });

  it('is over before the client is asked, so that two rounds never overlap', async () => {
    let running = 0;
    const peer = await open(async (ctx) => {
      running += 1;
      expect(running).toBe(1);
      try {
        return await askName(ctx, 'a');
      } finally {
        for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      }
    });
    expect((await callThrough(peer)).text).toBe('a');
  });

  it('asks all the same when its handler swallows Suspended, and the operator is warned once, by name', async () => {
    const logger = new MemoryLogger();
    const peer = await open(
      async (ctx, { n }) => {
        const name = await askName(ctx, 'a').catch(() => 'nobody');
        if (name === 'nobody' && n === 1) throw new Error('something else');
        return name;
      },
      { logger },
    );
    expect((await callThrough(peer)).text).toBe('a');
    expect((await callThrough(peer, { name: 'run', arguments: { n: 1 } })).text).toBe('a');
    const warnings = logger.lines.filter(({ level }) => level === 'warning');
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('tool "run" returned')]);
    await callThrough(peer, { name: 'other', arguments: { n: 1 } });
    expect(logger.lines.filter(({ message }) => message.includes('tool "other"') && message.includes('Suspended'))).toHaveLength(1);
  });

  it('warns of nobody who lets Suspended pass, also as the cause of another error', async () => {
    const logger = new MemoryLogger();
    const server = new McpServer({ name: 's', version: '1' }, { logger });
    server.registerPrompt('p', {}, (ctx) =>
      askName(ctx, 'a').catch((cause: Error) => {
        throw new Error('wrapped', { cause });
      }),
    );
    const peer = await openPeer(server);
    const { result } = await callThrough(peer, { name: 'p' }, obliging, 'prompts/get');
    expect(result.messages[0].content.text).toBe('a');
    expect(logger.lines).toEqual([]);
  });

  it('keeps a loop that swallows Suspended from holding the process', async () => {
    let stop = false;
    const peer = await open(async (ctx) => {
      for (;;) {
        try {
          return await askName(ctx, 'a');
        } catch (error) {
          if (stop) throw error;
        }
      }
    });
    const clock = setTimeout(() => (stop = true), 200);
    expect((await callThrough(peer)).text).toBe('a');
    clearTimeout(clock);
  });

  it('does not wait for ever for a handler that goes on: it aborts its signal and asks', async () => {
    const clock = new FakeClock();
    const aborted = defer<unknown>();
    let runs = 0;
    const peer = await open(
      async (ctx) => {
        if (runs++ === 0) {
          ctx.signal.addEventListener('abort', () => aborted.resolve(ctx.signal.reason));
          void ctx.elicit(form('a'));
          return new Promise(() => undefined);
        }
        return askName(ctx, 'a');
      },
      { clock },
    );
    const first = peer.request('tools/call', { name: 'run' });
    // The handler's time, and the gathering of its questions.
    while (clock.running < 2) await peer.settle();
    clock.advance(0);
    clock.advance(5_000);
    const { result } = await first;
    expect(messagesOf(result)).toEqual(['a']);
    expect(await aborted.promise).toBeInstanceOf(Suspended);
    expect((await peer.request('tools/call', { name: 'run', ...answerTo(result) })).result.content[0].text).toBe('a');
  });

  it('lets the outcome of its handler stand where that settles first', async () => {
    const peer = await open((ctx, { n }) => {
      void ctx.elicit(form('a'));
      if (n === 1) throw new Error('failed first');
      return 'done first';
    });
    expect((await callThrough(peer)).text).toBe('done first');
    expect((await callThrough(peer, { name: 'run', arguments: { n: 1 } })).result).toMatchObject({ isError: true });
  });

  it('asks nothing of a client that has left', async () => {
    const started = defer();
    const ended = defer<unknown>();
    const peer = await open(async (ctx) => {
      started.resolve();
      await askName(ctx, 'a').catch((error) => ended.resolve(error));
    });
    peer.send({ jsonrpc: '2.0', id: 'gone', method: 'tools/call', params: peer.params({ name: 'run' }) });
    await started.promise;
    peer.notify('notifications/cancelled', { requestId: 'gone', reason: 'bored' });
    expect(await ended.promise).toMatchObject({ code: 'ERR_CANCELLED', reason: 'bored' });
    await peer.settle();
    expect(peer.answersTo('gone')).toEqual([]);
  });

  it('has a bound and a signal of its own in each round', async () => {
    const clock = new FakeClock();
    const signals: AbortSignal[] = [];
    const peer = await open(
      async (ctx) => {
        signals.push(ctx.signal);
        await askName(ctx, 'a');
        return new Promise(() => undefined);
      },
      { clock, handlerTimeoutMs: 1_000 },
    );
    const first = peer.request('tools/call', { name: 'run' });
    while (clock.running < 2) await peer.settle();
    clock.advance(900);
    const { result } = await first;
    const second = peer.request('tools/call', { name: 'run', ...answerTo(result) });
    while (signals.length < 2) await peer.settle();
    clock.advance(900);
    await peer.settle();
    expect(signals[1]?.aborted).toBe(false);
    clock.advance(100);
    expect((await second).result).toMatchObject({ isError: true });
    expect(signals[0]).not.toBe(signals[1]);
    expect(signals[0]?.aborted).toBe(false);
  });
});

describe('middleware and low-level handlers', () => {
  it('are given the result that asks, as any other', async () => {
    const seen: unknown[] = [];
    const server = serverOf((ctx) => askName(ctx, 'a'));
    server.use(async (_call, next) => {
      const result = await next();
      seen.push(result['resultType']);
      return result;
    });
    const peer = await openPeer(server);
    expect((await callThrough(peer)).text).toBe('a');
    expect(seen).toEqual(['input_required', undefined]);
  });

  it('may change the params without breaking the seal of the state', async () => {
    let n = 0;
    const server = serverOf(async (ctx, args) => [args.n, await askName(ctx, 'a')]);
    server.use('tools/call', (call, next) => next({ ...call.params, arguments: { n: ++n } }));
    const peer = await openPeer(server);
    expect((await callThrough(peer)).text).toBe('[2,"a"]');
  });

  it('ask as tools do', async () => {
    const server = new McpServer({ name: 's', version: '1' }, { capabilities: { tools: {} } });
    server.server.setRequestHandler('tools/call', async (_request, ctx) => ({
      content: [{ type: 'text', text: await askName(ctx, 'a') }],
    }));
    const peer = await openPeer(server);
    expect((await callThrough(peer)).text).toBe('a');
  });
});

describe('what was told already', () => {
  it('in logs and notifications is not told again', async () => {
    const peer = await open(
      async (ctx) => {
        await ctx.log.info('begin');
        await ctx.notify('notifications/acme', { at: 1 });
        const name = await askName(ctx, 'a');
        await ctx.log.info(`got ${name}`);
        const other = await askName(ctx, 'b');
        await ctx.log.info(`got ${other}`);
        return 'done';
      },
      { capabilities: { logging: {} } },
      { logLevel: 'debug', capabilities: everything },
    );
    await callThrough(peer);
    expect(peer.notifications('notifications/message').map(({ params }) => params.data)).toEqual(['begin', 'got a', 'got b']);
    expect(peer.notifications('notifications/acme')).toHaveLength(1);
  });

  it('of progress is not told again, though each round has a token of its own', async () => {
    const peer = await open(async (ctx) => {
      await ctx.progress(1, 3);
      await askName(ctx, 'a');
      await ctx.progress(2, 3);
      await askName(ctx, 'b');
      await ctx.progress(3, 3);
      return 'done';
    });
    let token = 0;
    const params = { name: 'run' };
    let { result } = await peer.request('tools/call', { ...params, _meta: { progressToken: ++token } });
    while (result.resultType === 'input_required')
      ({ result } = await peer.request('tools/call', { ...params, ...answerTo(result), _meta: { progressToken: ++token } }));
    expect(peer.notifications('notifications/progress').map(({ params: told }) => [told.progressToken, told.progress])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });
});

describe('answers', () => {
  it('[MRTR-025][PAT-008] that are missing are asked for again', async () => {
    const peer = await open((ctx) => Promise.all([askName(ctx, 'a', 'a'), askName(ctx, 'b', 'b')]));
    let isFirst = true;
    const { asked, text } = await callThrough(peer, { name: 'run' }, (request, key) => {
      const isLeftOut = key === 'b' && isFirst;
      if (isLeftOut) isFirst = false;
      return isLeftOut ? undefined : obliging(request, key);
    });
    expect(asked.map(({ inputRequests }) => Object.keys(inputRequests))).toEqual([['a', 'b'], ['b']]);
    expect(text).toBe('["a","b"]');
  });

  it('[MRTR-012] may never come: the request can be made anew, and asks again', async () => {
    const peer = await open((ctx) => askName(ctx, 'a'));
    const { asked } = await callThrough(peer);
    const again = await callThrough(peer);
    expect(again.asked).toHaveLength(asked.length);
  });

  it('[MRTR-024] that nobody asked for are passed over', async () => {
    const peer = await open((ctx) => askName(ctx, 'a', 'a'));
    const { result } = await peer.request('tools/call', { name: 'run' });
    const wrong = { action: 'accept', content: { name: 'forged' } };
    const missing = await peer.request('tools/call', { name: 'run', requestState: result.requestState, inputResponses: { b: wrong } });
    expect(missing.result.resultType).toBe('input_required');
    const { inputResponses, requestState } = answerTo(missing.result) as Loose;
    const given = await peer.request('tools/call', { name: 'run', requestState, inputResponses: { ...inputResponses, b: wrong } });
    expect(given.result.content[0].text).toBe('a');
    const unsealed = await peer.request('tools/call', { name: 'run', inputResponses: { a: wrong } });
    expect(unsealed.result.resultType).toBe('input_required');
  });

  it.each([
    ['a number', 5],
    ['null', null],
    ['an action that does not exist', { action: 'maybe' }],
    ['content that no form has', { action: 'accept', content: { name: { deep: 1 } } }],
  ])('[MRTR-024] that are malformed (%s) are answered with -32602', async (_name, answer) => {
    const peer = await open((ctx) => askName(ctx, 'a', 'a'));
    const { result } = await peer.request('tools/call', { name: 'run' });
    const { error } = await peer.request('tools/call', {
      name: 'run',
      requestState: result.requestState,
      inputResponses: { a: answer as Loose },
    });
    expect(error?.code).toBe(-32602);
    expect(error?.message).toContain('inputResponses');
  });

  it.each([null, [], 'x', 5])('[PAT-008] that are no map (%s) are answered with -32602', async (inputResponses) => {
    const peer = await open((ctx) => askName(ctx, 'a', 'a'));
    const { result } = await peer.request('tools/call', { name: 'run' });
    const { error } = await peer.request('tools/call', {
      name: 'run',
      requestState: result.requestState,
      inputResponses: inputResponses as Loose,
    });
    expect(error?.code).toBe(-32602);
  });

  it('come under any key, also one that objects inherit', async () => {
    const peer = await open((ctx) => Promise.all(['__proto__', 'constructor', ''].map((key) => askName(ctx, `q${key}`, key))));
    const { asked, text } = await callThrough(peer);
    expect(Object.keys(asked[0].inputRequests)).toEqual(['__proto__', 'constructor', '']);
    expect(JSON.parse(text ?? '')).toEqual(['q__proto__', 'qconstructor', 'q']);
  });

  it('are not changed by what a handler does to the one it was given', async () => {
    const peer = await open(async (ctx) => {
      const roots = (await ctx.listRoots()) as Loose;
      const count = roots.roots.length;
      roots.roots.length = 0;
      await askName(ctx, 'a');
      return String(count);
    });
    expect((await callThrough(peer)).text).toBe('1');
  });
});

describe('a handler that asks something else when it runs again', () => {
  const changing = (): { run: (ctx: HandlerContext) => Promise<string>; runs: () => number } => {
    let runs = 0;
    return { run: (ctx) => askName(ctx, `Delete ${++runs} files?`), runs: () => runs };
  };

  it('gets ERR_ASK_CHANGED with both questions, and no answer to another question', async () => {
    const clock = new FakeClock();
    const { run } = changing();
    const caught = defer<Loose>();
    const peer = await open((ctx) => run(ctx).catch((error) => (caught.resolve(error), Promise.reject(error))), { clock });
    const first = peer.request('tools/call', { name: 'run' });
    while (clock.running < 2) await peer.settle();
    clock.advance(0);
    const { result } = await first;
    caught.resolve(undefined);
    const second = peer.request('tools/call', { name: 'run', ...answerTo(result) });
    // Opening the state takes as long as the platform's cryptography takes: the clock runs on until the answer is there.
    let isAnswered = false;
    void second.finally(() => (isAnswered = true));
    while (!isAnswered) {
      await new Promise((resolve) => setImmediate(resolve));
      await peer.settle();
      clock.advance(500);
    }
    const { content, isError } = (await second).result;
    expect(isError).toBe(true);
    expect(content[0].text).toContain('elicitation "Delete 1 files?"');
    expect(content[0].text).toContain('elicitation "Delete 2 files?"');
  });

  it('gets it at once where the author gave the question a key', async () => {
    let runs = 0;
    const codes: string[] = [];
    const peer = await open((ctx) =>
      askName(ctx, `Delete ${++runs} files?`, 'confirm').catch((error) => {
        codes.push(error.code);
        throw error;
      }),
    );
    const { result } = await callThrough(peer);
    expect(codes).toEqual(['ERR_SUSPENDED', 'ERR_ASK_CHANGED']);
    expect(result.isError).toBe(true);
  });

  it('shows no more than the beginning of a question', async () => {
    let runs = 0;
    const peer = await open((ctx) => askName(ctx, `${++runs}${'x'.repeat(5_000)}`, 'k').catch((error) => Promise.reject(error)));
    const { text } = await callThrough(peer);
    expect(text?.length).toBeLessThan(500);
  });

  it('is not confused with one whose I/O is slower this time', async () => {
    let runs = 0;
    const otherHasAsked = defer();
    const slow = async (): Promise<void> => {
      if (runs === 1) return;
      await otherHasAsked.promise;
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    const askAgain = (ctx: HandlerContext): Promise<string> => {
      const answer = askName(ctx, 'c');
      otherHasAsked.resolve();
      return answer;
    };
    const peer = await open((ctx) => {
      runs += 1;
      return Promise.all([askName(ctx, 'a').then(() => askAgain(ctx)), slow().then(() => askName(ctx, 'b'))]);
    });
    const { asked, text } = await callThrough(peer);
    expect(asked.map(messagesOf)).toEqual([['a', 'b'], ['c']]);
    expect(text).toBe('["c","b"]');
  });

  it('is not confused with one whose question lies in a step that is done', async () => {
    const peer = await open(async (ctx) => {
      const name = await ctx.once('name', () => askName(ctx, 'a'));
      return [name, await askName(ctx, 'b'), await askName(ctx, 'c')];
    });
    const { asked, text } = await callThrough(peer);
    expect(asked.map(messagesOf)).toEqual([['a'], ['b'], ['c']]);
    expect(text).toBe('["a","b","c"]');
  });
});

describe('the number of rounds', () => {
  it('is bounded', async () => {
    const peer = await open(
      async (ctx) => {
        const names: string[] = [];
        for (let n = 0; n < 9; n++) names.push(await askName(ctx, `q${n}`));
        return names;
      },
      { requestState: { maxRounds: 3 } },
    );
    const { asked, result } = await callThrough(peer);
    expect(asked).toHaveLength(3);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('maxRounds') }] });
  });

  it('is ten without a word', async () => {
    const peer = await open(async (ctx) => {
      for (let n = 0; n < 99; n++) await askName(ctx, `q${n}`);
      return 'never';
    });
    expect((await callThrough(peer)).asked).toHaveLength(10);
  });

  it('counts rounds in which the client answers nothing', async () => {
    const peer = await open((ctx) => askName(ctx, 'a'), { requestState: { maxRounds: 2 } });
    const { asked, result } = await callThrough(peer, { name: 'run' }, () => undefined);
    expect(asked).toHaveLength(2);
    expect(result.isError).toBe(true);
  });
});

describe('the default key', () => {
  it('is warned of once where exchanges come one by one, and not on a channel', async () => {
    const logger = new MemoryLogger();
    const server = serverOf((ctx) => askName(ctx, 'a'), { logger });
    const peer = await openPeer(server);
    await callThrough(peer);
    expect(logger.lines).toEqual([]);
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: peer.params({ name: 'run' }) } as const;
    const call = {
      principal: 'p',
      signal: new AbortController().signal,
      cancel: () => undefined,
      isCancelled: false,
      send: () => Promise.resolve(),
    };
    await server.handle(request, call);
    await server.handle(request, call);
    expect(logger.lines.map(({ message }) => message)).toEqual([expect.stringContaining('clusterKey')]);
  });
});

it('[MRTR-027] is never seen by a client of an earlier revision', async () => {
  const server = serverOf((ctx) => askName(ctx, 'a'));
  const peer = await RawPeer.open(server, '2025-11-25', { capabilities: everything });
  peer.onRequest = ({ method, params }) => obliging({ method, params }, '') ?? {};
  expect((await peer.callTool('run')).content[0].text).toBe('a');
  for (const word of ['resultType', 'inputRequests', 'requestState', 'inputResponses'])
    expect(JSON.stringify(peer.received)).not.toContain(word);
});
