/** What the checks say of what is wrong: the sentences of -32602. */

import {
  checkClientNotification,
  checkClientParams,
  checkClientResult,
  checkListItem,
  checkServerNotification,
  checkServerParams,
  checkServerResult,
} from '@mortise/protocol/checks';
import { describe, expect, it } from 'vitest';

describe('params from clients', () => {
  it.each([
    ['tools/call', {}, 'params.name is missing: it must be a string'],
    ['tools/call', { name: 5 }, 'params.name must be a string, got 5'],
    ['tools/call', { name: 't', arguments: [1] }, 'params.arguments must be an object, got an array'],
    ['tools/call', { name: 't', arguments: null }, 'params.arguments must be an object, got null'],
    ['tools/call', { name: 't', _meta: { progressToken: 1.5 } }, 'params._meta.progressToken must be a string or an integer, got 1.5'],
    ['tools/call', { name: 't', _meta: 'x' }, 'params._meta must be an object, got "x"'],
    ['tools/call', { name: 't', requestState: {} }, 'params.requestState must be a string, got an object'],
    ['resources/read', { uri: true }, 'params.uri must be a string, got true'],
    ['tools/list', { cursor: 5 }, 'params.cursor must be a string, got 5'],
    [
      'logging/setLevel',
      { level: 'warn' },
      'params.level must be one of "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", got "warn"',
    ],
    [
      'initialize',
      { protocolVersion: 'x', capabilities: {}, clientInfo: { name: 'a' } },
      'params.clientInfo.version is missing: it must be a string',
    ],
    [
      'initialize',
      { protocolVersion: 'x', capabilities: { roots: true }, clientInfo: { name: 'a', version: '1' } },
      'params.capabilities.roots must be an object, got true',
    ],
    ['ping', [], 'params must be an object, got an array'],
    ['unheard/of', { _meta: { progressToken: {} } }, 'params._meta.progressToken must be a string or an integer, got an object'],
  ])('of %s as %j: %s', (method, params, reason) => {
    expect(checkClientParams(method, params)).toBe(reason);
  });

  it('quotes no more than the beginning of a value', () => {
    const reason = checkClientParams('initialize', { protocolVersion: 'x', capabilities: 'y'.repeat(10_000) });
    expect(reason?.length).toBeLessThan(120);
  });

  it('[TOOL-026] take a name, and arguments that are an object or absent', () => {
    for (const params of [{ name: 't' }, { name: 't', arguments: {} }, { name: 't', unheard: 1 }])
      expect(checkClientParams('tools/call', params)).toBeUndefined();
    for (const params of [undefined, { name: null }, { name: 't', arguments: 'a' }])
      expect(checkClientParams('tools/call', params)).toBeDefined();
  });

  it('[PROMPT-005] of prompts/get have strings as arguments, nothing else', () => {
    expect(checkClientParams('prompts/get', { name: 'p', arguments: { a: 'x' } })).toBeUndefined();
    expect(checkClientParams('prompts/get', { name: 'p', arguments: { a: 5 } })).toBe('params.arguments["a"] must be a string, got 5');
  });

  it('[COMP-002][COMP-003] of completion name a prompt, or a resource or template', () => {
    const argument = { name: 'a', value: 'x' };
    expect(checkClientParams('completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument })).toBeUndefined();
    expect(checkClientParams('completion/complete', { ref: { type: 'ref/resource', uri: 'docs://{topic}' }, argument })).toBeUndefined();
    expect(checkClientParams('completion/complete', { ref: { type: 'ref/prompt', uri: 'x' }, argument })).toMatch(
      /params\.ref\.name is missing/,
    );
    expect(checkClientParams('completion/complete', { ref: { type: 'ref/tool', name: 'p' }, argument })).toMatch(
      /params\.ref\.type must be one of/,
    );
    expect(checkClientParams('completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a' } })).toMatch(
      /params\.argument\.value is missing/,
    );
  });

  it('[CANCEL-003] of a cancellation name the request', () => {
    expect(checkClientNotification('notifications/cancelled', { requestId: 0, reason: 'x' })).toBeUndefined();
    expect(checkClientNotification('notifications/cancelled', { requestId: {} })).toMatch(/requestId must be a string or an integer/);
    expect(checkClientNotification('notifications/cancelled', { requestId: 1, reason: 5 })).toMatch(/reason must be a string/);
  });
});

