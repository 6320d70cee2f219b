import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { completable, definePrompt, McpServer, RegistrationError, ResourceTemplate } from '@mortise/server';
import type { ObjectSchema } from '@mortise/server/types';
import { ALL, LEGACY, type Loose, MODERN, RawPeer } from './raw-peer.ts';

const create = (options = {}): McpServer => new McpServer({ name: 'prompts', version: '1.0.0' }, options);
const since = (version: string, first: string): boolean =>
  (ALL as readonly string[]).indexOf(version) >= (ALL as readonly string[]).indexOf(first);

function createPrompts(): McpServer {
  const server = create();
  server.registerPrompt(
    'review',
    {
      title: 'Review',
      description: 'Reviews code',
      argsSchema: { code: z.string().describe('The code'), language: z.string().optional() },
    },
    ({ code, language }) => `Review this ${language ?? 'unknown'} code: ${code}`,
  );
  server.registerPrompt('hello', {}, () => 'Say hello');
  return server;
}

describe.each(ALL)('prompts in %s', (version) => {
  it('[PROMPT-001] advertises the capability once a prompt is registered', async () => {
    const told = async (server: McpServer) => {
      const peer = await RawPeer.attach(server, version);
      return (peer.isModern ? await peer.call('server/discover') : (await peer.initialize()).result).capabilities.prompts;
    };
    expect(await told(create())).toBeUndefined();
    expect(await told(createPrompts())).toEqual({ listChanged: true });
  });

  it('[PROMPT-002] may list nothing once declared', async () => {
    const peer = await RawPeer.open(create({ capabilities: { prompts: {} } }), version);
    expect((await peer.call('prompts/list')).prompts).toEqual([]);
  });

  it('[PROMPT-004] lists prompts and their arguments by name, with titles where the revision has them', async () => {
    const peer = await RawPeer.open(createPrompts(), version);
    const { prompts } = await peer.call('prompts/list');
    expect(prompts[0]).toMatchObject({
      name: 'review',
      description: 'Reviews code',
      arguments: [{ name: 'code', description: 'The code', required: true }, { name: 'language' }],
    });
    expect('title' in prompts[0]).toBe(since(version, '2025-06-18'));
    expect(prompts[1]).toEqual({ name: 'hello' });
  });

  it('[PROMPT-006] gives messages with a role and one block each, from every short form', async () => {
    const server = createPrompts();
    server.registerPrompt('message', {}, () => ({ role: 'assistant' as const, content: { type: 'text' as const, text: 'm' } }));
    server.registerPrompt('messages', {}, () => [{ role: 'user' as const, content: { type: 'text' as const, text: '1' } }]);
    server.registerPrompt('whole', { description: 'D' }, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'w' } }] }));
    const peer = await RawPeer.open(server, version);
    const messages = async (name: string) => (await peer.call('prompts/get', { name })).messages;
    expect(await messages('hello')).toEqual([{ role: 'user', content: { type: 'text', text: 'Say hello' } }]);
    expect(await messages('message')).toEqual([{ role: 'assistant', content: { type: 'text', text: 'm' } }]);
    expect(await messages('messages')).toEqual([{ role: 'user', content: { type: 'text', text: '1' } }]);
    expect((await peer.call('prompts/get', { name: 'whole' })).description).toBe('D');
  });

  it('[PROMPT-006] refuses what a handler may not give', async () => {
    const server = create();
    const bad = [
      { role: 'system', content: { type: 'text', text: 'x' } },
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
      { role: 'user' },
    ];
    bad.forEach((message, index) => server.registerPrompt(`p${index}`, {}, () => [message] as Loose));
    const peer = await RawPeer.open(server, version);
    for (const index of bad.keys()) expect((await peer.request('prompts/get', { name: `p${index}` })).error?.code).toBe(-32603);
  });

  it('[PROMPT-007][PROMPT-008][PROMPT-009] sends blocks that the revision has, in its shape', async () => {
    const server = create();
    const blocks = [
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'test://r', mimeType: 'text/plain', text: 'r' } },
      { type: 'resource_link', uri: 'test://l', name: 'l' },
    ];
    server.registerPrompt('all', {}, () => blocks.map((content) => ({ role: 'user', content })) as Loose);
    const peer = await RawPeer.open(server, version);
    const sent = (await peer.call('prompts/get', { name: 'all' })).messages.map((message: Loose) => message.content);
    expect(sent).toContainEqual(blocks[0]);
    expect(sent).toContainEqual(blocks[2]);
    expect(sent.some((block: Loose) => block.type === 'audio')).toBe(since(version, '2025-03-26'));
    expect(sent.some((block: Loose) => block.type === 'resource_link')).toBe(since(version, '2025-06-18'));
  });

  it('[PROMPT-010] answers an unknown prompt or a missing argument with -32602, a fault with -32603', async () => {
    const server = createPrompts();
    server.registerPrompt('broken', {}, () => Promise.reject(new Error('secret inside')));
    const peer = await RawPeer.open(server, version);
    expect((await peer.request('prompts/get', { name: 'nobody' })).error).toEqual({ code: -32602, message: 'Unknown prompt: "nobody"' });
    expect((await peer.request('prompts/get', { name: 'review', arguments: {} })).error).toEqual({
      code: -32602,
      message: 'prompt "review": argument "code" is required',
    });
    expect((await peer.request('prompts/get', { name: 'broken' })).error).toEqual({ code: -32603, message: 'Internal error' });
  });

  it('[PROMPT-005][PROMPT-011] takes arguments that are strings, checked by their schema', async () => {
    const server = createPrompts();
    server.registerPrompt('size', { argsSchema: { size: z.enum(['s', 'm']) } }, ({ size }) => size);
    const peer = await RawPeer.open(server, version);
    expect((await peer.request('prompts/get', { name: 'review', arguments: { code: 5 } })).error?.code).toBe(-32602);
    expect((await peer.request('prompts/get', { name: 'size', arguments: { size: 'xxl' } })).error?.message).toContain('argument "size"');
    expect((await peer.call('prompts/get', { name: 'size', arguments: { size: 'm' } })).messages[0].content.text).toBe('m');
  });

  it('hides a prompt from those who may not see it, in list, get and completion alike', async () => {
    const server = create();
    const argsSchema = { a: completable(z.string(), () => ['secret']) };
    server.registerPrompt('hidden', { argsSchema, visible: ({ principal }) => principal === 'ann' }, () => 'h');
    const ann = await RawPeer.open(server, version, { info: { principal: 'ann' } });
    const bob = await RawPeer.open(server, version, { info: { principal: 'bob' } });
    const completion = { ref: { type: 'ref/prompt', name: 'hidden' }, argument: { name: 'a', value: '' } };
    expect((await ann.call('prompts/list')).prompts).toHaveLength(1);
    expect((await bob.call('prompts/list')).prompts).toHaveLength(0);
    expect((await ann.call('completion/complete', completion)).completion.values).toEqual(['secret']);
    expect((await bob.request('completion/complete', completion)).error?.code).toBe(-32602);
    expect((await bob.request('prompts/get', { name: 'hidden', arguments: { a: 'x' } })).error?.message).toBe('Unknown prompt: "hidden"');
  });
});

