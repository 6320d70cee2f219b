import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { z } from 'zod';
import { McpServer, ResourceTemplate } from '@mortise/server';
import { ALL, type Loose, RawPeer } from './raw-peer.ts';
import { createCalculator, defer, MemoryLogger } from './support.ts';

const unhandled: unknown[] = [];
const keep = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => {
  process.on('unhandledRejection', keep);
  process.on('uncaughtException', keep);
});
afterAll(() => {
  process.off('unhandledRejection', keep);
  process.off('uncaughtException', keep);
});

const cycle: Loose = { content: [] };
cycle.self = cycle;
const throwing = {
  get content() {
    throw new Error('getter');
  },
};

/** What handlers must never be able to break. */
const outcomes: [string, () => unknown][] = [
  ['a cycle', () => cycle],
  ['a BigInt', () => ({ structuredContent: { n: 1n } })],
  ['42', () => 42],
  ['undefined', () => undefined],
  ['null', () => null],
  ['a function', () => () => 'x'],
  ['a symbol', () => Symbol('x')],
  ['content that is text', () => ({ content: 'text' })],
  ['blocks that are none', () => [{ type: 'novel' }]],
  ['an object whose getter throws', () => throwing],
  ['a Date', () => new Date()],
  ['a Map', () => new Map([['a', 1]])],
  [
    'a thenable that throws',
    () => ({
      then: () => {
        throw new Error('then');
      },
    }),
  ],
  ['a rejected promise', () => Promise.reject(new Error('late'))],
  ['a rejection without a reason', () => Promise.reject()],
];
/** What may be thrown. */
const thrown: [string, () => unknown][] = [
  ['text', () => 'text'],
  ['null', () => null],
  ['undefined', () => undefined],
  ['a number', () => 5],
  [
    'an object whose getters throw',
    () => ({
      get message() {
        throw new Error('m');
      },
      get code() {
        throw new Error('c');
      },
      get name() {
        throw new Error('n');
      },
    }),
  ],
  [
    'an error whose message throws',
    () =>
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('m');
        },
      }),
  ],
  [
    'a proxy that refuses all',
    () =>
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('p');
          },
          has: () => {
            throw new Error('h');
          },
          getPrototypeOf: () => {
            throw new Error('g');
          },
        },
      ),
  ],
  ["an aborted signal's reason", () => AbortSignal.abort().reason],
];

