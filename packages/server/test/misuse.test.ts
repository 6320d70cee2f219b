import { describe, expect, it } from 'vitest';
import { completable, McpServer, ResourceTemplate, ToolError } from '@mortise/server';
import { z } from 'zod';
import { z as z3 } from 'zod-3-25/v3';
import { ALL, type Loose, RawPeer } from './raw-peer.ts';
import { MemoryLogger } from './support.ts';

/** The methods as JavaScript sees them. */
type Untyped = Record<'registerTool' | 'registerPrompt' | 'registerResource', (...args: unknown[]) => unknown>;

const untyped = (): Untyped => new McpServer({ name: 'm', version: '1' }) as unknown as Untyped;
const run = (): string => 'x';

type Kind = 'tool' | 'prompt' | 'resource' | 'template';

function register(server: Record<string, (...args: unknown[]) => unknown>, kind: Kind, config: object): unknown {
  if (kind === 'tool') return server['registerTool']?.('x', config, run);
  if (kind === 'prompt') return server['registerPrompt']?.('x', config, run);
  return server['registerResource']?.('x', kind === 'resource' ? 'x:y' : new ResourceTemplate('x:{y}', { list: undefined }), config, run);
}

const STRANGERS: readonly [string, Kind, object, RegExp][] = [
  ['a schema under a name of elsewhere', 'tool', { parameters: {} }, /tool "x": unknown option "parameters" \(known: /],
  ["a prompt's schema under a tool's name", 'tool', { argsSchema: {} }, /unknown option "argsSchema" \(known: .*inputSchema/],
  ['a misspelt schema', 'tool', { inputShema: {} }, /unknown option "inputShema" \(known: .*inputSchema/],
  ['a misspelt description', 'tool', { descripton: '' }, /unknown option "descripton" \(known: /],
  ['a list of arguments', 'prompt', { arguments: [] }, /prompt "x": unknown option "arguments" \(known: /],
  ["a tool's schema under a prompt", 'prompt', { inputSchema: {} }, /unknown option "inputSchema" \(known: .*argsSchema/],
  ['scopes of a prompt', 'prompt', { scopes: ['a'] }, /unknown option "scopes" \(known: /],
  ['a misspelt media type', 'resource', { mimetype: 'text/plain' }, /resource "x": unknown option "mimetype" \(known: /],
  ['scopes of a template', 'template', { scopes: ['a'] }, /resource template "x": unknown option "scopes" \(known: /],
  ['a name of a method of objects', 'resource', { toString: 1 }, /unknown option "toString" \(known: /],
  ['another name of a tool', 'tool', { name: 'y' }, /tool "x": unknown option "name" \(known: /],
  ['another name of a prompt', 'prompt', { name: 'y' }, /prompt "x": unknown option "name" \(known: /],
  ['another name of a resource', 'resource', { name: 'y' }, /resource "x": unknown option "name" \(known: /],
  ['another address', 'resource', { uri: 'x:z' }, /resource "x": unknown option "uri" \(known: /],
  ['another name of a template', 'template', { name: 'y' }, /unknown option "name" \(known: /],
  ['another template', 'template', { uriTemplate: 'x:{z}' }, /unknown option "uriTemplate" \(known: /],
];

describe('what no compiler checks', () => {
  const cases: [string, (server: Untyped) => unknown, RegExp][] = [
    ['a tool without a handler', (s) => s.registerTool('t', {}), /tool "t": the last parameter must be a function, got undefined/],
    ['a handler in the place of the config', (s) => s.registerTool('t', run), /tool "t": "config" must be an object, got a function/],
    ['a schema in the place of the config', (s) => s.registerTool('t', z.object({}), run), /unknown option .*\(known: .*inputSchema/],
    ['a shape in the place of the config', (s) => s.registerTool('t', { a: z.number() }, run), /unknown option "a" \(known: .*inputSchema/],
    ['no config', (s) => s.registerTool('t', undefined, run), /"config" must be an object/],
    ['null as config', (s) => s.registerTool('t', null, run), /"config" must be an object, got null/],
    ['no name', (s) => s.registerTool(undefined, {}, run), /The name of a tool must be a non-empty string, got undefined/],
    ['an empty name', (s) => s.registerPrompt('', {}, run), /The name of a prompt must be a non-empty string, got an empty one/],
    ['a prompt without a handler', (s) => s.registerPrompt('p', { argsSchema: {} }), /prompt "p": the last parameter must be a function/],
    [
      "a shape in the place of a prompt's config",
      (s) => s.registerPrompt('p', { a: z.string() }, run),
      /unknown option "a" \(known: .*argsSchema/,
    ],
    [
      'a resource without a config',
      (s) => s.registerResource('r', 'x://y', run),
      /resource "r": "config" must be an object, got a function/,
    ],
    ['a resource without a reader', (s) => s.registerResource('r', 'x://y', {}), /resource "r": the last parameter must be a function/],
    ['an object that is not a template', (s) => s.registerResource('r', { uri: 'x' }, {}, run), /a URI string or a new ResourceTemplate/],
    [
      'a template in the place of an address',
      (s) => s.registerResource('r', 'x://{y}', {}, run),
      /: for a template, pass new ResourceTemplate/,
    ],
    ['an address with a space', (s) => s.registerResource('r', 'x:// y', {}, run), /URI of RFC 3986: percent-encode/],
    [
      'a field that is undefined',
      (s) => s.registerTool('t', { inputSchema: { a: undefined } }, run),
      /neither a shape.* nor a JSON Schema/,
    ],
    [
      'a JSON Schema of text',
      (s) => s.registerTool('t', { inputSchema: { type: 'string' } }, run),
      /got "string": put the value into a field/,
    ],
    [
      'names of types for schemas',
      (s) => s.registerTool('t', { inputSchema: { a: 'number' } }, run),
      /neither a shape.* nor a JSON Schema.* for example, \{ a: z\.string\(\) \}/,
    ],
    [
      'constructors for schemas',
      (s) => s.registerTool('t', { inputSchema: { a: String } }, run),
      /neither a shape.* nor a JSON Schema.* for example, \{ a: z\.string\(\) \}/,
    ],
    ['a schema of zod 3', (s) => s.registerTool('t', { inputSchema: z3.object({}) }, run), /zod 3 schema.*fromZodV3/],
    ['a shape of zod 3', (s) => s.registerTool('t', { inputSchema: { a: z3.string() } }, run), /zod 3 schema.*fromZodV3/],
  ];

  it.each(cases)('%s is refused at registration, with what to write', (_what, register, message) => {
    expect(() => register(untyped())).toThrow(message);
  });

  const anything = McpServer as unknown as new (...args: unknown[]) => Record<string, (...args: unknown[]) => unknown>;
  const server = () => new anything({ name: 'm', version: '1' });
  const misuses: [string, () => unknown, RegExp][] = [
    ['a server of nothing', () => new anything(), /first argument of a new server must be \{ name, version \}/],
    ['a server of text', () => new anything('calculator'), /first argument of a new server must be \{ name, version \}/],
    [
      'a server without a name',
      () => new anything({ version: '1' }),
      /first argument of a new server must be \{ name, version \}, both strings/,
    ],
    [
      'a version that is a number',
      () => new anything({ name: 'm', version: 1 }),
      /first argument of a new server must be \{ name, version \}, both strings/,
    ],
    ['options that are null', () => new anything({ name: 'm', version: '1' }, null), /options must be an object, got null/],
    [
      'a timeout of text',
      () => new anything({ name: 'm', version: '1' }, { handlerTimeoutMs: '5s' }),
      /"handlerTimeoutMs" must be a number, 0 or more, got "5s"/,
    ],
    [
      'an option that is misspelt',
      () => new anything({ name: 'm', version: '1' }, { handlerTimeoutMS: 5000 }),
      /the server's options: unknown option "handlerTimeoutMS" \(known: .*handlerTimeoutMs/,
    ],
    [
      'an option that there is not',
      () => new anything({ name: 'm', version: '1' }, { enforceStrictCapabilities: true }),
      /the server's options: unknown option "enforceStrictCapabilities" \(known: /,
    ],
    ['a name of a method of objects', () => new anything({ name: 'm', version: '1' }, { toString: 1 }), /unknown option "toString"/],
    [
      'a key of text, however long',
      () => new anything({ name: 'm', version: '1' }, { requestState: { keys: ['x'.repeat(32)] } }),
      /requestState.keys: a key must be a Uint8Array of 32 bytes: create it with/,
    ],
    [
      'keys that are no list',
      () => new anything({ name: 'm', version: '1' }, { requestState: { keys: new Uint8Array(32) } }),
      /requestState: "keys" must be an array, got an object/,
    ],
    ['a page size of 0', () => new anything({ name: 'm', version: '1' }, { pageSize: 0 }), /"pageSize" must be a number, 1 or more, got 0/],
    ['extensions that are no list', () => new anything({ name: 'm', version: '1' }, { extensions: {} }), /"extensions" must be an array/],
    [
      'an extension that is none',
      () => new anything({ name: 'm', version: '1' }, { extensions: [null] }),
      /each of "extensions" must be an object/,
    ],
    ['a logger that is a number', () => new anything({ name: 'm', version: '1' }, { logger: 5 }), /"logger" must be an object, got 5/],
    [
      'a description that is a number',
      () => server()['registerTool']?.('t', { description: 5 }, run),
      /tool "t": "description" must be a string, got 5/,
    ],
    ['icons that are no list', () => server()['registerPrompt']?.('p', { icons: {} }, run), /prompt "p": "icons" must be an array/],
    [
      'a visible that is no function',
      () => server()['registerTool']?.('t', { visible: true }, run),
      /"visible" must be a function, got true/,
    ],
    [
      'an audience that there is not',
      () => server()['registerResource']?.('r', 'x:y', { annotations: { audience: 'robot' } }, run),
      /"audience" must be "user", "assistant" or both/,
    ],
    [
      'a middleware that is none',
      () => server()['use']?.('tools/call', {}),
      /use\("tools\/call", middleware\): its last argument must be a function, got object/,
    ],
    [
      'a middleware for a misspelt method, which would never run',
      () => server()['use']?.('tool/call', run),
      /use\("tool\/call", middleware\): there is no such method. For your own, call setRequestHandler first$/,
    ],
    [
      'a handler that is none',
      () => (server()['registerTool']?.('t', {}, run) as Loose).update({ handler: 5 }),
      /"handler" must be a function, got 5/,
    ],
    [
      'a template without its second argument',
      () => new (ResourceTemplate as Loose)('a:{x}'),
      /second argument must be .*\{ list: undefined \} if there is no list$/,
    ],
    [
      'a completer that is none',
      () => new (ResourceTemplate as Loose)('a:{x}', { complete: { x: 5 } }),
      /second argument must be \{ list, complete: \{ variable: function \} \}/,
    ],
    ...STRANGERS.map(([what, kind, config, message]): [string, () => unknown, RegExp] => [
      what,
      () => register(server(), kind, config),
      message,
    ]),
    [
      'an update of an option that there is not',
      () => (server()['registerPrompt']?.('p', {}, run) as Loose).update({ titel: 'P' }),
      /prompt "p": unknown option "titel" \(known: title/,
    ],
    [
      "an update of a resource's option that there is not",
      () => (server()['registerResource']?.('r', 'x:y', {}, run) as Loose).update({ metadata: {} }),
      /resource "r": unknown option "metadata" \(known: /,
    ],
    [
      'an update of what a template matches',
      () => (register(server(), 'template', {}) as Loose).update({ uriTemplate: 'x:{z}' }),
      /resource template "x": unknown option "uriTemplate" \(known: /,
    ],
    [
      'a lifetime of text, with which no state would ever be too old',
      () => new anything({ name: 'm', version: '1' }, { requestState: { ttlMs: '60000' } }),
      /requestState: "ttlMs" must be a number, 0 or more, got "60000"/,
    ],
    [
      'a number of rounds that is none, which would never be reached',
      () => new anything({ name: 'm', version: '1' }, { requestState: { maxRounds: NaN } }),
      /requestState: "maxRounds" must be a number, 0 or more, got NaN/,
    ],
    [
      'an interval of pings that is none, which would never end',
      () => new anything({ name: 'm', version: '1' }, { keepAliveMs: NaN }),
      /"keepAliveMs" must be a number, 1 or more, got NaN/,
    ],
    ['a field that is no schema', () => (completable as Loose)(5, run), /"schema" must be a schema/],
  ];

  it.each(misuses)('%s is refused, with the name of what is wrong', (_what, use, message) => {
    expect(use).toThrow(message);
    expect(use).toThrow(expect.objectContaining({ code: 'ERR_REGISTRATION' }));
  });

  it.each(['tool', 'prompt', 'resource', 'template'] as const)('an option of a %s that is undefined is none', (kind) => {
    expect(register(server(), kind, { title: 'X', parameters: undefined })).toBeDefined();
  });

  it('an option that is undefined is none', () => {
    expect(new anything({ name: 'm', version: '1' }, { handlerTimeoutMS: undefined, pageSize: undefined })).toBeInstanceOf(McpServer);
  });

  it('a transport without close() is refused with what it needs', async () => {
    const parts = { start: async () => undefined, send: async () => undefined };
    await expect(server()['connect']?.(parts)).rejects.toThrow(/needs a transport, an object with start\(\), send\(\) and close\(\)/);
  });

  it.each([undefined, null, {}, 'stdio'])('connect(%j) says what a transport is', async (transport) => {
    await expect(server()['connect']?.(transport)).rejects.toThrow(/needs a transport.*serveStdio\(server\)/);
  });

  it('registrations that are right stay possible', () => {
    const server = new McpServer({ name: 'm', version: '1' });
    server.registerTool('t', {}, run);
    server.registerTool('u', { outputSchema: z.string() }, () => ({ structuredContent: 'x' }));
    server.registerPrompt('p', { argsSchema: { a: completable(z.string(), () => []) } }, () => 'x');
    server.registerResource('r', new ResourceTemplate('x://{a}', { list: undefined }), {}, run);
  });
});

describe.each(ALL)('arguments in %s', (version) => {
  it('[TOOL-009] of a tool without parameters are left out, whatever a host or a model sends', async () => {
    const server = new McpServer({ name: 'm', version: '1' });
    const seen: unknown[] = [];
    server.registerTool('none', {}, (...given: unknown[]) => (seen.push(given.length), 'ok'));
    server.registerTool('empty', { inputSchema: {} }, (args) => (seen.push(args), 'ok'));
    const peer = await RawPeer.open(server, version);
    for (const name of ['none', 'empty'])
      for (const args of [undefined, {}, { random_string: 'x' }])
        expect((await peer.callTool(name, args)).content).toEqual([{ type: 'text', text: 'ok' }]);
    expect(seen).toEqual([1, 1, 1, {}, {}, {}]);
    await peer.close();
  });

  it('[PROMPT-011] of a prompt are strings: anything else is -32602', async () => {
    const server = new McpServer({ name: 'm', version: '1' });
    server.registerPrompt('p', { argsSchema: { a: z.coerce.string() } }, ({ a }) => a);
    server.registerPrompt('q', {}, () => 'x');
    const peer = await RawPeer.open(server, version);
    for (const name of ['p', 'q'])
      for (const value of [1, true, null, ['x'], { x: 1 }] as Loose[]) {
        const { error } = await peer.request('prompts/get', { name, arguments: { a: value } });
        expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/arguments.*a.* must be a string/) as string });
      }
    expect((await peer.request('prompts/get', { name: 'p', arguments: { a: 'x' } })).error).toBeUndefined();
    await peer.close();
  });
});

describe('what a tool throws', () => {
  const serve = (logger?: MemoryLogger): McpServer => {
    const server = new McpServer({ name: 'm', version: '1' }, logger ? { logger } : {});
    server.registerTool('bug', {}, () => {
      throw new TypeError('x is not a function');
    });
    server.registerTool('later', {}, () => Promise.reject(new RangeError('too far')));
    server.registerTool('no', {}, () => {
      throw new ToolError('No such account');
    });
    return server;
  };

  it('is logged once, whole; what it says for the model is no fault', async () => {
    const logger = new MemoryLogger();
    const client = await RawPeer.open(serve(logger), '2026-07-28');
    const { content } = await client.callTool('bug');
    await client.callTool('later');
    await client.callTool('no');
    expect(content).toEqual([{ type: 'text', text: 'internal error: the log of the server has the details' }]);
    const lines = logger.lines.filter(({ message }) => message === 'A tool failed');
    expect(lines.map(({ level, data }) => [level, data?.['tool']])).toEqual([
      ['error', 'bug'],
      ['error', 'later'],
      ['info', 'no'],
    ]);
    expect((lines[0]?.data?.['error'] as Error).stack).toMatch(/x is not a function/);
    await client.close();
  });

  it('goes to the logger that a host offers, where the program gave none', async () => {
    const [own, offered, second] = [new MemoryLogger(), new MemoryLogger(), new MemoryLogger()];
    for (const server of [serve(), serve(own)]) {
      for (const logger of [offered, second]) {
        const peer = await RawPeer.attach({ connect: (transport) => server.connect(transport, { logger }) }, '2025-11-25');
        await peer.initialize();
        await peer.callTool('bug');
        await peer.close();
      }
    }
    const count = ({ lines }: MemoryLogger): number => lines.filter(({ message }) => message === 'A tool failed').length;
    expect([own, offered, second].map(count)).toEqual([2, 2, 0]);
  });
});
