/** Questions about capabilities. */

import { hasCapability, hasExtension, missingCapability, toCapabilities } from '@mortise/protocol/checks';
import { describe, expect, it } from 'vitest';

describe('hasCapability', () => {
  it('[LIFE-016] reads a member that is there as yes, `{}` included', () => {
    expect(hasCapability({ sampling: {} }, 'sampling')).toBe(true);
    expect(hasCapability({ sampling: { tools: {} } }, 'sampling.tools')).toBe(true);
    expect(hasCapability({ tools: { listChanged: true } }, 'tools.listChanged')).toBe(true);
    expect(hasCapability({ tools: { listChanged: false } }, 'tools.listChanged')).toBe(false);
    expect(hasCapability({ sampling: {} }, 'sampling.tools')).toBe(false);
    expect(hasCapability({}, 'sampling')).toBe(false);
  });

  it('[ELICIT-002] reads `elicitation: {}` as forms only', () => {
    expect(hasCapability({ elicitation: {} }, 'elicitation.form')).toBe(true);
    expect(hasCapability({ elicitation: {} }, 'elicitation.url')).toBe(false);
    expect(hasCapability({ elicitation: { url: {} } }, 'elicitation.form')).toBe(false);
    expect(hasCapability({ elicitation: { url: {} } }, 'elicitation.url')).toBe(true);
    expect(hasCapability({ elicitation: { form: {}, url: {} } }, 'elicitation.form')).toBe(true);
    expect(hasCapability({}, 'elicitation.form')).toBe(false);
  });

  it('knows nothing inherited', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'sampling.constructor'])
      expect(hasCapability({ sampling: {} }, name)).toBe(false);
  });
});

describe('the rest', () => {
  it('finds the first missing capability', () => {
    expect(missingCapability({ tools: {} }, ['tools', 'prompts', 'logging'])).toBe('prompts');
    expect(missingCapability({ tools: {} }, ['tools'])).toBeUndefined();
  });

  it('[CAP-013] reads an extension by its identifier and settings object', () => {
    const capabilities = { extensions: { 'com.example/a.b': {} } };
    expect(hasExtension(capabilities, 'com.example/a.b')).toBe(true);
    expect(hasExtension(capabilities, 'com.example/a')).toBe(false);
    expect(hasExtension({}, 'com.example/a.b')).toBe(false);
    expect(hasExtension(capabilities, 'constructor')).toBe(false);
  });

  it('turns a name into the object that errors show', () => {
    expect(toCapabilities('elicitation.url')).toEqual({ elicitation: { url: {} } });
    expect(toCapabilities('roots')).toEqual({ roots: {} });
  });
});