describe('changes of prompts', () => {
  it.each(LEGACY)('[PROMPT-003] are told to %s clients unasked', async (version) => {
    const server = createPrompts();
    const handle = server.registerPrompt('x', {}, () => 'x');
    const peer = await RawPeer.open(server, version);
    await peer.settle();
    handle.update({ name: 'y', description: 'Y', handler: () => 'why' });
    await peer.nextNotification('notifications/prompts/list_changed');
    expect((await peer.call('prompts/get', { name: 'y' })).messages[0].content.text).toBe('why');
    expect((await peer.request('prompts/get', { name: 'x' })).error?.code).toBe(-32602);
    handle.remove();
    await peer.nextNotification('notifications/prompts/list_changed');
  });

  it('[PROMPT-003] are told to modern clients on subscriptions alone', async () => {
    const server = createPrompts();
    const peer = await RawPeer.open(server, MODERN);
    server.registerPrompt('x', {}, () => 'x');
    await peer.settle();
    expect(peer.notifications()).toEqual([]);
    void peer.request('subscriptions/listen', { notifications: { promptsListChanged: true } });
    await peer.nextNotification('notifications/subscriptions/acknowledged');
    server.registerPrompt('y', {}, () => 'y');
    await peer.nextNotification('notifications/prompts/list_changed');
  });

  it('are refused where a name is taken or empty', () => {
    const server = createPrompts();
    expect(() => server.registerPrompt('hello', {}, () => 'x')).toThrow(RegistrationError);
    expect(() => server.registerPrompt('', {}, () => 'x')).toThrow(RegistrationError);
  });

  it('include prompts as values', async () => {
    const peer = await RawPeer.open(create({ prompts: { p: definePrompt({ argsSchema: { a: z.string() } }, ({ a }) => a) } }), MODERN);
    expect((await peer.call('prompts/get', { name: 'p', arguments: { a: 'v' } })).messages[0].content.text).toBe('v');
  });
});

