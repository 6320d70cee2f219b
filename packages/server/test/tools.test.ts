import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ProtocolError } from '@mortise/jsonrpc-core';
import { defineTool, McpServer, RegistrationError, ToolError } from '@mortise/server';
import { SchemaUnsupportedError } from '@mortise/server/errors';
import { ALL, LEGACY, type Loose, MODERN, RawPeer } from './raw-peer.ts';
import { createCalculator, MemoryLogger } from './support.ts';

const create = (options = {}): McpServer => new McpServer({ name: 'tools', version: '1.0.0' }, options);
const since = (version: string, first: string): boolean =>
  (ALL as readonly string[]).indexOf(version) >= (ALL as readonly string[]).indexOf(first);

describe.each(ALL)('tools in %s', (version) => {
  it('[TOOL-001] advertises the capability once a tool is registered', async () => {
    const bare = await RawPeer.attach(create(), version);
    const full = await RawPeer.attach(createCalculator(), version);
    const told = async (peer: RawPeer) =>
      (peer.isModern ? await peer.call('server/discover') : (await peer.initialize()).result).capabilities;
    expect(await told(bare)).not.toHaveProperty('tools');
    expect((await told(full)).tools).toEqual({ listChanged: true });
  });

  it('[TOOL-006][TOOL-009] lists each tool with a name and an object schema, closed where it takes nothing', async () => {
    const server = createCalculator();
    server.registerTool('now', { description: 'Tells the time' }, () => 'now');
    const peer = await RawPeer.open(server, version);
    const { tools } = await peer.call('tools/list');
    expect(tools.map((tool: Loose) => [tool.name, tool.inputSchema.type])).toEqual([
      ['add', 'object'],
      ['now', 'object'],
    ]);
    expect(tools[1].inputSchema).toEqual({ type: 'object', additionalProperties: false });
  });

  it('[TOOL-026][TOOL-027] calls by name with optional arguments and always gives content', async () => {
    const server = create();
    server.registerTool('plain', {}, () => 'text');
    server.registerTool('block', {}, () => ({ type: 'text' as const, text: 'block' }));
    server.registerTool('blocks', {}, () => [
      { type: 'text' as const, text: 'one' },
      { type: 'text' as const, text: 'two' },
    ]);
    server.registerTool('structured', { outputSchema: { n: z.number() } }, () => ({ structuredContent: { n: 1 } }));
    server.registerTool('empty', {}, () => ({ content: [] }));
    const peer = await RawPeer.open(server, version);
    const texts = async (name: string) => (await peer.callTool(name)).content.map((block: Loose) => block.text);
    expect(await texts('plain')).toEqual(['text']);
    expect(await texts('block')).toEqual(['block']);
    expect(await texts('blocks')).toEqual(['one', 'two']);
    expect(await texts('structured')).toEqual(['{"n":1}']);
    expect(await texts('empty')).toEqual([]);
    expect((await peer.request('tools/call', { name: 'plain', arguments: [] })).error?.code).toBe(-32602);
    expect((await peer.request('tools/call', { arguments: {} })).error?.code).toBe(-32602);
  });

  it('[TOOL-028] sends only the kinds of blocks that the revision has', async () => {
    const server = create();
    server.registerTool('all', {}, () => [
      { type: 'text' as const, text: 't' },
      { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio' as const, data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource_link' as const, uri: 'test://r', name: 'r' },
      { type: 'resource' as const, resource: { uri: 'test://r', text: 'r' } },
    ]);
    const peer = await RawPeer.open(server, version);
    const kinds = new Set((await peer.callTool('all')).content.map((block: Loose) => block.type));
    expect(kinds.has('audio')).toBe(since(version, '2025-03-26'));
    expect(kinds.has('resource_link')).toBe(since(version, '2025-06-18'));
    for (const kind of ['text', 'image', 'resource']) expect(kinds.has(kind)).toBe(true);
  });

  it('[TOOL-042][TOOL-043] answers invalid arguments as the revision says, naming argument, rule and value', async () => {
    const peer = await RawPeer.open(createCalculator(), version);
    const { error, result } = await peer.request('tools/call', { name: 'add', arguments: { a: 'x', b: 2 } });
    const told = 'tool "add": argument "a" must be a number, got "x"';
    if (since(version, '2025-11-25')) expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: told }] });
    else expect(error).toEqual({ code: -32602, message: told });
  });

  it('[TOOL-044][ERR-003] answers an unknown tool with -32602, and so a disabled one', async () => {
    const server = createCalculator();
    const peer = await RawPeer.open(server, version);
    expect((await peer.request('tools/call', { name: 'nobody' })).error).toEqual({ code: -32602, message: 'Unknown tool: "nobody"' });
    server.registerTool('off', {}, () => 'off').disable();
    expect((await peer.request('tools/call', { name: 'off' })).error).toEqual({ code: -32602, message: 'Unknown tool: "off"' });
  });

  it('[TOOL-041] reports a failing tool as a result, and a ProtocolError as a JSON-RPC error', async () => {
    const server = create();
    server.registerTool('throws', {}, () => {
      throw new ToolError('the shop is closed');
    });
    server.registerTool('rejects', {}, () => Promise.reject(new Error('no such city')));
    server.registerTool('protocol', {}, () => {
      throw new ProtocolError(4711, 'own code', { detail: true });
    });
    server.registerTool('says', {}, () => ({ isError: true, content: [{ type: 'text', text: 'said so' }] }));
    const peer = await RawPeer.open(server, version);
    expect(await peer.callTool('throws')).toMatchObject({ isError: true, content: [{ text: 'the shop is closed' }] });
    expect(await peer.callTool('rejects')).toMatchObject({ isError: true, content: [{ text: 'no such city' }] });
    expect(await peer.callTool('says')).toMatchObject({ isError: true, content: [{ text: 'said so' }] });
    expect((await peer.request('tools/call', { name: 'protocol' })).error).toEqual({
      code: 4711,
      message: 'own code',
      data: { detail: true },
    });
  });

  it('[TOOL-032][TOOL-033][TOOL-040] sends structuredContent and outputSchema only in shapes that the revision allows', async () => {
    const server = create();
    server.registerTool('list', { outputSchema: { type: 'array', items: { type: 'number' } } }, () => ({ structuredContent: [1, 2] }));
    server.registerTool('object', { outputSchema: { n: z.number() } }, () => ({ structuredContent: { n: 1 } }));
    const peer = await RawPeer.open(server, version);
    const { tools } = await peer.call('tools/list');
    const [list, object] = [await peer.callTool('list'), await peer.callTool('object')];
    expect('outputSchema' in tools[0]).toBe(version === MODERN);
    expect('outputSchema' in tools[1]).toBe(since(version, '2025-06-18'));
    expect(list.structuredContent).toEqual(version === MODERN ? [1, 2] : undefined);
    expect(object.structuredContent).toEqual(since(version, '2025-06-18') ? { n: 1 } : undefined);
    expect(list.content[0].text).toBe('[1,2]');
  });

  it('[TOOL-035][TOOL-036] tells an output schema whose root is no object to modern clients alone', async () => {
    const server = create();
    server.registerTool('text', { outputSchema: z.string() }, () => ({ structuredContent: 'hi' }));
    const peer = await RawPeer.open(server, version);
    const [tool] = (await peer.call('tools/list')).tools;
    expect(tool.outputSchema).toEqual(version === MODERN ? { type: 'string' } : undefined);
  });

  it('[TOOL-037][SCHEMA-012] checks inputs and outputs against their schemas, whatever words these use', async () => {
    const server = create();
    const inputSchema = {
      type: 'object',
      properties: { kind: { enum: ['a', 'b'] }, n: { type: 'integer' } },
      required: ['kind'],
      if: { properties: { kind: { const: 'a' } } },
      then: { required: ['n'] },
    } as const;
    server.registerTool(
      'run',
      { inputSchema, outputSchema: { type: 'object', properties: { ok: { const: true } }, required: ['ok'] } },
      (args) => ({
        structuredContent: { ok: args['kind'] === 'a' },
      }),
    );
    const peer = await RawPeer.open(server, version);
    const outcome = async (args: Loose) => {
      const { error, result } = await peer.request('tools/call', { name: 'run', arguments: args });
      return error ? 'refused' : result.isError ? 'failed' : 'passed';
    };
    expect(await outcome({ kind: 'a', n: 1 })).toBe('passed');
    expect(await outcome({ kind: 'a' })).toBe(since(version, '2025-11-25') ? 'failed' : 'refused');
    expect(await outcome({ kind: 'b' })).toBe('failed');
  });

  it('does not check the output of a tool that failed', async () => {
    const server = create();
    server.registerTool('fails', { outputSchema: { n: z.number() } }, () => ({
      isError: true,
      content: [{ type: 'text', text: 'sorry' }],
    }));
    const peer = await RawPeer.open(server, version);
    expect(await peer.callTool('fails')).toMatchObject({ isError: true, content: [{ text: 'sorry' }] });
  });

  it('[TOOL-046] refuses callers whose token lacks a scope of the tool, and lets local ones in', async () => {
    const server = create();
    server.registerTool('admin', { scopes: ['admin'] }, () => 'done');
    const auth = (scopes: string[]) => ({ info: { principal: 'ann', auth: { principal: 'ann', scopes } } });
    const local = await RawPeer.open(server, version);
    const good = await RawPeer.open(server, version, auth(['admin', 'other']));
    const poor = await RawPeer.open(server, version, auth(['other']));
    const nobody = await RawPeer.open(server, version, { info: { principal: 'anonymous' } });
    expect((await local.callTool('admin')).content[0].text).toBe('done');
    expect((await good.callTool('admin')).content[0].text).toBe('done');
    for (const peer of [poor, nobody]) {
      expect((await peer.request('tools/call', { name: 'admin' })).error).toMatchObject({ code: 403, data: { requiredScopes: ['admin'] } });
    }
  });

  it('[TOOL-012] keeps names that differ in case apart and refuses one that is taken', async () => {
    const server = create();
    server.registerTool('Go', {}, () => 'upper');
    server.registerTool('go', {}, () => 'lower');
    expect(() => server.registerTool('go', {}, () => 'again')).toThrow(RegistrationError);
    const peer = await RawPeer.open(server, version);
    expect((await peer.callTool('Go')).content[0].text).toBe('upper');
    expect((await peer.callTool('go')).content[0].text).toBe('lower');
  });

  it('[ICON-001] shows icons, titles, annotations and _meta where the revision has them', async () => {
    const icons = [{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['48x48'] }];
    const server = new McpServer({ name: 'icons', version: '1', title: 'Icons', icons });
    server.registerTool('t', { title: 'T', icons, annotations: { readOnlyHint: true }, _meta: { 'com.example/k': 1 } }, () => 't');
    server.registerPrompt('p', { title: 'P', icons }, () => 'p');
    server.registerResource('r', 'test://r', { title: 'R', icons }, () => 'r');
    const peer = await RawPeer.open(server, version);
    const [tool] = (await peer.call('tools/list')).tools;
    const [prompt] = (await peer.call('prompts/list')).prompts;
    const [resource] = (await peer.call('resources/list')).resources;
    for (const item of [tool, prompt, resource]) {
      expect(item.icons).toEqual(since(version, '2025-11-25') ? icons : undefined);
      expect('title' in item).toBe(since(version, '2025-06-18'));
    }
    expect(tool.annotations?.readOnlyHint).toBe(since(version, '2025-03-26') ? true : undefined);
    expect('_meta' in tool).toBe(since(version, '2025-06-18'));
  });
});

