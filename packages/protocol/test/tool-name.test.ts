/** The rule for names of tools. */

import { checkToolName } from '@mortise/protocol/checks';
import { describe, expect, it } from 'vitest';

describe('checkToolName', () => {
  it.each(['a', 'getUser', 'DATA_EXPORT_v2', 'admin.tools.list', 'a-b', '0', 'x'.repeat(128)])('[TOOL-011] accepts %s', (name) => {
    expect(checkToolName(name)).toBeUndefined();
  });

  it.each([
    ['', 'empty'],
    ['x'.repeat(129), '129 characters'],
    ['a b', '" "'],
    ['a,b', '","'],
    ['a/b', '"/"'],
    ['naïve', '"ï"'],
    ['a😀', '"😀"'],
    ['a\n', '\\n'],
  ])('[TOOL-011] refuses %j and says why: %s', (name, why) => {
    expect(checkToolName(name)).toContain(why);
  });
});
