import { expect, it } from 'vitest';
import { cleanAll, cleanBlock, cleanLine } from '../src/clean.ts';

it('is cut where it is too long', () => {
  expect(cleanLine('a\nb  c')).toBe('a b c');
  expect(cleanLine('x'.repeat(300), 10)).toBe('xxxxxxx...');
  expect(cleanBlock('1\n2\n3', 2)).toBe('    1\n    2\n    ... 1 more lines');
  expect(cleanAll('x'.repeat(600))).toBe(`    ${'x'.repeat(600)}`);
});
