/** Tools, resources, prompts, completion and progress, written for each revision. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { describe, expect, it } from 'vitest';
import { VERSIONS, writeNotification, writeParams, writeResult } from './wire.ts';

const icons = [{ src: 'https://example.com/i.png' }];
const schema = { type: 'object', properties: { a: { type: 'string' } } };
const tool: JsonObject = {
  name: 'add',
  title: 'Add',
  description: 'Adds',
  inputSchema: schema,
  outputSchema: schema,
  annotations: { readOnlyHint: true },
  execution: { taskSupport: 'optional' },
  icons,
  _meta: { 'com.example/a': 1 },
  extra: 'kept',
};

function writtenTool(version: string, definition: JsonObject = tool): JsonObject {
  return (writeResult(version, 'tools/list', { tools: [definition] })['tools'] as readonly JsonObject[])[0] as JsonObject;
}

describe('tools', () => {
  it.each([
    ['2024-11-05', ['name', 'description', 'inputSchema', 'extra']],
    ['2025-03-26', ['name', 'description', 'inputSchema', 'annotations', 'extra']],
    ['2025-06-18', ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', '_meta', 'extra']],
    ['2025-11-25', ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', 'execution', 'icons', '_meta', 'extra']],
    ['2026-07-28', ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', 'icons', '_meta', 'extra']],
  ])('have in %s the members of that revision, and unknown ones', (version, members) => {
    expect(Object.keys(writtenTool(version))).toEqual(members);
  });

  it('[TOOL-017] leave execution out in 2026-07-28', () => {
    expect(writtenTool('2026-07-28')).not.toHaveProperty('execution');
    expect(writtenTool('2025-11-25')).toHaveProperty('execution', { taskSupport: 'optional' });
  });

  it('[TOOL-007] say boolean property schemas as objects to legacy peers, which know no others', () => {
    const inputSchema = { type: 'object', properties: { any: true, none: false, a: { type: 'string' } } };
    expect(writtenTool('2025-11-25', { name: 'x', inputSchema })['inputSchema']).toEqual({
      type: 'object',
      properties: { any: {}, none: { not: {} }, a: { type: 'string' } },
    });
    expect(writtenTool('2026-07-28', { name: 'x', inputSchema })['inputSchema']).toBe(inputSchema);
  });

  it.each(['2025-06-18', '2025-11-25'])('[TOOL-035][TOOL-040] have no outputSchema in %s whose root is no object', (version) => {
    expect(writtenTool(version, { name: 'x', inputSchema: schema, outputSchema: { type: 'array', items: {} } })).not.toHaveProperty(
      'outputSchema',
    );
    expect(writtenTool(version, { name: 'x', inputSchema: schema, outputSchema: schema })).toHaveProperty('outputSchema', schema);
  });

  it('[TOOL-036] keep any outputSchema in 2026-07-28', () => {
    const outputSchema = { type: 'array', items: { type: 'number' } };
    expect(writtenTool('2026-07-28', { name: 'x', inputSchema: schema, outputSchema })['outputSchema']).toBe(outputSchema);
  });

  it('tell their title in 2025-03-26 by annotations.title, which it has', () => {
    expect(writtenTool('2025-03-26')['annotations']).toEqual({ readOnlyHint: true, title: 'Add' });
  });
});

describe('results of tools', () => {
  const content = [{ type: 'text', text: 'hi' }];

  it.each([
    ['an array', [1, 2]],
    ['a number', 5],
    ['a string', 'x'],
    ['false', false],
    ['null', null],
  ])('[TOOL-032][TOOL-040] have %s as text instead of structuredContent up to 2025-11-25', (_, structuredContent) => {
    for (const version of ['2025-06-18', '2025-11-25']) {
      expect(writeResult(version, 'tools/call', { content, structuredContent })).toEqual({
        content: [...content, { type: 'text', text: JSON.stringify(structuredContent) }],
      });
    }
  });

  it('do not repeat a value that is there as text already', () => {
    const mirrored = { content: [{ type: 'text', text: '[1,2]' }], structuredContent: [1, 2] };
    expect(writeResult('2025-11-25', 'tools/call', mirrored)['content']).toEqual(mirrored.content);
  });

  it('[TOOL-033][TOOL-034] keep any structuredContent in 2026-07-28, null included, and none as none', () => {
    for (const structuredContent of [null, [], 0, '', { a: 1 }]) {
      expect(writeResult('2026-07-28', 'tools/call', { content, structuredContent })).toHaveProperty(
        'structuredContent',
        structuredContent,
      );
    }
    expect(writeResult('2025-11-25', 'tools/call', { content })).toEqual({ content });
  });

  it('have objects as structuredContent from 2025-06-18, and as text before', () => {
    const result = { content, structuredContent: { sum: 3 } };
    expect(writeResult('2025-06-18', 'tools/call', result)).toEqual(result);
    expect(writeResult('2025-03-26', 'tools/call', result)).toEqual({ content: [...content, { type: 'text', text: '{"sum":3}' }] });
  });

  const blocks = [
    { type: 'text', text: 'a' },
    { type: 'image', data: 'AA==', mimeType: 'image/png' },
    { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'docs://a', name: 'a', title: 'The A', description: 'first' },
    { type: 'resource', resource: { uri: 'docs://b', text: 'b' } },
  ];
  const types = (list: unknown): readonly unknown[] => (list as readonly JsonObject[]).map(({ type }) => type);

  it.each([
    ['2024-11-05', ['text', 'image', 'text', 'text', 'resource']],
    ['2025-03-26', ['text', 'image', 'audio', 'text', 'resource']],
    ['2025-06-18', ['text', 'image', 'audio', 'resource_link', 'resource']],
    ['2025-11-25', ['text', 'image', 'audio', 'resource_link', 'resource']],
    ['2026-07-28', ['text', 'image', 'audio', 'resource_link', 'resource']],
  ])('[TOOL-028][PROMPT-007] hold in %s only blocks that it has', (version, expected) => {
    expect(types(writeResult(version, 'tools/call', { content: blocks })['content'])).toEqual(expected);
    const messages = blocks.map((content) => ({ role: 'user', content }));
    const written = writeResult(version, 'prompts/get', { messages })['messages'] as readonly JsonObject[];
    expect(types(written.map(({ content: block }) => block))).toEqual(expected);
  });

  it('name a link and its address as text', () => {
    expect(writeResult('2025-03-26', 'tools/call', { content: [blocks[3] as JsonObject] })['content']).toEqual([
      { type: 'text', text: 'The A <docs://a>: first' },
    ]);
  });

  it('say of audio what it was', () => {
    const [block] = writeResult('2024-11-05', 'tools/call', { content: [blocks[2] as JsonObject] })['content'] as readonly JsonObject[];
    expect(block?.['text']).toContain('audio/wav');
    expect(block).not.toHaveProperty('data');
  });

  it('survive blocks that are none', () => {
    const odd = { content: [null, 5, 'x', {}, { type: 5 }], structuredContent: undefined };
    for (const version of VERSIONS) expect(writeResult(version, 'tools/call', odd)['content']).toEqual(odd.content);
    for (const version of VERSIONS) expect(writeResult(version, 'tools/call', { content: 'none' })).toEqual({ content: 'none' });
  });
});

describe('what else servers offer', () => {
  const annotations = { audience: ['user'], priority: 0.5, lastModified: '2025-01-12T15:00:58Z' };
  const resource = {
    uri: 'docs://a',
    name: 'a',
    title: 'A',
    description: 'd',
    mimeType: 'text/plain',
    size: 3,
    annotations,
    icons,
    _meta: { 'com.example/a': 1 },
  };

  it.each([
    ['2024-11-05', ['uri', 'name', 'description', 'mimeType', 'size', 'annotations']],
    ['2025-03-26', ['uri', 'name', 'description', 'mimeType', 'size', 'annotations']],
    ['2025-06-18', ['uri', 'name', 'title', 'description', 'mimeType', 'size', 'annotations', '_meta']],
    ['2025-11-25', Object.keys(resource)],
    ['2026-07-28', Object.keys(resource)],
  ])('[RES-003] a resource has in %s the members of that revision', (version, members) => {
    const [written] = writeResult(version, 'resources/list', { resources: [resource] })['resources'] as readonly JsonObject[];
    expect(new Set(Object.keys(written ?? {}))).toEqual(new Set(members));
  });

  it('[RES-022] annotations have lastModified from 2025-06-18 on', () => {
    const templates = { resourceTemplates: [{ uriTemplate: 'a://{b}', name: 'a', annotations }] };
    expect(writeResult('2025-03-26', 'resources/templates/list', templates)['resourceTemplates']).toEqual([
      { uriTemplate: 'a://{b}', name: 'a', annotations: { audience: ['user'], priority: 0.5 } },
    ]);
    expect(writeResult('2025-06-18', 'resources/templates/list', templates)).toBe(templates);
  });

  it('[ICON-001] icons are on tools, prompts, resources, templates and implementations from 2025-11-25 on', () => {
    const listed = (version: string): readonly JsonObject[] => [
      writtenTool(version),
      ...(writeResult(version, 'prompts/list', { prompts: [{ name: 'p', icons }] })['prompts'] as readonly JsonObject[]),
      ...(writeResult(version, 'resources/list', { resources: [resource] })['resources'] as readonly JsonObject[]),
      ...(writeResult(version, 'resources/templates/list', { resourceTemplates: [{ uriTemplate: 'a', name: 'a', icons }] })[
        'resourceTemplates'
      ] as readonly JsonObject[]),
    ];
    const info = { name: 's', version: '1', icons };
    const serverInfo = (version: string): JsonObject =>
      writeResult(version, 'initialize', { protocolVersion: version, capabilities: {}, serverInfo: info })['serverInfo'] as JsonObject;
    for (const version of VERSIONS.slice(0, 3)) {
      for (const each of [...listed(version), serverInfo(version)]) expect(each).not.toHaveProperty('icons');
    }
    for (const each of [...listed('2025-11-25'), ...listed('2026-07-28'), serverInfo('2025-11-25')])
      expect(each).toHaveProperty('icons', icons);
  });

  it('[PROMPT-004] prompts and their arguments have titles from 2025-06-18 on', () => {
    const prompts = [{ name: 'p', title: 'P', arguments: [{ name: 'a', title: 'A', required: true }] }];
    expect(writeResult('2025-03-26', 'prompts/list', { prompts })['prompts']).toEqual([
      { name: 'p', arguments: [{ name: 'a', required: true }] },
    ]);
    expect(writeResult('2025-06-18', 'prompts/list', { prompts })['prompts']).toBe(prompts);
  });

  it('[COMP-004] completion has a context from 2025-06-18 on', () => {
    const params = {
      ref: { type: 'ref/prompt', name: 'p', title: 'P' },
      argument: { name: 'a', value: 'x' },
      context: { arguments: { b: 'y' } },
    };
    expect(writeParams('2025-03-26', 'completion/complete', params)).toEqual({
      ref: { type: 'ref/prompt', name: 'p' },
      argument: params.argument,
    });
    expect(writeParams('2025-06-18', 'completion/complete', params)).toEqual(params);
  });

  it('[PROG-006] progress has a message from 2025-03-26 on', () => {
    const params = { progressToken: 1, progress: 0.5, total: 2, message: 'half' };
    expect(writeNotification('2024-11-05', 'notifications/progress', params)).toEqual({ progressToken: 1, progress: 0.5, total: 2 });
    for (const version of VERSIONS.slice(1)) expect(writeNotification(version, 'notifications/progress', params)).toBe(params);
  });

  it('[META-007][XMETA-007] unknown _meta keys of results stay in every revision', () => {
    const result = { content: [], _meta: { 'com.example/a': 1, b: 2 } };
    for (const version of VERSIONS) expect(writeResult(version, 'tools/call', result)['_meta']).toEqual(result._meta);
    const params = { name: 't', _meta: { 'com.example/a': 1, progressToken: 5 } };
    for (const version of VERSIONS) expect(writeParams(version, 'tools/call', params)['_meta']).toEqual(params._meta);
  });
});

describe('the marks of the modern era', () => {
  it('[MRTR-027] are not sent to legacy peers', () => {
    const params = {
      name: 't',
      inputResponses: {},
      requestState: 's',
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/logLevel': 'info',
        progressToken: 1,
      },
    };
    expect(writeParams('2025-11-25', 'tools/call', params)).toEqual({ name: 't', _meta: { progressToken: 1 } });
    const result = {
      tools: [],
      resultType: 'complete',
      ttlMs: 5,
      cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 's', version: '1' }, a: 1 },
    };
    expect(writeResult('2025-11-25', 'tools/list', result)).toEqual({ tools: [], _meta: { a: 1 } });
    expect(
      writeNotification('2025-11-25', 'notifications/resources/updated', {
        uri: 'a://b',
        _meta: { 'io.modelcontextprotocol/subscriptionId': 1 },
      }),
    ).toEqual({ uri: 'a://b', _meta: {} });
  });

  it('stay in the modern era', () => {
    const result = { tools: [], resultType: 'complete', ttlMs: 5, cacheScope: 'public' };
    expect(writeResult('2026-07-28', 'tools/list', result)).toBe(result);
  });

  it('leave a value that needs nothing as the same object', () => {
    const result = { content: [{ type: 'text', text: 'a' }], structuredContent: { a: 1 } };
    for (const version of VERSIONS.slice(2)) expect(writeResult(version, 'tools/call', result)).toBe(result);
  });

  it('drop the task that a modern server would ignore', () => {
    expect(writeParams('2026-07-28', 'tools/call', { name: 't', task: { ttl: 5 } })).toEqual({ name: 't' });
    expect(writeParams('2025-11-25', 'tools/call', { name: 't', task: { ttl: 5 } })).toEqual({ name: 't', task: { ttl: 5 } });
    expect(writeParams('2025-06-18', 'tools/call', { name: 't', task: { ttl: 5 } })).toEqual({ name: 't' });
  });
});
