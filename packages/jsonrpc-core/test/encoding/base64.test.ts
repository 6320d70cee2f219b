import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64Url, toBase64, toBase64Url } from '../../src/encoding.ts';

describe('base64', () => {
  it('writes what the platform writes, and reads it back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
        expect(toBase64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
        expect(fromBase64Url(toBase64Url(bytes))).toEqual(bytes);
      }),
    );
  });

  it('writes more bytes than a call takes arguments', () => {
    const bytes = new Uint8Array(300_000).fill(251);
    expect(toBase64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
  });

  const refused = ['A', 'AA==', 'AB', 'AAB', 'A+', 'A/', 'AA\n', 'Ä'];
  it.each(refused)('refuses %j, which is another spelling or none', (text) => {
    expect(fromBase64Url(text)).toBeUndefined();
  });
});
