import { McpServer } from '@mortise/server';
import { serveHttp } from '@mortise/transport-http/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLink } from './page-link.ts';
import { serveEverything, type TransportName } from './targets.ts';

/** A program starts slowly: `page.built.test.ts` goes this way over stdio. */
const ways = (['http', 'websocket'] as const).flatMap((transport) => (['legacy', 'modern'] as const).map((era) => ({ transport, era })));

describe.each(ways)('the inspector over $transport in the $era era', ({ transport, era }) => {
  async function start() {
    const link = await openLink();
    const server = await link.connect({ ...(await serveEverything(transport)), era });
    return { link, server };
  }

  it('lists, calls, reads, prompts and completes', async () => {
    const { link, server } = await start();
    const { state } = await link.event('state', (event) => event.state.status === 'ready');
    expect(state).toMatchObject({ era, info: { name: 'everything' }, instructions: 'A server with one of each.' });
    const { items, isCut } = await link.ask('list', { server, list: 'tools' });
    expect(items.map(({ name }) => name)).toContain('order');
    expect(isCut).toBe(false);
    expect((await link.ask('list', { server, list: 'resourceTemplates' })).items).toHaveLength(1);
    const call = await link.ask('request', { server, method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } });
    expect(call.result).toMatchObject({ structuredContent: { sum: 3 } });
    const read = await link.ask('request', { server, method: 'resources/read', params: { uri: 'text://readme' } });
    expect(read.result).toMatchObject({ contents: [{ text: '# Read me\n\n<b>bold</b>' }] });
    const prompt = await link.ask('request', { server, method: 'prompts/get', params: { name: 'greet', arguments: { name: 'Ada' } } });
    expect(prompt.result).toMatchObject({ messages: [{ content: { text: 'Say hello to Ada' } }] });
    const ref = { type: 'ref/resource', uri: 'user://{name}' };
    const completed = await link.ask('request', {
      server,
      method: 'completion/complete',
      params: { ref, argument: { name: 'name', value: 'a' } },
    });
    expect(completed.result).toMatchObject({ completion: { values: ['ada', 'alan'] } });
  });

  it('asks the user for a form, a message of a model, and gives the roots', async () => {
    const { link, server } = await start();
    const call = (name: string) => link.ask('request', { server, method: 'tools/call', params: { name } });
    const asked = call('ask');
    const { ask } = await link.event('ask');
    expect(ask).toMatchObject({ kind: 'form', params: { message: 'Who are you?' } });
    await link.ask('answer', { server, ask: ask.id, answer: { action: 'accept', content: { name: 'Ada', color: 'red' } } });
    expect(JSON.stringify((await asked).result)).toContain('Ada');
    const sampled = call('sample');
    const { ask: wish } = await link.event('ask', (event) => event.ask.kind === 'sampling');
    await link.ask('answer', {
      server,
      ask: wish.id,
      answer: { role: 'assistant', model: 'me', content: { type: 'text', text: 'hello' } },
    });
    expect(JSON.stringify((await sampled).result)).toContain('hello');
    await link.event('ask over', (event) => event.ask === wish.id);
    await link.ask('setRoots', { server, roots: [{ uri: 'file:///work', name: 'work' }] });
    expect(JSON.stringify((await call('roots')).result)).toContain('file:///work');
  });

  it('follows a resource until it is asked to stop', async () => {
    const { link, server } = await start();
    const touch = () => link.ask('request', { server, method: 'tools/call', params: { name: 'touch' } });
    const countUpdates = () => link.events.filter(({ type }) => type === 'resource updated').length;
    await link.ask('subscribe', { server, uri: 'json://data', isOn: true });
    await touch();
    expect(await link.event('resource updated')).toMatchObject({ server, uri: 'json://data' });
    await link.ask('subscribe', { server, uri: 'json://data', isOn: false });
    const before = countUpdates();
    await touch();
    await touch();
    expect(countUpdates()).toBe(before);
  });

  it('shows progress, and cancels a call', async () => {
    const { link, server } = await start();
    const cancelling = new AbortController();
    const progress: unknown[] = [];
    const waiting = link.ask(
      'request',
      { server, method: 'tools/call', params: { name: 'wait' } },
      {
        signal: cancelling.signal,
        onProgress: (params) => {
          progress.push(params['message']);
          cancelling.abort(new Error('enough'));
        },
      },
    );
    await expect(waiting).rejects.toThrow('enough');
    expect(progress).toEqual(['a quarter']);
  });

  it('follows a task to its result, and answers what it asks', async () => {
    const { link, server } = await start();
    const { task } = await link.ask('startTask', { server, tool: 'work', args: {} });
    const { ask } = await link.event('ask');
    expect(ask.params['message']).toBe('Go on?');
    await link.ask('answer', { server, ask: ask.id, answer: { action: 'decline' } });
    const ended = await link.event('task', (event) => event.task.id === task && event.task.result !== undefined);
    expect(ended.task).toMatchObject({ tool: 'work', status: 'completed' });
    expect(JSON.stringify(ended.task.result)).toContain('finished: decline');
  });

  it('cancels a task', async () => {
    const { link, server } = await start();
    const { task } = await link.ask('startTask', { server, tool: 'work', args: {} });
    await link.event('ask');
    await link.ask('cancelTask', { server, task: task ?? '' });
    await link.event('task', (event) => event.task.status === 'cancelled');
    await link.event('ask over');
  });

  it('records each message with its direction, its size and the request that it answers', async () => {
    const { link, server } = await start();
    await link.ask('request', { server, method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } });
    const { message: answer } = await link.event('wire', ({ message }) => message.method === 'tools/call' && message.kind === 'response');
    const { message: request } = await link.event('wire', ({ message }) => message.method === 'tools/call' && message.kind === 'request');
    expect(answer).toMatchObject({ direction: 'in', answers: request.seq, isError: false, rpcId: request.rpcId });
    expect(request).toMatchObject({ direction: 'out' });
    const { text } = await link.ask('message', { server, seq: answer.seq, most: 100_000 });
    expect(Buffer.byteLength(text)).toBe(answer.bytes);
    expect(JSON.parse(text)).toMatchObject({ result: { structuredContent: { sum: 3 } } });
  });
});

