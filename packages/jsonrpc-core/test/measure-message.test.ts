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

  it.each([
    ['one object', (names: string[]) => Object.fromEntries(names.map((name) => [name, 0])), 1],
    ['many objects', (names: string[]) => names.map((name) => ({ [name]: 0 })), 2],
  ])('[ROBUSTNESS-7] counts different names of members in %s as what the engine keeps of them', (_what, make, factor) => {
    for (const count of [300, 10_000]) {
      const names = Array.from({ length: count }, (_, n) => n.toString(36).padStart(5, '_'));
      const text = ask({ x: make(names) });
      expect(measure(text)).toBeGreaterThan(factor * 75 * count);
      expect(measure(text.replaceAll('":', '" :'))).toBe(measure(text));
    }
  });

  it('[ROBUSTNESS-7] counts the same names in another order in each object as the shape that each becomes', () => {
    const names = Array.from({ length: 30 }, (_, n) => `name${n}`);
    const turned = (by: number): object => Object.fromEntries([...names.slice(by), ...names.slice(0, by)].map((name) => [name, 0]));
    const weigh = (rows: object[]): number => measure(ask({ x: rows })) as number;
    const [alike, different] = [weigh(Array(30).fill(turned(0))), weigh(names.map((_, by) => turned(by)))];
    expect(different - alike).toBeGreaterThan(100 * 29 * 29);
    // Those that lie in others, and what comes after them, are no other shape for it.
    const inner = { a: 1, b: { a: 1, b: 2 }, c: 3 };
    expect(weigh(Array(101).fill(inner)) - weigh(Array(100).fill(inner))).toBe(2 * 72 + 4 * 8);
  });

  it('[ROBUSTNESS-7] counts each object of very many members, though others are like it', () => {
    const row = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`name${n}`, 0]));
    expect(measure(ask({ x: Array(50).fill(row) }))).toBeGreaterThan(48 * 200 * 50);
  });

  it('[ROBUSTNESS-7] counts members that an object has more than one of the same names as another shape', () => {
    const names = Array.from({ length: 100 }, (_, n) => `name${n}`);
    const rows = names.map((_, count) => Object.fromEntries(names.slice(0, count).map((name) => [name, 0])));
    expect(measure(ask({ x: rows }))).toBeGreaterThan((100 + 8) * ((100 * 99) / 2));
  });

  it('[ROBUSTNESS-7] counts objects whose numbers are small integers in one and none in another as two shapes', () => {
    const rows = Array.from({ length: 50 }, (_, at) =>
      Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`name${n}`, n === at ? 1.5 : 1])),
    );
    expect(measure(ask({ x: rows }))).toBeGreaterThan(100 * 50 * 50);
  });

  it('counts numbers with a fraction as one shape, whatever their signs and how many digits they have', () => {
    const rows = Array.from({ length: 100 }, (_, n) => ({ a: (n - 50.5) / 100, b: 10 ** (n % 15) + 0.5, c: 7 }));
    expect(measure(ask({ x: rows }))).toBeLessThan(100 * (72 + 3 * 8 + 2 * 16) + 1200);
  });

  it('[ROBUSTNESS-7] tells names apart that differ in what they escape alone', () => {
    const names = ['\\n', '\\t', '\\r', '\\b', '\\f', '\\"', '\\\\', '\\/'].flatMap((one, _, all) => all.map((other) => one + other));
    const rows = names.map((name) => `{"${name}":0}`).join(',');
    expect(measure(ask({ x: 0 }).replace('"x":0', `"x":[${rows}]`))).toBeGreaterThan((100 + 72) * 64);
  });

  it.each([
    ['few members in a long array', 43, '574', 8 * 575],
    ['one alone', 1, '30', 8 * 31],
    ['one that is spelled with escapes', 1, '\\u00330', 8 * 31],
    ['a table of far indices', 43, '123456789', 24 * 64],
  ])('[ROBUSTNESS-7] counts indices as names of members for what the engine keeps of them: %s', (_what, count, largest, bytes) => {
    const indices = [...Array(count - 1).keys(), largest];
    const row = `{${indices.map((index) => `"${index}":0`).join(',')}}`;
    const text = ask({ x: 0 }).replace('"x":0', `"x":[${Array(1000).fill(row).join(',')}]`);
    expect(measure(text)).toBeGreaterThan(1000 * bytes);
    expect(measure(text)).toBeLessThan(1000 * (bytes + 8 * count + 128));
  });

  it('counts what is no index as the name that it is', () => {
    const names = Array.from({ length: 64 }, (_, n) => (n === 0 ? '4294967295' : `0${n}`));
    expect(measure(ask({ x: names.map((name) => ({ [name]: 0 })) }))).toBeGreaterThan((100 + 72) * 64);
  });

  it('counts a long name that comes again once, and two that differ at their end as two', () => {
    const long = 'x'.repeat(29);
    const weigh = (row: object): number => measure(ask({ x: Array(100).fill(row) })) as number;
    const bytesOfMember = weigh({ a: 1, b: 1 }) - weigh({ a: 1 });
    expect(weigh({ [long]: 1 })).toBe(weigh({ a: 1 }));
    expect(weigh({ [`${long}a`]: 1, [`${long}b`]: 1 }) - weigh({ [long]: 1 })).toBe(bytesOfMember);
  });

  it('[ROBUSTNESS-7] counts numbers that are no small integers as the objects that they become', () => {
    for (const number of ['1.5', '2e9', '2E9', '-0', '-2.5e-7', '3000000000'])
      expect(measure(ask({ x: 0 }).replace('"x":0', `"x":[${`${number},`.repeat(5000)}{}]`))).toBeGreaterThan(24 * 5000);
    expect(measure(ask({ x: Array(5000).fill(true) }))).toBeLessThan(45_000);
  });

  it('counts rows of a table more than their text and less than twice, as the engine keeps their names once', () => {
    const row = { id: 123_456, name: 'a name of somebody', email: 'somebody@example.org', age: 42, active: true };
    const text = ask({ rows: Array(10_000).fill(row) });
    expect(measure(text)).toBeGreaterThan(1.5 * text.length);
    expect(measure(text)).toBeLessThan(2 * text.length);
  });

  it('[ROBUSTNESS-7] weighs a short text of many small parts that are no objects', () => {
    const text = ask({ x: 0 }).replace('"x":0', `"x":[${'-0,'.repeat(4000)}{}]`);
    expect(text.length).toBeLessThan(16 * 1024);
    expect(measure(text)).toBeGreaterThan(24 * 4000);
  });

  it('[ROBUSTNESS-7] tells of a short text that has few parts, where each of them becomes much', () => {
    const nested = `${'{"30":'.repeat(40)}0${'}'.repeat(40)}`;
    const text = ask({ x: 0 }).replace('"x":0', `"x":${nested}`);
    expect(text.length).toBeLessThan(400);
    expect(measure(text)).toBeGreaterThan(40 * 8 * 31);
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
