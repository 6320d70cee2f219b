import { describe, expect, it } from 'vitest';
import { measureMessage } from '../src/messages.ts';

const ask = (params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'a', params });
const measure = (text: string): number | undefined => measureMessage(text, JSON.parse(text));

describe('measureMessage', () => {
  it.each(['x', 'ä', '漢', '😀'])('counts a long text of %s in bytes of UTF-8', (character) => {
    const text = ask({ text: character.repeat(2000) });
    expect(measure(text)).toBe(new TextEncoder().encode(text).length);
  });

  it.each([
    ['a long text', 100_000],
    ['a short text', 300],
  ])('[ROBUSTNESS-7] counts %s of many small parts as what they take in memory', (_what, count) => {
    const text = ask({ x: Array(count).fill({}) });
    expect(measure(text)).toBeGreaterThan(56 * count);
    expect(measure(`[${text}]`)).toBeGreaterThan(56 * count);
  });

  it('counts rows of a table more than their text and less than twice, as the engine keeps their names once', () => {
    const row = { id: 123_456, name: 'a name of somebody', email: 'somebody@example.org', age: 42, active: true };
    const text = ask({ rows: Array(10_000).fill(row) });
    expect(measure(text)).toBeGreaterThan(1.5 * text.length);
    expect(measure(text)).toBeLessThan(2 * text.length);
  });

  it('tells nothing of short messages, which their number bounds', () => {
    expect(measure(ask({}))).toBeUndefined();
    expect(measure(ask({ name: 'add', arguments: { items: Array(30).fill({ a: 'a text' }) } }))).toBeUndefined();
  });

  it.each([
    ['a response', { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(5000) } }],
    ['a notification', { jsonrpc: '2.0', method: 'a', params: { text: 'x'.repeat(5000) } }],
    ['no message', 'x'.repeat(5000)],
  ])('tells nothing of %s, which does not stay in flight', (_what, message) => {
    expect(measure(JSON.stringify(message))).toBeUndefined();
  });
});