describe('registering a tool', () => {
  it('[TOOL-008] refuses a schema that is none', () => {
    for (const inputSchema of [null, 'object', 5, { type: 'string' }, { type: 'nonsense' }] as Loose[]) {
      expect(() => create().registerTool('t', { inputSchema }, () => 't')).toThrow(SchemaUnsupportedError);
    }
  });

  it.each(['with space', 'ü', 'a,b', 'x'.repeat(129)])('[TOOL-011] warns of the name %j, which some clients will not take', (name) => {
    const logger = new MemoryLogger();
    create({ logger }).registerTool(name, {}, () => 't');
    expect(logger.lines).toMatchObject([{ level: 'warning' }]);
  });

  it('[TOOL-011] says nothing of a good name, and refuses an empty one', () => {
    const logger = new MemoryLogger();
    create({ logger }).registerTool('Good_name-1.0', {}, () => 't');
    expect(logger.lines).toEqual([]);
    expect(() => create().registerTool('', {}, () => 't')).toThrow(RegistrationError);
  });

  it('refuses an option that no extension owns, naming it', () => {
    const config = { description: 'x', taskSupport: 'optional' };
    expect(() => create().registerTool('t', config, () => 't')).toThrow(/tool "t": unknown option "taskSupport" \(known: title, /);
  });

  it('says that execution needs the extension of tasks', () => {
    const config = { description: 'x', execution: { taskSupport: 'optional' } };
    expect(() => create().registerTool('t', config, () => 't')).toThrow(
      new RegistrationError('tool "t": "execution" needs new McpServer(info, { extensions: [createTasks()] }) of @mortise/tasks'),
    );
  });

  it('[TOOL-017] does not send execution to modern clients', async () => {
    const server = create({
      extensions: [
        {
          id: 'com.example/exec',
          toolOptions: ['support'],
          toolDefinition: () => ({ execution: { taskSupport: 'optional' } }),
          install: () => undefined,
        },
      ],
    });
    server.registerTool('t', {}, () => 't');
    const [modern, old] = [await RawPeer.open(server, MODERN), await RawPeer.open(server, '2025-11-25')];
    expect((await modern.call('tools/list')).tools[0]).not.toHaveProperty('execution');
    expect((await old.call('tools/list')).tools[0].execution).toEqual({ taskSupport: 'optional' });
  });

  it('[TOOL-031] warns where a tool embeds a resource of a server without resources', async () => {
    const logger = new MemoryLogger();
    const server = create({ logger });
    server.registerTool('embed', {}, () => [{ type: 'resource' as const, resource: { uri: 'test://r', text: 'r' } }]);
    const peer = await RawPeer.open(server, MODERN);
    await peer.callTool('embed');
    await peer.callTool('embed');
    expect(logger.lines.filter(({ message }) => message.includes('embeds a resource'))).toHaveLength(1);
    server.registerResource('r', 'test://r', {}, () => 'r');
  });

  it('[TOOL-025][HDR-028] warns of an argument in a header that looks like a secret', () => {
    const logger = new MemoryLogger();
    const schema = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string', 'x-mcp-header': 'Value' } } }) as const;
    create({ logger }).registerTool('fine', { inputSchema: schema('region') }, () => 'x');
    expect(logger.lines).toEqual([]);
    for (const name of ['password', 'apiKey', 'user_token'])
      create({ logger }).registerTool('leaky', { inputSchema: schema(name) }, () => 'x');
    expect(logger.lines.filter(({ level, message }) => level === 'warning' && message.includes('looks like a secret'))).toHaveLength(3);
  });

  it('[TOOL-011] warns of what was registered before there was a logger, once there is one', () => {
    const server = create();
    server.registerTool('with space', {}, () => 'x');
    const [logger, later] = [new MemoryLogger(), new MemoryLogger()];
    server.offerLogger(logger);
    server.offerLogger(later);
    expect(logger.lines).toMatchObject([{ level: 'warning', message: expect.stringContaining('some clients will reject it') }]);
    expect(later.lines).toEqual([]);
  });

  it('takes tools as values', async () => {
    const add = defineTool({ inputSchema: { a: z.number() }, outputSchema: { b: z.number() } }, ({ a }) => ({
      structuredContent: { b: a + 1 },
    }));
    const server = new McpServer({ name: 'x', version: '1' }, { tools: { add } });
    server.registerTool('beside', {}, () => 'beside');
    const peer = await RawPeer.open(server, MODERN);
    expect((await peer.callTool('add', { a: 1 })).structuredContent).toEqual({ b: 2 });
    expect((await peer.callTool('beside')).content[0].text).toBe('beside');
  });
});

describe('the list of tools', () => {
  it('[TOOL-002] is the same for every connection, and may be empty', async () => {
    const server = create({ capabilities: { tools: {} } });
    const [one, other] = [await RawPeer.open(server, MODERN), await RawPeer.open(server, MODERN)];
    expect((await one.call('tools/list')).tools).toEqual([]);
    server.registerTool('a', {}, () => 'a');
    await one.callTool('a');
    const list = await one.call('tools/list');
    expect(list.tools).toMatchObject([{ name: 'a' }]);
    expect(await other.call('tools/list')).toEqual(list);
  });

  it('[TOOL-003] keeps its order while tools are changed, and after some are gone', async () => {
    const server = create();
    const handles = ['c', 'a', 'b', 'd'].map((name) => server.registerTool(name, {}, () => name));
    const peer = await RawPeer.open(server, MODERN);
    const names = async () => (await peer.call('tools/list')).tools.map((tool: Loose) => tool.name);
    expect(await names()).toEqual(['c', 'a', 'b', 'd']);
    handles[0]?.update({ description: 'new' });
    handles[3]?.disable();
    handles[3]?.enable();
    handles[1]?.remove();
    handles[2]?.update({ name: 'z' });
    expect(await names()).toEqual(['c', 'z', 'd']);
  });

  it.each(LEGACY)('[TOOL-004] tells %s clients of changes unasked, once for many', async (version) => {
    const server = create();
    const handle = server.registerTool('a', {}, () => 'a');
    const peer = await RawPeer.open(server, version);
    await peer.settle();
    const told = peer.nextNotification('notifications/tools/list_changed');
    server.registerTool('b', {}, () => 'b');
    server.registerTool('c', {}, () => 'c');
    handle.disable();
    await told;
    await peer.settle();
    expect(peer.notifications('notifications/tools/list_changed')).toHaveLength(1);
    handle.update({ description: 'other' });
    await peer.nextNotification('notifications/tools/list_changed');
  });

  it('[TOOL-005] tells modern clients on subscriptions alone', async () => {
    const server = createCalculator();
    const peer = await RawPeer.open(server, MODERN);
    server.registerTool('b', {}, () => 'b');
    await peer.settle();
    expect(peer.notifications()).toEqual([]);
    void peer.request('subscriptions/listen', { notifications: { toolsListChanged: true } });
    await peer.nextNotification('notifications/subscriptions/acknowledged');
    server.registerTool('c', {}, () => 'c');
    await peer.nextNotification('notifications/tools/list_changed');
  });

  it('knows the first tool though clients connected before it, told to those that were promised tools', async () => {
    const server = create({ capabilities: { tools: { listChanged: true } } });
    const [promised, plain] = [await RawPeer.open(server, '2025-11-25'), await RawPeer.open(create(), '2025-11-25')];
    expect((await promised.call('tools/list')).tools).toEqual([]);
    expect((await plain.request('tools/list')).error?.code).toBe(-32601);
    await promised.settle();
    server.registerTool('first', {}, () => 'first');
    await promised.nextNotification('notifications/tools/list_changed');
    expect((await promised.callTool('first')).content[0].text).toBe('first');
  });
});

describe('handles', () => {
  it('change what is served while clients are connected', async () => {
    const server = create();
    const handle = server.registerTool('t', { description: 'one', inputSchema: { a: z.string() } }, ({ a }) => a);
    const peer = await RawPeer.open(server, MODERN);
    handle.update({ name: 'u', description: 'two', inputSchema: { n: z.number() }, handler: ({ n }: { n: number }) => String(n * 2) });
    expect(handle.name).toBe('u');
    const [tool] = (await peer.call('tools/list')).tools;
    expect(tool).toMatchObject({ name: 'u', description: 'two', inputSchema: { properties: { n: { type: 'number' } } } });
    expect((await peer.callTool('u', { n: 4 })).content[0].text).toBe('8');
    expect((await peer.request('tools/call', { name: 't' })).error?.code).toBe(-32602);
    handle.update({ enabled: false });
    expect(handle.enabled).toBe(false);
    expect((await peer.call('tools/list')).tools).toEqual([]);
    handle.update({ name: null });
    handle.enable();
    expect((await peer.call('tools/list')).tools).toEqual([]);
  });

  it('change nothing where an update is refused', async () => {
    const server = create();
    const handle = server.registerTool('t', { description: 'one' }, () => 't');
    server.registerTool('taken', {}, () => 'taken');
    expect(() => handle.update({ name: 'taken', description: 'two' })).toThrow(RegistrationError);
    expect(() => handle.update({ description: 'two', inputSchema: { type: 'string' } as Loose })).toThrow(SchemaUnsupportedError);
    const peer = await RawPeer.open(server, MODERN);
    expect((await peer.call('tools/list')).tools[0]).toMatchObject({ name: 't', description: 'one' });
  });
});

describe('visibility', () => {
  const server = create();
  server.registerTool('open', {}, () => 'open');
  server.registerTool('admins', { visible: ({ principal }) => principal === 'admin' }, () => 'secret');
  server.registerTool(
    'broken',
    {
      visible: () => {
        throw new Error('rule');
      },
    },
    () => 'never',
  );
  server.registerTool('promised', { visible: (async () => true) as unknown as () => boolean }, () => 'never');

  it.each(ALL)('shows different tools to different principals in %s, for list and call alike', async (version) => {
    const admin = await RawPeer.open(server, version, { info: { principal: 'admin' } });
    const other = await RawPeer.open(server, version, { info: { principal: 'other' } });
    const names = async (peer: RawPeer) => (await peer.call('tools/list')).tools.map((tool: Loose) => tool.name);
    expect(await names(admin)).toEqual(['open', 'admins']);
    expect(await names(other)).toEqual(['open']);
    expect((await admin.callTool('admins')).content[0].text).toBe('secret');
    const hidden = await other.request('tools/call', { name: 'admins' });
    const unknown = await other.request('tools/call', { name: 'nobody' });
    expect(hidden.error).toEqual({ ...unknown.error, message: unknown.error?.message.replace('nobody', 'admins') });
  });

  it('makes the list private', async () => {
    const peer = await RawPeer.open(server, MODERN);
    expect((await peer.call('tools/list')).cacheScope).toBe('private');
    const open = await RawPeer.open(createCalculator({ cache: { listTtlMs: 5000 } }), MODERN);
    expect(await open.call('tools/list')).toMatchObject({ cacheScope: 'public', ttlMs: 5000 });
  });

  it.each<[string, boolean, number]>([
    ['is refused where the caller may see it', true, -32020],
    ['is unknown to whom it is hidden from', false, -32602],
  ])('a tool whose rule reads ctx.app, called with headers that differ, %s', async (_what, isShown, code) => {
    const server = new McpServer({ name: 's', version: '1' }, { context: () => ({ isShown }) });
    const schema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } as const;
    server.registerTool('t', { inputSchema: schema, visible: ({ app }: Loose) => app.isShown }, () => 'ran');
    const _meta = { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} };
    const { signal } = new AbortController();
    const call = { principal: 'ann', signal, isCancelled: false, cancel: () => undefined, send: async () => undefined };
    const paramFault = new ProtocolError(-32020, 'The header "Mcp-Param-Region" differs from the body');
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 't', arguments: { region: 'eu' }, _meta } } as const;
    expect(await server.handle(request, { ...call, paramFault })).toMatchObject({ error: { code } });
    expect('result' in (await server.handle(request, call))).toBe(isShown);
  });

  it('says which arguments travel in headers', () => {
    const schema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } as const;
    const hidden = create();
    hidden.registerTool('t', { inputSchema: schema, visible: ({ principal }) => principal === 'admin' }, () => 't');
    expect(hidden.paramHeaders('t')?.get('Region')).toEqual(['region']);
    expect(hidden.paramHeaders('nobody')).toBeUndefined();
    expect([hidden.nameParam('tools/call'), hidden.nameParam('resources/read'), hidden.nameParam('tools/list')]).toEqual([
      'name',
      'uri',
      undefined,
    ]);
  });
});

it('[TOOL-034] tells null as structured content apart from none', async () => {
  const server = create();
  server.registerTool('null', { outputSchema: z.null() }, () => ({ structuredContent: null }));
  server.registerTool('none', {}, () => ({ content: [] }));
  const peer = await RawPeer.open(server, MODERN);
  expect(await peer.callTool('null')).toMatchObject({ structuredContent: null, content: [{ text: 'null' }] });
  expect(await peer.callTool('none')).not.toHaveProperty('structuredContent');
});