describe.each(ALL)('in %s', (version) => {
  it.each([
    ...outcomes,
    ...thrown.map(
      ([what, make]) =>
        [
          `a throw of ${what}`,
          () => {
            throw make();
          },
        ] as [string, () => unknown],
    ),
  ])('[ROBUSTNESS-4] a handler that gives %s gets exactly one answer to its request', async (_what, give) => {
    const server = new McpServer({ name: 'odd', version: '1' });
    server.registerTool('odd', {}, give as Loose);
    server.registerTool('oddLater', {}, (async () => give()) as Loose);
    server.registerResource('odd', 'test://odd', {}, give as Loose);
    server.registerPrompt('odd', {}, give as Loose);
    server.server.setRequestHandler('acme/odd', give as Loose);
    const peer = await RawPeer.open(server, version);
    const requests: [string, Loose][] = [
      ['tools/call', { name: 'odd' }],
      ['tools/call', { name: 'oddLater' }],
      ['resources/read', { uri: 'test://odd' }],
      ['prompts/get', { name: 'odd' }],
      ['acme/odd', {}],
    ];
    for (const [index, [method, params]] of requests.entries()) {
      const answer = await peer.request(method, params, `id-${index}`);
      expect('result' in answer !== 'error' in answer).toBe(true);
    }
    await peer.settle();
    for (const index of requests.keys()) expect(peer.answersTo(`id-${index}`)).toHaveLength(1);
    expect((await peer.request('no/such')).error?.code).toBe(-32601);
  });

  it('[ROBUSTNESS-4] a handler that settles late after its bound gets no second answer', async () => {
    const gate = defer();
    const server = new McpServer({ name: 's', version: '1' }, { handlerTimeoutMs: 5 });
    server.registerTool('late', {}, () => gate.promise.then(() => Promise.reject(new Error('after the answer'))));
    const peer = await RawPeer.open(server, version);
    expect((await peer.request('tools/call', { name: 'late' }, 'x')).result.isError).toBe(true);
    gate.resolve();
    await peer.settle();
    expect(peer.answersTo('x')).toHaveLength(1);
  });

  it('[ROBUSTNESS-3] answers belong to their askers, whatever their ids', async () => {
    const server = new McpServer({ name: 'echo', version: '1' });
    server.registerTool('who', { inputSchema: { n: z.number() } }, async ({ n }, ctx) => {
      // Answers overtake one another.
      for (let turns = (n * 7) % 5; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      return `${ctx.principal} ${n}`;
    });
    const peers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => RawPeer.open(server, version, { info: { principal: `p${index}` } })),
    );
    const answers = await Promise.all(
      peers.flatMap((peer, p) =>
        Array.from({ length: 20 }, (_, n) =>
          peer.request('tools/call', { name: 'who', arguments: { n } }, n).then((answer) => [`p${p} ${n}`, answer.result.content[0].text]),
        ),
      ),
    );
    for (const [expected, got] of answers) expect(got).toBe(expected);
  });

  it('[ROBUSTNESS-3] an id in flight twice is refused, and ids of different types are two', async () => {
    const gate = defer();
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('wait', { inputSchema: { n: z.string() } }, ({ n }) => gate.promise.then(() => n));
    const peer = await RawPeer.open(server, version);
    const number = peer.request('tools/call', { name: 'wait', arguments: { n: 'number' } }, 9001);
    const text = peer.request('tools/call', { name: 'wait', arguments: { n: 'text' } }, '9001');
    const refused = peer.next((message) => message.error !== undefined);
    peer.send({ jsonrpc: '2.0', id: 9001, method: 'tools/list', params: peer.params() });
    expect((await refused).error?.code).toBe(-32600);
    gate.resolve();
    expect((await text).result.content[0].text).toBe('text');
    await number;
    expect(
      peer
        .answersTo(9001)
        .filter((message) => message.result)
        .map((message) => message.result.content[0].text),
    ).toEqual(['number']);
  });

  it('[ROBUSTNESS-5] a client that leaves in mid-call harms nobody', async () => {
    const gate = defer();
    const server = new McpServer({ name: 's', version: '1' }, { capabilities: { logging: {} } });
    server.registerTool('wait', {}, async (ctx) => {
      await gate.promise;
      await ctx.progress(1);
      await ctx.log('error', 'nobody listens');
      await ctx.notify('notifications/acme');
      await ctx.listRoots().catch(() => undefined);
      throw new Error('nobody hears');
    });
    const peer = await RawPeer.open(server, version, { capabilities: { roots: {} }, logLevel: 'debug' });
    void peer.request('tools/call', { name: 'wait', _meta: { progressToken: 1 } });
    await peer.settle();
    await peer.close();
    gate.resolve();
    await peer.settle();
    const next = await RawPeer.open(createCalculator(), version);
    expect((await next.callTool('add', { a: 1, b: 1 })).content[0].text).toBe('{"sum":2}');
  });

  it('[ROBUSTNESS-14] answers tell no stack, path, secret or token', async () => {
    const logger = new MemoryLogger();
    const words = [
      new Error('cannot open /home/ann/.ssh/id_rsa'),
      new Error('cannot open C:\\Users\\ann\\secret.txt'),
      new Error('GET https://ann:hunter2@example.com/ failed'),
      new Error('401 for Bearer abcdefghijklmnopqrstuvwxyz'),
      new Error('api_key=hunter2hunter2 is wrong'),
      new Error('token: hunter2 was refused'),
      new Error(`first line\n    at Object.<anonymous> (/srv/app/db.js:10:3)`),
      Object.assign(new Error("ENOENT: no such file or directory, open '/etc/shadow'"), { code: 'ENOENT' }),
      new TypeError("Cannot read properties of undefined (reading 'password')"),
      '/home/ann/thrown/text',
      { secret: 'hunter2' },
    ];
    const server = new McpServer({ name: 'leaky', version: '1' }, { logger });
    words.forEach((word, index) => {
      server.registerTool(`t${index}`, {}, () => {
        throw word;
      });
      server.registerPrompt(`p${index}`, {}, () => {
        throw word;
      });
      server.registerResource(`r${index}`, `test://${index}`, {}, () => {
        throw word;
      });
    });
    const peer = await RawPeer.open(server, version);
    const seen: string[] = [];
    for (const index of words.keys()) {
      seen.push(JSON.stringify(await peer.request('tools/call', { name: `t${index}` })));
      seen.push(JSON.stringify(await peer.request('prompts/get', { name: `p${index}` })));
      seen.push(JSON.stringify(await peer.request('resources/read', { uri: `test://${index}` })));
    }
    for (const text of seen) {
      expect(text).not.toMatch(/hunter2|\/home|id_rsa|C:\\|\.js:|at Object|abcdefghij|shadow|undefined \(reading/);
    }
    // The operator sees what the client does not.
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(3 * words.length);
  });

  it('[ROBUSTNESS-14] the words that an author means for the model still reach it', async () => {
    const server = new McpServer({ name: 's', version: '1' }, {});
    server.registerTool('t', {}, () => {
      throw new Error('No flights from Oslo to Rome on 2026-01-01');
    });
    const own = new McpServer({ name: 's', version: '1' }, { describeError: () => 'our own words' });
    own.registerTool('t', {}, () => {
      throw new TypeError('inside');
    });
    expect((await (await RawPeer.open(server, version)).callTool('t')).content[0].text).toBe('No flights from Oslo to Rome on 2026-01-01');
    expect((await (await RawPeer.open(own, version)).callTool('t')).content[0].text).toBe('our own words');
  });

  it('of a longer text the first 300 characters reach it', async () => {
    const words = 'no '.repeat(200);
    const server = new McpServer({ name: 's', version: '1' }, {});
    server.registerTool('t', {}, () => {
      throw new Error(words);
    });
    expect((await (await RawPeer.open(server, version)).callTool('t')).content[0].text).toBe(words.slice(0, 300));
  });

  it('[ROBUSTNESS-8] names that objects inherit are no tools, prompts, resources or completions', async () => {
    const server = createCalculator();
    server.registerPrompt('p', { argsSchema: { a: z.string() } }, () => 'p');
    server.registerResource('f', new ResourceTemplate('test://{x}', { list: undefined, complete: { x: () => ['y'] } }), {}, () => 'r');
    const peer = await RawPeer.open(server, version);
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect((await peer.request('tools/call', { name })).error?.code).toBe(-32602);
      expect((await peer.request('prompts/get', { name })).error?.code).toBe(-32602);
      expect(
        (await peer.request('completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name, value: '' } })).error?.code,
      ).toBe(-32602);
      expect(
        (await peer.request('completion/complete', { ref: { type: 'ref/resource', uri: 'test://{x}' }, argument: { name, value: '' } }))
          .error?.code,
      ).toBe(-32602);
    }
  });

  it.each([
    ['an object', z.object({ a: z.string().refine(() => Promise.reject(new Error('the database is gone'))) })],
    ['a field deep in an object', z.object({ a: z.union([z.number(), z.string().refine(() => Promise.reject(new Error('gone')))]) })],
    ['a shape', { a: z.string().refine(() => Promise.reject(new Error('gone'))) }],
    [
      'a shape with a field that throws beside it',
      {
        a: z.string().refine(() => Promise.reject(new Error('gone'))),
        b: z
          .string()
          .optional()
          .refine(() => {
            throw new Error('thrown');
          }),
      },
    ],
  ])('[ROBUSTNESS-5] a refinement of %s that rejects fails its call and nothing else', async (_what, inputSchema) => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('t', { inputSchema }, () => 'ran');
    const peer = await RawPeer.open(server, version);
    expect((await peer.callTool('t', { a: 'x' })).isError).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  it.each([null, undefined, 5])(
    '[ROBUSTNESS-4] middleware that makes the params %s gets exactly one answer to its request',
    async (params) => {
      const clock = new FakeClock();
      const server = createCalculator({ clock, handlerTimeoutMs: 50 });
      server.use('tools/call', (call, next) => {
        (call as { params: unknown }).params = params;
        return next();
      });
      server.use('prompts/get', (call) => {
        (call as { params: unknown }).params = params;
        return new Promise<never>(() => undefined);
      });
      server.registerPrompt('p', {}, () => 'p');
      const peer = await RawPeer.open(server, version);
      expect((await peer.request('tools/call', { name: 'add', arguments: { a: 1, b: 2 } })).error?.code).toBe(-32603);
      const late = peer.request('prompts/get', { name: 'p' });
      await clock.untilScheduled();
      clock.advance(50);
      expect((await late).error?.code).toBe(-32603);
    },
  );

  it('runs an async refinement once a call', async () => {
    let runs = 0;
    const server = new McpServer({ name: 's', version: '1' });
    const a = z.string().refine(async () => Promise.resolve(++runs > 0));
    server.registerTool('t', { inputSchema: { a } }, () => 'ran');
    const peer = await RawPeer.open(server, version);
    expect((await peer.callTool('t', { a: 'x' })).content[0].text).toBe('ran');
    expect(runs).toBe(1);
  });

  const raise = (reason: string): never => {
    throw new Error(reason);
  };

  it.each([
    ['get_wether', '. Did you mean "get_weather"?'],
    ['Add', '. Did you mean "add"?'],
    ['secret_too', ''],
    ['other', ''],
  ])('an unknown tool %s is answered with the nearest visible name', async (name, hint) => {
    const server = new McpServer({ name: 's', version: '1' });
    for (const known of ['get_weather', 'add']) server.registerTool(known, {}, () => 'x');
    server.registerTool('secret_tool', { visible: () => false }, () => 'x');
    const peer = await RawPeer.open(server, version);
    expect((await peer.request('tools/call', { name })).error?.message).toBe(`Unknown tool: "${name}"${hint}`);
  });

  it('[ROBUSTNESS-5] a visibility rule that rejects hides its tool, is logged once, and harms nobody', async () => {
    const logger = new MemoryLogger();
    const server = new McpServer({ name: 's', version: '1' }, { logger });
    const visible = (() => Promise.reject(new Error('the directory is down'))) as unknown as () => boolean;
    server.registerTool('secret', { visible }, () => 'x');
    const peer = await RawPeer.open(server, version);
    expect((await peer.request('tools/call', { name: 'secret' })).error?.message).toBe('Unknown tool: "secret"');
    expect(logger.lines.map(({ level, message, data }) => [level, message, (data?.['error'] as Error).message])).toEqual([
      ['error', 'The visibility rule of tool "secret" failed: it is hidden', 'option "visible" must return true or false, not a promise'],
    ]);
  });

  it.each([
    ['throws', () => raise('log')],
    ['rejects', async () => Promise.reject(new Error('log'))],
  ])('[ROBUSTNESS-5] a logger that %s costs no call its answer, and harms nobody', async (_how, log) => {
    const server = new McpServer({ name: 's', version: '1' }, { logger: { log } });
    server.registerTool('t', {}, () => raise('x'));
    const peer = await RawPeer.open(server, version);
    expect((await peer.callTool('t', {})).isError).toBe(true);
    await peer.settle();
    expect(unhandled).toEqual([]);
  });

  it('[ROBUSTNESS-5] nothing of all this was an unhandled rejection', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });
});
