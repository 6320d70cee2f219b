import { expect, it } from 'vitest';
import { escapeUnseen } from '../src/host.ts';

it.each([
  ['\u001b[2J', '\\u001b[2J'],
  ['a\u0007\r\u009bb', 'a\\u0007\\u000d\\u009bb'],
  ['user\u202eexe.txt\u2066', 'user\\u202eexe.txt\\u2066'],
  ['in\u200bvisible\u{e0041}', 'in\\u200bvisible\\udb40\\udc41'],
  ['hidden\ufe00\u{e0100}\ufe0f\u3164\u2800', 'hidden\\ufe00\\udb40\\udd00\\ufe0f\\u3164\\u2800'],
  ['line\u2028line\r\nline\n\ttab', 'line\\u2028line\nline\n\ttab'],
  ['Gr\u00fc\u00dfe 🍐 ⚠️ 日本', 'Gr\u00fc\u00dfe 🍐 ⚠️ 日本'],
])('text of a server (%j) cannot move the cursor, hide or reorder anything', (text, shown) => expect(escapeUnseen(text)).toBe(shown));

it('leaves JSON the same JSON', () => {
  const value = { text: 'a\u200b\u{e0041}\u0000\n' };
  const json = escapeUnseen(JSON.stringify(value, undefined, 2));
  expect(json).not.toMatch(/[\u200b\u{e0041}]/u);
  expect(JSON.parse(json)).toEqual(value);
});
