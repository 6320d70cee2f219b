import { describe, expect, it } from 'vitest';
import { McpServer } from '@mortise/server';
import { decodeHeaderValue, encodeHeaderValue } from '@mortise/transport-http';
import { decodeEventId, encodeEventId, isSameParam, toParamText } from '../src/headers.ts';

const encoded = [
  ['us-west1', 'us-west1'],
  ['', ''],
  ['two  inner  spaces', 'two  inner  spaces'],
  ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ['\tx', `=?base64?${btoa('\tx')}?=`],
] as const;

describe('values of Mcp-Name and Mcp-Param-*', () => {
  it.each(encoded)('[HDR-006][HDR-022][HDR-023] writes %j as %j', (text, value) => {
    expect(encodeHeaderValue(text)).toBe(value);
  });

  it.each(encoded)('[HDR-010] reads %j back', (text, value) => {
    expect(decodeHeaderValue(value)).toBe(text);
  });

  it.each([
    ['=?base64?SGVsbG8?=', 'padding left out'],
    ['=?base64?SGVs bG8=?=', 'a space inside'],
    ['=?base64?SGVsbG8!?=', 'a letter outside the alphabet'],
    ['=?base64?SGVsbG9=?=', 'bits after the last byte'],
    ['=?base64?_-8=?=', 'the URL alphabet'],
    ['=?base64?/w==?=', 'bytes that are not UTF-8'],
    ['na\u00efve', 'a letter outside ASCII'],
    ['a\u0000b', 'a control character'],
  ])('[HDR-010] refuses %j: %s', (value) => {
    expect(decodeHeaderValue(value)).toBeUndefined();
  });

  it.each(['=?BASE64?SGVsbG8=?=', '=?base64?SGVsbG8=', 'SGVsbG8=?=', '=?base64?='])(
    'takes %j for a literal: the markers are exact',
    (value) => {
      expect(decodeHeaderValue(value)).toBe(value);
    },
  );

  it('[HDR-021] writes strings, integers and booleans, and nothing else', () => {
    expect(['a', 42, -7, true, false, null, undefined, 1.5, 2 ** 60, {}].map((value) => toParamText(value))).toEqual([
      'a',
      '42',
      '-7',
      'true',
      'false',
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('[HDR-011] compares numbers as numbers and strings as they are', () => {
    expect([isSameParam('42.0', 42), isSameParam('42', 42), isSameParam('4 2', 42), isSameParam('', 0), isSameParam('0x2a', 42)]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect([isSameParam('42.0', '42'), isSameParam('true', true), isSameParam('TRUE', true)]).toEqual([false, true, false]);
  });

  it('[HDR-015] takes a token of RFC 9110 for the mark of an argument, and nothing else', () => {
    const server = new McpServer({ name: 'marked', version: '1.0.0' });
    const register = (mark: string): unknown => {
      const properties = { value: { type: 'string', 'x-mcp-header': mark } };
      return server.registerTool(`tool${mark.length}`, { inputSchema: { type: 'object', properties } }, () => 'done');
    };
    for (const mark of ['Region', 'a-b_c']) expect(() => register(mark)).not.toThrow();
    for (const mark of ['', 'a b', 'a:b', 'ä', 'a\nb', 'a\u0000b']) expect(() => register(mark)).toThrow('must be a header token');
  });
});

describe('values of Last-Event-ID', () => {
  it.each([
    ['p1~7', 'p1~7'],
    ['ereignis-中', 'ereignis-\u00e4\u00b8\u00ad'],
    ['é', '\u00c3\u00a9'],
  ])('[HTTP-036] writes %j as %j, and reads it back', (id, value) => {
    expect([encodeEventId(id), decodeEventId(value)]).toEqual([value, id]);
  });

  it.each(['a\nb', '\u0001', 'a\u007f'])('[HTTP-036] has none for %j', (id) => {
    expect(encodeEventId(id)).toBeUndefined();
  });

  it('reads what is not UTF-8 as it is', () => {
    expect(decodeEventId('\u00e9')).toBe('\u00e9');
  });
});
