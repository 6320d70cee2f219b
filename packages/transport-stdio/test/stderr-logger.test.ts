import { stderrLogger } from '@mortise/transport-stdio/server';
import { afterAll, afterEach, expect, it, vi } from 'vitest';

const written: string[] = [];
const spied = vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
afterAll(() => spied.mockRestore());
afterEach(() => void written.splice(0));

it('writes warnings and worse, a line each, and is silent about the rest', () => {
  stderrLogger.log('debug', 'x');
  stderrLogger.log('info', 'x');
  stderrLogger.log('notice', 'x');
  stderrLogger.log('warning', 'Slow', { tool: 'add' });
  stderrLogger.log('error', 'Gone');
  expect(written).toEqual(['warning: Slow {"tool":"add"}\n', 'error: Gone\n']);
});

it('writes the stack of an error and of what caused it', () => {
  const error = new Error('outer', { cause: new TypeError('inner') });
  stderrLogger.log('error', 'A tool failed', { tool: 'add', error });
  expect(written[0]).toMatch(/^error: A tool failed {"tool":"add"}\nError: outer\n {4}at [\s\S]+\ncaused by TypeError: inner\n {4}at /);
});

it('survives what JSON cannot carry', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  stderrLogger.log('error', 'Odd', { circle, error: Symbol('thrown') });
  expect(written).toEqual(['error: Odd [object Object]\nSymbol(thrown)\n']);
});