describe('completion', () => {
  const names = Array.from({ length: 150 }, (_, index) => `name-${index}`);

  function createCompletions(): McpServer {
    const server = create();
    server.registerPrompt(
      'greet',
      {
        argsSchema: {
          name: completable(z.string(), (value) => names.filter((name) => name.startsWith(value))),
          plain: z.string().optional(),
        },
      },
      ({ name }) => name,
    );
    server.registerPrompt(
      'topic',
      { argsSchema: { field: completable(z.string(), (_value, { arguments: others }) => [JSON.stringify(others ?? null)]) } },
      () => 't',
    );
    const template = new ResourceTemplate('user://{group}/{name}', {
      list: undefined,
      complete: { name: (value, { arguments: others }) => [`${others?.['group'] ?? '?'}:${value}`] },
    });
    server.registerResource('user', template, {}, () => 'u');
    server.registerResource('fixed', 'fixed://x', {}, () => 'x');
    return server;
  }
  const complete = (peer: RawPeer, ref: Loose, name: string, value: string, context?: Loose) =>
    peer.request('completion/complete', { ref, argument: { name, value }, ...(context ? { context } : {}) });

  it.each(ALL)('[COMP-001] advertises completions in %s, where the revision has the key', async (version) => {
    const told = async (server: McpServer) => {
      const peer = await RawPeer.attach(server, version);
      return (peer.isModern ? await peer.call('server/discover') : (await peer.initialize()).result).capabilities.completions;
    };
    expect(await told(createPrompts())).toBeUndefined();
    expect(await told(createCompletions())).toEqual(since(version, '2025-03-26') ? {} : undefined);
    const unadvertised = await RawPeer.open(createCompletions(), '2024-11-05');
    expect((await complete(unadvertised, { type: 'ref/prompt', name: 'greet' }, 'name', 'name-149')).result.completion.values).toEqual([
      'name-149',
    ]);
  });

  it.each(ALL)('[COMP-005] cuts at 100 values in %s, with total and hasMore', async (version) => {
    const peer = await RawPeer.open(createCompletions(), version);
    const { completion } = (await complete(peer, { type: 'ref/prompt', name: 'greet' }, 'name', '')).result;
    expect(completion).toMatchObject({ total: 150, hasMore: true });
    expect(completion.values).toEqual(names.slice(0, 100));
    expect((await complete(peer, { type: 'ref/prompt', name: 'greet' }, 'name', 'name-1')).result.completion).toMatchObject({
      total: 61,
      hasMore: false,
    });
  });

  it('[COMP-003] completes variables of templates, named by the template or by a URI of its family', async () => {
    const peer = await RawPeer.open(createCompletions(), MODERN);
    for (const uri of ['user://{group}/{name}', 'user://admins/ann']) {
      expect((await complete(peer, { type: 'ref/resource', uri }, 'name', 'a')).result.completion.values).toEqual(['?:a']);
    }
    expect((await complete(peer, { type: 'ref/resource', uri: 'fixed://x' }, 'name', 'a')).result.completion.values).toEqual([]);
  });

  it.each(ALL)('[COMP-004] gives completers the other arguments in %s, where the revision sends them', async (version) => {
    const peer = await RawPeer.open(createCompletions(), version);
    const context = { arguments: { group: 'admins' } };
    const ofTemplate = await complete(peer, { type: 'ref/resource', uri: 'user://{group}/{name}' }, 'name', 'a', context);
    const ofPrompt = await complete(peer, { type: 'ref/prompt', name: 'topic' }, 'field', '', context);
    if (!since(version, '2025-06-18')) return;
    expect(ofTemplate.result.completion.values).toEqual(['admins:a']);
    expect(ofPrompt.result.completion.values).toEqual(['{"group":"admins"}']);
  });

  it.each(ALL)('[COMP-008] answers in %s an unknown reference or argument with -32602, and no completions with -32601', async (version) => {
    const peer = await RawPeer.open(createCompletions(), version);
    const refs = [
      { type: 'ref/prompt', name: 'nobody' },
      { type: 'ref/resource', uri: 'nobody://x' },
      { type: 'ref/other', name: 'greet' },
    ];
    for (const ref of refs) expect((await complete(peer, ref, 'name', '')).error?.code).toBe(-32602);
    expect((await complete(peer, { type: 'ref/prompt', name: 'greet' }, 'nothing', '')).error?.code).toBe(-32602);
    expect((await complete(peer, { type: 'ref/resource', uri: 'user://{group}/{name}' }, 'nothing', '')).error?.code).toBe(-32602);
    expect((await peer.request('completion/complete', { ref: { type: 'ref/prompt', name: 'greet' } })).error?.code).toBe(-32602);
    const without = await RawPeer.open(createPrompts(), version);
    expect((await complete(without, { type: 'ref/prompt', name: 'hello' }, 'x', '')).error?.code).toBe(-32601);
  });

  it('[COMP-002] takes both kinds of references, and gives nothing for an argument without suggestions', async () => {
    const peer = await RawPeer.open(createCompletions(), MODERN);
    expect((await complete(peer, { type: 'ref/prompt', name: 'greet' }, 'plain', 'x')).result.completion).toEqual({
      values: [],
      total: 0,
      hasMore: false,
    });
    expect((await complete(peer, { type: 'ref/resource', uri: 'user://{group}/{name}' }, 'group', 'x')).result.completion.values).toEqual(
      [],
    );
  });

  it('[COMP-008] answers a failing completer with -32603', async () => {
    const server = create();
    server.registerPrompt('p', { argsSchema: { a: completable(z.string(), () => Promise.reject(new Error('inside'))) } }, () => 'p');
    const peer = await RawPeer.open(server, MODERN);
    expect((await complete(peer, { type: 'ref/prompt', name: 'p' }, 'a', '')).error).toEqual({ code: -32603, message: 'Internal error' });
  });
});

