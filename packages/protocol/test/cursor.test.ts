/** Cursors that only their maker can read and write. */

import { createCursorCodec } from '@mortise/protocol/cursors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { halfSipHash } from '../src/half-sip-hash.ts';

describe('createCursorCodec', () => {
  const codec = createCursorCodec();

  it('[PAGE-007] gives back what it was given, for the same list', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'grapheme' }), (list, position) => {
        expect(codec.decode(list, codec.encode(list, position))).toBe(position);
      }),
    );
  });

  it('[PAGE-007] is stable: one position, one cursor', () => {
    expect(codec.encode('tools/list', 'add')).toBe(codec.encode('tools/list', 'add'));
  });

  it('[PAGE-007] looks like nothing to whoever would read or make one', () => {
    const cursor = codec.encode('tools/list', '100');
    expect(cursor).toMatch(/^[\w-]+$/);
    for (const made of [
      '',
      '100',
      'MTAw',
      btoa('100'),
      'null',
      cursor.slice(1),
      `${cursor}A`,
      `${cursor}=`,
      cursor.toLowerCase(),
      '/'.repeat(5),
      'A'.repeat(5000),
    ]) {
      expect(made === cursor ? undefined : codec.decode('tools/list', made)).toBeUndefined();
    }
  });

  it('refuses a cursor with any character changed', () => {
    const cursor = codec.encode('tools/list', 'position');
    fc.assert(
      fc.property(fc.nat(cursor.length - 1), fc.constantFrom(...'AZaz09-_'), (at, character) => {
        const altered = cursor.slice(0, at) + character + cursor.slice(at + 1);
        expect(codec.decode('tools/list', altered)).toBe(altered === cursor ? 'position' : undefined);
      }),
    );
  });

  it('refuses a cursor of another list or another key', () => {
    expect(codec.decode('prompts/list', codec.encode('tools/list', 'a'))).toBeUndefined();
    expect(codec.decode('tools/list', createCursorCodec().encode('tools/list', 'a'))).toBeUndefined();
    expect(codec.decode('ab', codec.encode('a', 'b'))).toBeUndefined();
  });

  it('reads the cursors of a machine that shares its key', () => {
    const key = Uint8Array.from({ length: 16 }, (_, index) => index * 11);
    expect(createCursorCodec({ key }).decode('l', createCursorCodec({ key: key.slice(0, 8) }).encode('l', 'a'))).toBeUndefined();
    expect(createCursorCodec({ key }).decode('l', createCursorCodec({ key }).encode('l', 'a'))).toBe('a');
    expect(() => createCursorCodec({ key: new Uint8Array(5) })).toThrow(RangeError);
  });
});

describe('halfSipHash', () => {
  it.each([
    [0, '218d1f59b9b83cc8'],
    [1, 'be552412f8387315'],
    [2, '064f39ef7c50eb57'],
    [3, 'ce0f1a45f7060679'],
    [4, 'd5e78a175be52ea1'],
    [5, 'cb9d7c3f2f3db580'],
    [6, 'ce3e91358aa2bc25'],
  ])('gives the published value for %i bytes', (length, expected) => {
    const key = Uint8Array.from({ length: 8 }, (_, index) => index);
    const data = Uint8Array.from({ length }, (_, index) => index);
    expect(Buffer.from(halfSipHash(key, data)).toString('hex')).toBe(expected);
  });
});
