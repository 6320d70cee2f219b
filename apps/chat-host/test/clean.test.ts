import { expect, it } from 'vitest';
import { clean, cleanBlock, cleanLine } from '../src/clean.ts';

it.each([
  ['\u001b[2J', '\\u{1b}[2J'],
  ['a\u0007\r\u009bb', 'a\\u{7}\\u{d}\\u{9b}b'],
  ['user\u202eexe.txt\u2066', 'user\\u{202e}exe.txt\\u{2066}'],
  ['in\u200bvisible\u{e0041}', 'in\\u{200b}visible\\u{e0041}'],
  ['line\u2028line\r\nline\n\ttab', 'line\\u{2028}line\nline\n\ttab'],
  ['Grüße 🍐 日本', 'Grüße 🍐 日本'],
])('text of a server (%j) cannot move the cursor, hide or reorder anything', (text, shown) => expect(clean(text)).toBe(shown));

it('is cut where it is too long', () => {
  expect(cleanLine('a\nb  c')).toBe('a b c');
  expect(cleanLine('x'.repeat(300), 10)).toBe('xxxxxxx...');
  expect(cleanBlock('1\n2\n3', 2)).toBe('    1\n    2\n    ... 1 more lines');
});
