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

describe('what no compiler checks', () => {
  const cases: [string, (server: Untyped) => unknown, RegExp][] = [
    ['a tool without a handler', (s) => s.registerTool('t', {}), /tool "t": .*no function as its last parameter, got undefined/],
    ['a handler in the place of the config', (s) => s.registerTool('t', run), /tool "t": .*a function where the config belongs.*\{\}/],
    ['a schema in the place of the config', (s) => s.registerTool('t', z.object({}), run), /write \{ inputSchema: /],
    ['a shape in the place of the config', (s) => s.registerTool('t', { a: z.number() }, run), /write \{ inputSchema: /],
    ['no config', (s) => s.registerTool('t', undefined, run), /no config but undefined/],
    ['null as config', (s) => s.registerTool('t', null, run), /no config but null/],
    ['no name', (s) => s.registerTool(undefined, {}, run), /A tool needs a name: .*got undefined/],
    ['an empty name', (s) => s.registerPrompt('', {}, run), /A prompt needs a name: .*an empty one/],
    ['a prompt without a handler', (s) => s.registerPrompt('p', { argsSchema: {} }), /prompt "p": .*no function/],
    ["a shape in the place of a prompt's config", (s) => s.registerPrompt('p', { a: z.string() }, run), /write \{ argsSchema: /],
    ['a resource without a config', (s) => s.registerResource('r', 'x://y', run), /resource "r": .*a function where the config belongs/],
    ['a resource without a reader', (s) => s.registerResource('r', 'x://y', {}), /resource "r": .*no function/],
    ['a template that is none', (s) => s.registerResource('r', { uri: 'x' }, {}, run), /a URI as a string, or a new ResourceTemplate/],
    [
      'a field that is undefined',
      (s) => s.registerTool('t', { inputSchema: { a: undefined } }, run),
      /neither a shape.* nor a JSON Schema/,
    ],
    ['a JSON Schema without a type', (s) => s.registerTool('t', { inputSchema: { properties: {} } }, run), /got no type: add it/],
    [
      'a JSON Schema of text',
      (s) => s.registerTool('t', { inputSchema: { type: 'string' } }, run),
      /got "string": put the value into a field/,
    ],
    [
      'names of types for schemas',
      (s) => s.registerTool('t', { inputSchema: { a: 'number' } }, run),
      /neither a shape.* nor a JSON Schema/,
    ],
    ['a schema of zod 3', (s) => s.registerTool('t', { inputSchema: z3.object({}) }, run), /zod 3 schema.*fromZodV3/],
    ['a shape of zod 3', (s) => s.registerTool('t', { inputSchema: { a: z3.string() } }, run), /zod 3 schema.*fromZodV3/],
  ];

  it.each(cases)('%s is refused at registration, with what to write', (_what, register, message) => {
    expect(() => register(untyped())).toThrow(message);
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
