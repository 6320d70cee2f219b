import { describe, expect, it } from 'vitest';
import { toCanonicalJson } from '../../src/encoding.ts';

const cases = [
  { value: { b: 1, a: [2, { d: null, c: 'x' }] }, text: '{"a":[2,{"c":"x","d":null}],"b":1}' },
  { value: { a: undefined, b: true }, text: '{"b":true}' },
  { value: { é: 1, z: 2, Z: 3 }, text: '{"Z":3,"z":2,"é":1}' },
  { value: undefined, text: 'null' },
  { value: 'a"b', text: '"a\\"b"' },
];

describe('toCanonicalJson', () => {
  it.each(cases)('writes $text', ({ value, text }) => {
    expect(toCanonicalJson(value as never)).toBe(text);
  });
});