describe('arguments of a prompt that no string fits', () => {
  const refused: [string, ObjectSchema, string][] = [
    ['a number', { n: z.number() }, 'number'],
    ['a number in an object', z.object({ n: z.number() }), 'number'],
    ['a whole number', { n: z.int().readonly() }, 'integer'],
    ['a boolean', { n: z.boolean() }, 'boolean'],
    ['a list', { n: z.array(z.string()) }, 'array'],
    ['an object', { n: z.object({}) }, 'object'],
    ['a number of JSON Schema', { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }, 'integer'],
  ];
  it.each(refused)('are an error at registration that says what to write: %s', (_what, argsSchema, type) => {
    const server = create();
    const message = new RegExp(`^prompt "p": argument "n" has the type ${type}.*z\\.coerce\\.number\\(\\)`);
    expect(() => server.registerPrompt('p', { argsSchema }, () => 'p')).toThrow(message);
    expect(() => server.registerPrompt('p', {}, () => 'p').update({ argsSchema })).toThrow(RegistrationError);
  });

  const leftOut: [string, ObjectSchema, unknown][] = [
    ['a number', { n: z.number().optional() }, {}],
    ['a number with a default', { n: z.int().default(3) }, { n: 3 }],
    ['a number with a default of its input', { n: z.number().prefault(3) }, { n: 3 }],
    ['a number with a default that is said to be there', { n: z.number().default(3).nonoptional() }, { n: 3 }],
    ['a number or null', z.object({ n: z.number().nullish() }), {}],
    ['a list or null', { n: z.array(z.string()).optional().nullable().readonly() }, {}],
    ['a number of JSON Schema', { type: 'object', properties: { n: { type: 'integer' } } }, {}],
  ];
  it.each(leftOut)('are let through where they may be left out: %s', async (_what, argsSchema, args) => {
    const server = create();
    server.registerPrompt('p', { argsSchema }, (given: unknown) => JSON.stringify(given));
    server.registerPrompt('q', {}, () => 'q').update({ argsSchema });
    const peer = await RawPeer.open(server, MODERN);
    const { messages } = await peer.call('prompts/get', { name: 'p' });
    expect(JSON.parse(messages[0].content.text)).toEqual(args);
    expect((await peer.rawRequest('prompts/get', { name: 'p', arguments: { n: '3' } })).error?.code).toBe(-32602);
  });

  const taken: [string, ObjectSchema, unknown][] = [
    ['a number that is converted', { n: z.coerce.number() }, 3],
    ['one that may be left out', { n: z.coerce.number().optional() }, 3],
    ['one made before', { n: z.preprocess(Number, z.number()) }, 3],
    ['one of two', { n: z.union([z.coerce.number(), z.boolean()]) }, 3],
    ['a number that catches', { n: z.number().catch(0) }, 0],
    ['a text that is changed', { n: z.string().transform(Number) }, 3],
    ['a choice', { n: z.enum(['3']) }, '3'],
    ['types of JSON Schema with a text', { type: 'object', properties: { n: { type: ['number', 'string'] } } }, '3'],
    ['JSON Schema without a type', { type: 'object', properties: { n: {} } }, '3'],
  ];
  it.each(taken)('are no such: %s', async (_what, argsSchema, value) => {
    const server = create();
    server.registerPrompt('p', { argsSchema }, (args: unknown) => JSON.stringify(args));
    const peer = await RawPeer.open(server, MODERN);
    const { messages } = await peer.call('prompts/get', { name: 'p', arguments: { n: '3' } });
    expect(messages[0].content.text).toBe(JSON.stringify({ n: value }));
  });
});
