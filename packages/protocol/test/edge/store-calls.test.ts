/** What the stores of several engines share: the limit of a wait, texts and numbers for an engine, and its health. */

import { describe, expect, it } from 'vitest';
import { checkStores, fromStoredText, toStoredInteger, toStoredText, within } from '../../src/edge.ts';

describe('the parts of stores in an engine', () => {
  it('wait no longer than they may, and as long as Node can', async () => {
    await expect(within(1, new Promise(() => undefined))).rejects.toThrow('waited 1 ms');
    await expect(within(Infinity, Promise.resolve('there'))).resolves.toBe('there');
    await expect(within(1000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it.each(['', 'plain', 'é 🎉', '\uE000', '\uE000"x"', 'a\0b', '\uD800', 'x\uDC00y', '\uE000\uD800'])(
    'write %j so that an engine takes it, and read it back',
    (text) => {
      const stored = toStoredText(text);
      expect(fromStoredText(stored)).toBe(text);
      expect(stored).not.toMatch(/[\0\p{Surrogate}]/u);
    },
  );

  it('write different texts in different ways', () => {
    const texts = ['\uD800', '\uD801', '\uE000"\\ud800"', '\uFFFD'];
    expect(new Set(texts.map(toStoredText)).size).toBe(texts.length);
  });

  it.each([
    [1.2, 2],
    [0, 0],
    [Infinity, 9e15],
  ])('write the number %d as %d', (ms, stored) => expect(toStoredInteger(ms)).toBe(stored));

  it('name what does not work', async () => {
    expect(await checkStores(Promise.resolve(), Promise.resolve())).toEqual({ isUp: true, problems: [] });
    const broken = await checkStores(Promise.reject(new Error('full')), Promise.reject(new Error('deaf')));
    expect(broken).toEqual({
      isUp: false,
      problems: ['The stores do not work: Error: full', 'The message bus gets no messages: Error: deaf'],
    });
  });
});