describe('answers of clients', () => {
  it('[ELICIT-015][ELICIT-017] to a form are accept, decline or cancel, with flat content', () => {
    for (const answer of [
      { action: 'accept', content: { a: 'x', b: 1, c: true, d: ['y'] } },
      { action: 'decline' },
      { action: 'cancel' },
    ]) {
      expect(checkClientResult('elicitation/create', answer)).toBeUndefined();
    }
    expect(checkClientResult('elicitation/create', { action: 'yes' })).toMatch(/result\.action must be one of/);
    for (const value of [{ a: 1 }, null, [1]])
      expect(checkClientResult('elicitation/create', { action: 'accept', content: { x: value } })).toMatch(/result\.content\["x"\]/);
  });

  it('[SAMP-006][SAMP-018] to sampling have role, model and one block or many', () => {
    const text = { type: 'text', text: 'a' };
    const answer = { role: 'assistant', model: 'm', content: text };
    for (const good of [
      answer,
      { ...answer, content: [text, { type: 'tool_use', id: '1', name: 't', input: {} }] },
      { ...answer, stopReason: 'anything' },
    ]) {
      expect(checkClientResult('sampling/createMessage', good)).toBeUndefined();
    }
    for (const bad of [
      { ...answer, role: 'system' },
      { ...answer, model: undefined },
      { ...answer, content: [{ type: 'resource_link', uri: 'a', name: 'b' }] },
    ]) {
      expect(checkClientResult('sampling/createMessage', bad)).toBeDefined();
    }
  });

  it('to roots/list have addresses', () => {
    expect(checkClientResult('roots/list', { roots: [{ uri: 'file:///a' }] })).toBeUndefined();
    expect(checkClientResult('roots/list', { roots: [{ name: 'a' }] })).toBe('result.roots[0].uri is missing: it must be a string');
  });
});

