/** Names for models: valid, stable, and different for different tools. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exposedName, labelOf, serverLabel } from '../src/names.ts';

describe('names for models', () => {
  it.each([
    ['files', 'read_file', 'files__read_file'],
    ['my-server', 'a__b', 'my-server__a__b'],
    ['a', '_b', 'a___b'],
  ])('joins %s and %s to %s', (server, tool, name) => expect(exposedName(server, tool)).toBe(name));

  it('are always ones that models accept, and lead back to the server', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'binary' }), (server, tool) => {
        const name = exposedName(server, tool);
        return /^[a-zA-Z0-9_-]{1,64}$/.test(name) && labelOf(name) === serverLabel(server);
      }),
    );
  });

  it('differ for names that differ only in what models do not accept, or past the 64th character', () => {
    const long = 'x'.repeat(80);
    const names = [
      ['a_b', 'c'],
      ['a__b', 'c'],
      ['a b', 'c'],
      ['a', 'b__c'],
      ['a_', 'b'],
      ['a', '_b'],
      ['a', 'b.c'],
      ['a', 'b/c'],
      ['a', 'b-c'],
      ['a', `${long}1`],
      ['a', `${long}2`],
      [`${long}1`, 'c'],
      [`${long}2`, 'c'],
    ].map(([server = '', tool = '']) => exposedName(server, tool));
    expect(new Set(names).size).toBe(names.length);
  });
});
