/** The grammar of `_meta` keys and extension identifiers. */

import { checkExtensionId, checkMetaKey, isReservedMetaKey } from '@mortise/protocol/checks';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const letter = fc.constantFrom(...'abcXYZ');
const alphanumeric = fc.constantFrom(...'abXY09');
const label = fc.tuple(letter, fc.string({ unit: fc.constantFrom(...'aB3-'), maxLength: 4 }), alphanumeric).map((parts) => parts.join(''));
const prefix = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
const name = fc
  .tuple(alphanumeric, fc.string({ unit: fc.constantFrom(...'aB3-_.'), maxLength: 5 }), alphanumeric)
  .map((parts) => parts.join(''));

describe('checkMetaKey', () => {
  it('[META-001][META-002][XMETA-001] accepts every key of the grammar', () => {
    fc.assert(
      fc.property(fc.option(prefix, { nil: undefined }), name, (before, after) => {
        expect(checkMetaKey(before === undefined ? after : `${before}/${after}`)).toBeUndefined();
      }),
    );
    for (const key of ['a', 'com.example/', 'a/b', 'com.example.mcp/x', 'io.modelcontextprotocol/protocolVersion', 'a-b.c/d_e.f-g'])
      expect(checkMetaKey(key)).toBeUndefined();
  });

  it.each(['1a/x', 'a-/x', '-a/x', 'a..b/x', '/x', 'a b/x', 'a_b/x', 'ä/x'])('[META-001][XMETA-001] refuses the prefix of %s', (key) => {
    expect(checkMetaKey(key)).toMatch(/label of the prefix/);
  });

  it.each(['-a', 'a-', '_a', 'a.', 'a b', 'a/b/c', 'com.example/-x', 'ä'])('[META-002][XMETA-001] refuses the name of %s', (key) => {
    expect(checkMetaKey(key)).toMatch(/name must begin and end/);
  });

  it('refuses an empty key and one without end, in no time', () => {
    expect(checkMetaKey('')).toBeDefined();
    expect(checkMetaKey(`a${'-'.repeat(1_000_000)}`)).toMatch(/longer than/);
    expect(checkMetaKey(`a${'-'.repeat(1000)}`)).toBeDefined();
  });
});

describe('isReservedMetaKey', () => {
  it.each(['io.modelcontextprotocol/x', 'dev.mcp/', 'com.mcp.tools/x', 'org.modelcontextprotocol.api/x'])(
    '[META-004][XMETA-003] reserves %s by its second label',
    (key) => {
      expect(isReservedMetaKey(key)).toBe(true);
    },
  );

  it.each(['mcp.dev/x', 'modelcontextprotocol.io/x', 'tools.mcp.com/x', 'a.b.mcp.c/x'])(
    '[META-005][XMETA-002] reserves %s, as 2025-06-18 does',
    (key) => {
      expect(isReservedMetaKey(key)).toBe(true);
    },
  );

  it.each(['com.example.mcp/x', 'com.example/x', 'mcp/x', 'x', 'mcp', 'com.mcpx.a/x'])('leaves %s free', (key) => {
    expect(isReservedMetaKey(key)).toBe(false);
  });

  it.each(['progressToken', 'traceparent', 'tracestate', 'baggage'])('[XMETA-005] reserves the bare key %s', (key) => {
    expect(isReservedMetaKey(key)).toBe(true);
  });

  it.each(['protocolVersion', 'clientInfo', 'clientCapabilities', 'serverInfo', 'logLevel', 'subscriptionId'])(
    '[XMETA-005] reserves io.modelcontextprotocol/%s',
    (rest) => {
      expect(isReservedMetaKey(`io.modelcontextprotocol/${rest}`)).toBe(true);
    },
  );
});

describe('checkExtensionId', () => {
  it('[CAP-012][VERS-012] wants the grammar with a prefix and a name', () => {
    for (const id of ['io.modelcontextprotocol/tasks', 'com.example/my-ext', 'a/b']) expect(checkExtensionId(id)).toBeUndefined();
    for (const id of ['tasks', '/tasks', 'com.example/', '', '1a/x', 'com.example/-x', 'com.example'])
      expect(checkExtensionId(id)).toMatch(/^Extension identifier/);
  });
});