describe('what servers send', () => {
  it('[SAMP-007] sampling has messages and maxTokens', () => {
    expect(
      checkServerParams('sampling/createMessage', { messages: [{ role: 'user', content: { type: 'text', text: 'a' } }], maxTokens: 1 }),
    ).toBeUndefined();
    expect(checkServerParams('sampling/createMessage', { messages: [] })).toMatch(/maxTokens is missing/);
    expect(checkServerParams('sampling/createMessage', { maxTokens: 1 })).toMatch(/messages is missing/);
    expect(checkServerParams('sampling/createMessage', { messages: [{ role: 'tool', content: [] }], maxTokens: 1 })).toMatch(
      /messages\[0\]\.role/,
    );
  });

  it('[ELICIT-005][ELICIT-006] a form has a message and a flat schema, with or without mode', () => {
    const form = { message: 'm', requestedSchema: { type: 'object', properties: { a: { type: 'string' } } } };
    for (const good of [form, { ...form, mode: 'form' }]) expect(checkServerParams('elicitation/create', good)).toBeUndefined();
    expect(checkServerParams('elicitation/create', { ...form, message: undefined })).toMatch(/message is missing/);
    expect(checkServerParams('elicitation/create', { message: 'm' })).toMatch(/requestedSchema is missing/);
    expect(checkServerParams('elicitation/create', { ...form, requestedSchema: { type: 'array', properties: {} } })).toMatch(
      /requestedSchema\.type/,
    );
  });

  it('[ELICIT-007] a form has no nested fields', () => {
    const nested = { message: 'm', requestedSchema: { type: 'object', properties: { a: { type: 'object', properties: {} } } } };
    expect(checkServerParams('elicitation/create', nested)).toMatch(/properties\["a"\]\.type must be one of/);
  });

  it('[ELICIT-024] a page has a message and a url', () => {
    expect(checkServerParams('elicitation/create', { mode: 'url', message: 'm', url: 'https://example.com' })).toBeUndefined();
    expect(checkServerParams('elicitation/create', { mode: 'url', message: 'm' })).toMatch(/url is missing/);
  });

  it('[TOOL-006][TOOL-008] a tool has a name and an input schema of an object', () => {
    expect(checkListItem('tools/list', { name: 't', inputSchema: { type: 'object', anyOf: [] } })).toBeUndefined();
    for (const inputSchema of [undefined, null, {}, { type: 'array' }, true])
      expect(checkListItem('tools/list', { name: 't', inputSchema })).toMatch(/^item\.inputSchema/);
  });

  it('[TOOL-027] a result of a tool has content', () => {
    expect(checkServerResult('tools/call', { content: [] })).toBeUndefined();
    expect(checkServerResult('tools/call', { structuredContent: {} })).toBe('result.content is missing: it must be an array');
  });

  it('[TOOL-029][TOOL-030] blocks have what their type needs', () => {
    const result = (block: object): string | undefined => checkServerResult('tools/call', { content: [block] });
    expect(result({ type: 'image', data: 'AA==' })).toBe('result.content[0].mimeType is missing: it must be a string');
    expect(result({ type: 'resource_link', uri: 'a' })).toBe('result.content[0].name is missing: it must be a string');
    expect(result({ type: 'resource_link', uri: 'a', name: 'b' })).toBeUndefined();
    expect(result({ type: 'video' })).toMatch(/content\[0\]\.type must be one of/);
  });

  it('[RES-004][RES-005] templates have uriTemplate and name, contents have uri and text or blob', () => {
    expect(checkListItem('resources/templates/list', { uriTemplate: 'a://{b}', name: 'a' })).toBeUndefined();
    expect(checkListItem('resources/templates/list', { name: 'a' })).toMatch(/uriTemplate is missing/);
    expect(
      checkServerResult('resources/read', {
        contents: [
          { uri: 'a', text: '' },
          { uri: 'a', blob: '' },
        ],
      }),
    ).toBeUndefined();
    expect(checkServerResult('resources/read', { contents: [{ uri: 'a' }] })).toMatch(/contents\[0\]\.text is missing/);
  });

  it('[PROMPT-006] a prompt message has a role and one block', () => {
    const result = (message: object): string | undefined => checkServerResult('prompts/get', { messages: [message] });
    expect(result({ role: 'user', content: { type: 'text', text: 'a' } })).toBeUndefined();
    expect(result({ role: 'user', content: [{ type: 'text', text: 'a' }] })).toMatch(/messages\[0\]\.content/);
    expect(result({ role: 'system', content: { type: 'text', text: 'a' } })).toMatch(/messages\[0\]\.role/);
  });

  it('[COMP-005] a completion has at most 100 values', () => {
    const values = Array.from({ length: 101 }, String);
    expect(checkServerResult('completion/complete', { completion: { values: values.slice(1) } })).toBeUndefined();
    expect(checkServerResult('completion/complete', { completion: { values } })).toBe(
      'result.completion.values must have at most 100 items, got 101',
    );
  });

  it('[LOG-003] a log message has a level and data of any kind', () => {
    for (const data of [null, 0, '', {}, []])
      expect(checkServerNotification('notifications/message', { level: 'info', data })).toBeUndefined();
    expect(checkServerNotification('notifications/message', { level: 'info' })).toMatch(/data is missing/);
    expect(checkServerNotification('notifications/message', { data: 1 })).toMatch(/level is missing/);
  });

  it('[PAGE-004] a list may have an empty cursor, and null for none', () => {
    for (const nextCursor of ['', 'x', null]) expect(checkServerResult('tools/list', { tools: [], nextCursor })).toBeUndefined();
    expect(checkServerResult('tools/list', { tools: [], nextCursor: 5 })).toMatch(/nextCursor/);
  });

  it('[VERS-008] discovery has versions and capabilities', () => {
    const found = { supportedVersions: ['x'], capabilities: {}, resultType: 'complete', ttlMs: 0, cacheScope: 'public' };
    expect(checkServerResult('server/discover', found)).toBeUndefined();
    for (const bad of [
      { ...found, supportedVersions: 'x' },
      { ...found, capabilities: undefined },
      { ...found, cacheScope: 'shared' },
    ])
      expect(checkServerResult('server/discover', bad)).toBeDefined();
  });

  it('lists are accepted with bad items, which are told one by one', () => {
    expect(checkServerResult('tools/list', { tools: [{ name: 5 }, { name: 't', inputSchema: { type: 'object' } }] })).toBeUndefined();
    expect(checkListItem('tools/list', { name: 5 })).toBe('item.name must be a string, got 5');
  });
});
