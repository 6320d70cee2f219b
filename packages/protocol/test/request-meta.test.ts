/** What a modern request says of itself. */

import { isModernParams, readRequestMeta } from '@mortise/protocol/wire';
import { describe, expect, it } from 'vitest';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const INFO = 'io.modelcontextprotocol/clientInfo';
const LEVEL = 'io.modelcontextprotocol/logLevel';
const least = { [VERSION]: '2026-07-28', [CAPABILITIES]: {} };

describe('readRequestMeta', () => {
  it('reads version and capabilities, which are enough', () => {
    expect(readRequestMeta({ _meta: least })).toEqual({
      protocolVersion: '2026-07-28',
      clientCapabilities: {},
      clientInfo: undefined,
      logLevel: undefined,
      progressToken: undefined,
    });
  });

  it('reads client info, log level and progress token', () => {
    const facts = readRequestMeta({ _meta: { ...least, [INFO]: { name: 'c', version: '1' }, [LEVEL]: 'debug', progressToken: 0 } });
    expect(facts).toMatchObject({ clientInfo: { name: 'c', version: '1' }, logLevel: 'debug', progressToken: 0 });
  });

  it.each([
    ['no params', undefined, '_meta must be an object'],
    ['no _meta', {}, '_meta must be an object'],
    ['no version', { _meta: { [CAPABILITIES]: {} } }, `["${VERSION}"] is missing: it must be a string`],
    ['no capabilities', { _meta: { [VERSION]: 'x' } }, `["${CAPABILITIES}"] is missing`],
  ])('[META-014][CAP-003] refuses a request with %s', (_, params, reason) => {
    expect(readRequestMeta(params)).toContain(reason);
  });

  it.each([
    ['a version', { ...least, [VERSION]: 5 }],
    ['capabilities', { ...least, [CAPABILITIES]: [] }],
    ['a capability', { ...least, [CAPABILITIES]: { elicitation: true } }],
    ['client info', { ...least, [INFO]: { name: 'c' } }],
  ])('refuses %s of a wrong type', (_, meta) => {
    expect(readRequestMeta({ _meta: meta })).toMatch(/^params\._meta\["/);
  });

  it('refuses a progress token of a wrong type', () => {
    expect(readRequestMeta({ _meta: { ...least, progressToken: {} } })).toMatch(/^params\._meta\.progressToken must be/);
  });

  it('[META-013][LOG-012] refuses a log level that is none', () => {
    expect(readRequestMeta({ _meta: { ...least, [LEVEL]: 'verbose' } })).toBe(
      `params._meta["${LEVEL}"] must be one of "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", got "verbose"`,
    );
  });

  it('keeps the values as they came', () => {
    const capabilities = { unheard: { of: 1 } };
    const facts = readRequestMeta({ _meta: { ...least, [CAPABILITIES]: capabilities, traceparent: 'anything' } });
    expect(typeof facts === 'object' && facts.clientCapabilities).toBe(capabilities);
  });
});

describe('isModernParams', () => {
  it('tells a modern request by its version or its client capabilities, well or badly written', () => {
    for (const value of ['2026-07-28', 'x', 5, null, {}]) {
      for (const key of [VERSION, CAPABILITIES]) expect(isModernParams({ _meta: { [key]: value } })).toBe(true);
    }
    for (const params of [undefined, {}, { _meta: {} }, { _meta: null }, { _meta: 'x' }, { [VERSION]: 'x' }])
      expect(isModernParams(params)).toBe(false);
  });
});
