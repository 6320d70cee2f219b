/** Elicitation, sampling and roots, written for each revision. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { UnrepresentableError } from '@mortise/protocol';
import { describe, expect, it } from 'vitest';
import { VERSIONS, writeParams, writeResult } from './wire.ts';

const form = (properties: JsonObject): JsonObject => ({
  mode: 'form',
  message: 'm',
  requestedSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties, required: ['a'] },
});
const written = (version: string, properties: JsonObject): JsonObject => {
  const requested = writeParams(version, 'elicitation/create', form(properties))['requestedSchema'] as JsonObject;
  return requested['properties'] as JsonObject;
};

describe('forms', () => {
  it('have neither mode nor $schema in 2025-06-18', () => {
    expect(writeParams('2025-06-18', 'elicitation/create', form({}))).toEqual({
      message: 'm',
      requestedSchema: { type: 'object', properties: {}, required: ['a'] },
    });
  });

  it('[ELICIT-009] have defaults for booleans alone in 2025-06-18', () => {
    const properties = {
      a: { type: 'string', default: 'x' },
      b: { type: 'integer', default: 1 },
      c: { type: 'boolean', default: true },
      d: { type: 'string', enum: ['x'], default: 'x' },
    };
    expect(written('2025-06-18', properties)).toEqual({
      a: { type: 'string' },
      b: { type: 'integer' },
      c: { type: 'boolean', default: true },
      d: { type: 'string', enum: ['x'] },
    });
    expect(written('2025-11-25', properties)).toEqual(properties);
  });

  it('[ELICIT-011] say a titled choice by enum and enumNames in 2025-06-18', () => {
    const properties = {
      a: {
        type: 'string',
        title: 'T',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'g', title: 'Green' },
        ],
      },
    };
    expect(written('2025-06-18', properties)).toEqual({ a: { type: 'string', title: 'T', enum: ['r', 'g'], enumNames: ['Red', 'Green'] } });
  });

  it('[ELICIT-012][ELICIT-014] keep oneOf, and the legacy enumNames, from 2025-11-25 on', () => {
    const properties = {
      a: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] },
      b: { type: 'string', enum: ['r'], enumNames: ['Red'] },
    };
    for (const version of ['2025-11-25', '2026-07-28']) expect(written(version, properties)).toEqual(properties);
  });

  it('[ELICIT-013] have choices of several from 2025-11-25 on, and refuse them before', () => {
    const properties = { colours: { type: 'array', items: { type: 'string', enum: ['r', 'g'] } } };
    expect(written('2025-11-25', properties)).toEqual(properties);
    expect(() => written('2025-06-18', properties)).toThrow(UnrepresentableError);
    expect(() => written('2025-06-18', properties)).toThrow(/"colours"/);
  });

  it('[ELICIT-017] are answered with one value a field in 2025-06-18', () => {
    const answer = { action: 'accept', content: { a: ['r', 'g'], b: 'x' } };
    expect(writeResult('2025-06-18', 'elicitation/create', answer)).toEqual({ action: 'accept', content: { a: 'r, g', b: 'x' } });
    expect(writeResult('2025-11-25', 'elicitation/create', answer)).toBe(answer);
  });

  it('have fields of any name', () => {
    const properties = JSON.parse('{"__proto__":{"type":"string","default":"x"},"constructor":{"type":"string"}}') as JsonObject;
    expect(JSON.stringify(written('2025-06-18', properties))).toBe('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}');
  });
});

describe('pages', () => {
  const page = { mode: 'url', message: 'm', url: 'https://example.com/x', elicitationId: 'e1' };

  it('[ELICIT-025] have an elicitationId in 2025-11-25', () => {
    expect(writeParams('2025-11-25', 'elicitation/create', page)).toBe(page);
  });

  it('[ELICIT-035] have no elicitationId in 2026-07-28, embedded ones included', () => {
    const modern = { mode: 'url', message: 'm', url: 'https://example.com/x' };
    expect(writeParams('2026-07-28', 'elicitation/create', page)).toEqual(modern);
    const result = {
      resultType: 'input_required',
      inputRequests: { a: { method: 'elicitation/create', params: page }, b: { method: 'roots/list' } },
    };
    expect(writeResult('2026-07-28', 'tools/call', result)['inputRequests']).toEqual({
      a: { method: 'elicitation/create', params: modern },
      b: { method: 'roots/list' },
    });
  });

  it('cannot be opened for a client of 2025-06-18', () => {
    expect(() => writeParams('2025-06-18', 'elicitation/create', page)).toThrow(UnrepresentableError);
  });
});

describe('sampling', () => {
  const text = (value: string): JsonObject => ({ type: 'text', text: value });
  const ask = (...messages: readonly JsonObject[]): JsonObject => ({ messages, maxTokens: 5 });

  it('[SAMP-005] holds one block a message up to 2025-06-18: several become several messages', () => {
    const params = ask(
      { role: 'user', content: [text('a'), { type: 'image', data: 'AA==', mimeType: 'image/png' }], _meta: { 'com.example/a': 1 } },
      { role: 'assistant', content: text('b') },
    );
    expect(writeParams('2025-06-18', 'sampling/createMessage', params)['messages']).toEqual([
      { role: 'user', content: text('a') },
      { role: 'user', content: { type: 'image', data: 'AA==', mimeType: 'image/png' } },
      { role: 'assistant', content: text('b') },
    ]);
    expect(writeParams('2025-11-25', 'sampling/createMessage', params)).toBe(params);
  });

  it('[SAMP-005] has audio from 2025-03-26 on', () => {
    const params = ask({ role: 'user', content: { type: 'audio', data: 'AA==', mimeType: 'audio/wav' } });
    const [message] = writeParams('2024-11-05', 'sampling/createMessage', params)['messages'] as readonly JsonObject[];
    expect(message?.['content']).toMatchObject({ type: 'text' });
    expect(writeParams('2025-03-26', 'sampling/createMessage', params)).toEqual(params);
  });

  it.each([
    ['a tool block', ask({ role: 'assistant', content: { type: 'tool_use', id: '1', name: 't', input: {} } })],
    ['a tool block among others', ask({ role: 'user', content: [{ type: 'tool_result', toolUseId: '1', content: [] }] })],
    ['tools', { ...ask(), tools: [{ name: 't', inputSchema: { type: 'object' } }] }],
  ])('[SAMP-005] cannot carry %s before 2025-11-25', (_, params) => {
    expect(() => writeParams('2025-06-18', 'sampling/createMessage', params)).toThrow(UnrepresentableError);
    expect(writeParams('2025-11-25', 'sampling/createMessage', params)).toEqual(params);
  });

  it('[SAMP-020] has objects as structuredContent of tool results in 2025-11-25, any value in 2026-07-28', () => {
    const params = ask({ role: 'user', content: [{ type: 'tool_result', toolUseId: '1', content: [], structuredContent: [1] }] });
    const [message] = writeParams('2025-11-25', 'sampling/createMessage', params)['messages'] as readonly JsonObject[];
    expect(message?.['content']).toEqual([{ type: 'tool_result', toolUseId: '1', content: [text('[1]')] }]);
    expect(writeParams('2026-07-28', 'sampling/createMessage', params)).toBe(params);
  });

  it('joins the texts of an answer for a server that takes one block', () => {
    const answer = { role: 'assistant', model: 'm', content: [text('a'), text('b')] };
    expect(writeResult('2025-06-18', 'sampling/createMessage', answer)['content']).toEqual(text('a\nb'));
    expect(writeResult('2025-06-18', 'sampling/createMessage', { ...answer, content: [text('a')] })['content']).toEqual(text('a'));
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
    expect(() => writeResult('2025-06-18', 'sampling/createMessage', { ...answer, content: [text('a'), image] })).toThrow(
      UnrepresentableError,
    );
  });

  it('passes messages on that are none', () => {
    for (const version of VERSIONS)
      expect(writeParams(version, 'sampling/createMessage', { messages: [5, null], maxTokens: 1 })).toEqual({
        messages: [5, null],
        maxTokens: 1,
      });
  });
});

describe('roots', () => {
  it('have _meta from 2025-06-18 on', () => {
    const roots = [{ uri: 'file:///a', name: 'a', _meta: { 'com.example/a': 1 } }];
    expect(writeResult('2025-03-26', 'roots/list', { roots })['roots']).toEqual([{ uri: 'file:///a', name: 'a' }]);
    expect(writeResult('2025-06-18', 'roots/list', { roots })['roots']).toBe(roots);
  });
});