describe('the inspector', () => {
  it.each(['http', 'sse', 'websocket', 'stdio'] satisfies TransportName[])(
    'connects over %s in the era that the server has',
    async (transport) => {
      const link = await openLink();
      const server = await link.connect(await serveEverything(transport));
      const { state } = await link.event('state', (event) => event.state.status === 'ready');
      expect(state.era).toBe(transport === 'sse' ? 'legacy' : 'modern');
      expect((await link.ask('list', { server, list: 'prompts' })).items).toHaveLength(1);
    },
  );

  it('keeps several servers side by side, and tells a page that was opened later all that there is', async () => {
    const link = await openLink();
    const first = await link.connect({ ...(await serveEverything('http')), name: 'first' });
    await link.connect({ ...(await serveEverything('websocket')), name: 'second' });
    const { servers } = await link.ask('hello', {});
    expect(servers.map(({ state }) => state.name)).toEqual(['first', 'second']);
    expect(servers.every(({ wire }) => wire.length >= 2)).toBe(true);
    await link.ask('disconnect', { server: first, forgets: true });
    await link.event('gone');
    expect((await link.ask('hello', {})).servers).toHaveLength(1);
  });

  it('says why a server cannot be reached, and connects again', async () => {
    const link = await openLink();
    await expect(link.connect({ type: 'stdio', command: 'there-is-no-such-program' })).rejects.toThrow('there-is-no-such-program');
    const server = await link.connect(await serveEverything('http'));
    await link.ask('disconnect', { server, forgets: false });
    await expect(link.ask('list', { server, list: 'tools' })).rejects.toThrow('connect it again');
    await link.ask('reconnect', { server });
    expect((await link.ask('list', { server, list: 'tools' })).items.length).toBeGreaterThan(3);
  });

  it('ends all but the last connection when it connects again twice at once', async () => {
    const link = await openLink();
    const server = await link.connect(await serveEverything('stdio'));
    await Promise.all([link.ask('reconnect', { server }), link.ask('reconnect', { server })]);
    await link.ask('list', { server, list: 'tools' });
    const { servers } = await link.ask('hello', {});
    const starts = servers[0]?.wire.filter(({ method, kind }) => method === 'server/discover' && kind === 'request');
    expect(starts).toHaveLength(2);
  });

  it('subscribes once to each list that a server of the modern era announces changes of', async () => {
    const link = await openLink();
    await link.connect(await serveEverything('http'));
    await link.event('wire', ({ message }) => message.preview.includes('"promptsListChanged":true'));
    const { servers } = await link.ask('hello', {});
    const listens = servers[0]?.wire.filter(({ method, kind }) => method === 'subscriptions/listen' && kind === 'request');
    expect(listens).toHaveLength(3);
  });

  it('passes on the errors of a server with their codes', async () => {
    const link = await openLink();
    const server = await link.connect(await serveEverything('http'));
    const unknown = link.ask('request', { server, method: 'tools/call', params: { name: 'nothing' } });
    await expect(unknown).rejects.toMatchObject({ rpcCode: -32602 });
  });

  it('shows log messages and the error output of a program', async () => {
    const link = await openLink();
    const server = await link.connect(await serveEverything('http'));
    await link.ask('setLogLevel', { server, level: 'info' });
    await link.ask('request', { server, method: 'tools/call', params: { name: 'log' } });
    const { entry } = await link.event('log');
    expect(entry).toMatchObject({ level: 'info', text: 'first line' });
    const program = { type: 'stdio', command: process.execPath, args: ['-e', 'console.error("a line")'] } as const;
    await expect(link.connect(program)).rejects.toThrow();
    expect((await link.event('log', (event) => event.entry.level === 'stderr')).entry.text).toBe('a line');
  });

  it('refuses a target that is none, and a method that it does not have', async () => {
    const link = await openLink();
    await expect(link.ask('connect', { target: { type: 'ftp' } as never })).rejects.toThrow('must be stdio, http, sse or websocket');
    await expect(link.ask('connect', { target: { type: 'http', url: 'http://x', command: 'y' } as never })).rejects.toThrow('command');
    await expect(link.ask('constructor' as never, {} as never)).rejects.toMatchObject({ rpcCode: -32601 });
  });

  it('keeps of logs what a page can load', async () => {
    const link = await openLink();
    const noise = `for (let line = 0; line < 400; line++) console.error(String(line).padStart(66000, 'x'))`;
    await expect(link.connect({ type: 'stdio', command: process.execPath, args: ['-e', noise] })).rejects.toThrow();
    const { servers } = await link.ask('hello', {});
    const characters = servers[0]?.logs.reduce((sum, { text }) => sum + text.length, 0);
    expect(characters).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(characters).toBeGreaterThan(15 * 1024 * 1024);
  });

  it('[ROBUSTNESS-7] cuts the text of a log message, and the name of its logger', async () => {
    const server = new McpServer({ name: 'noisy', version: '1.0.0' }, { capabilities: { logging: {} } });
    server.registerTool('log', {}, async (ctx) => {
      await ctx.log.info('t'.repeat(100_000), 'l'.repeat(100_000));
      return 'logged';
    });
    const serving = await serveHttp(server, { port: 0 });
    onTestFinished(() => serving.close());
    const link = await openLink();
    const id = await link.connect({ type: 'http', url: serving.url });
    await link.ask('setLogLevel', { server: id, level: 'info' });
    await link.ask('request', { server: id, method: 'tools/call', params: { name: 'log' } });
    const { entry } = await link.event('log');
    expect([entry.text.length, entry.logger?.length]).toEqual([65_536, 200]);
  });

  it('drops the oldest messages when they are too large together, and says so', async () => {
    const link = await openLink();
    const server = await link.connect(await serveEverything('http'));
    const size = 6 * 1024 * 1024;
    for (let call = 0; call < 6; call++)
      await link.ask('request', { server, method: 'tools/call', params: { name: 'blob', arguments: { size } } });
    const { loss } = await link.event('loss');
    expect(loss.messages).toBeGreaterThan(0);
    const { servers } = await link.ask('hello', {});
    expect(servers[0]?.wire[0]?.seq).toBe((servers[0]?.loss.messages ?? 0) + 1);
    await expect(link.ask('message', { server, seq: 1, most: 1 })).rejects.toThrow('dropped');
  });
});
