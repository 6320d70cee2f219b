/** Which patterns are proven to take linear time. */

import { checkSchema, createJsonSchemaValidator } from '@mortise/protocol/json-schema';
import { describe, expect, it } from 'vitest';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';

describe('rule 6: patterns', () => {
  it.each([
    '^[a-z]+$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    '^(foo|foobar)$',
    '^https?://',
    '^[^@]+@[^@.]+$',
    '[a-z]+',
    'foo[0-9]+bar',
    '^.*$',
    '^a{1,64}$',
    '^$|^a+$',
    '\\bfoo\\b',
    '^\\p{L}+$',
    '^[\\w.-]+$',
    '^(a|b)*c$',
    '^[\\u0041-\\x5a\\cA\\t\\0]*$',
    '^(?<year>\\d+)-x$',
    '^\\u{1F600}?$',
    '^(?!\\.)(?!.*\\.\\.)[A-Za-z.]+$',
    "^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    '^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000)$',
    '^$|^(?:[0-9a-zA-Z+/]{4})*(?:(?:[0-9a-zA-Z+/]{2}==)|(?:[0-9a-zA-Z+/]{3}=))?$',
    '^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])$',
  ])('accepts %s', (pattern) => {
    expect(checkSchema({ pattern })).toBeUndefined();
  });

  it.each([
    ['^(a+)+$', 'two ways'],
    ['^(a|a)*$', 'two ways'],
    ['^(a|aa)+$', 'two ways'],
    ['^(a|b|ab)*c$', 'two ways'],
    ['^(a?b?)*$', 'two ways'],
    ['^(.*)*$', 'two ways'],
    ['^(?:a{1,200})*$', 'two ways'],
    ['^(x+x+)+y$', 'two ways'],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'two ways'],
    ['^((a*|b*)c)*$', 'empty in two ways'],
    ['^a*a*$', 'share'],
    ['^\\s*\\s*$', 'share'],
    ['\\d+$', 'share'],
    ['.*foo.*$', 'share'],
    ['^[^@]+@[^@]+\\.[^@]+$', 'share'],
    ['^(a?){30}a{30}$', 'choices'],
    [`^${'(a|a)'.repeat(12)}$`, 'choices'],
    ['(.*)=\\1', 'refers back'],
    ['(?<n>a)\\k<n>', 'refers back'],
    ['(?<=a)b', 'looks behind'],
    ['^a(?=b)', 'looks ahead'],
    [`^${'a+b'.repeat(300)}$`, 'too large'],
  ])('refuses %s: %s', (pattern, reason) => {
    expect(checkSchema({ pattern })).toContain(reason);
    expect(checkSchema({ patternProperties: { [pattern]: true } })).toContain(reason);
  });

  it('accepts nothing that takes long', () => {
    const patterns = [
      '^[a-z0-9]+(?:-[a-z0-9]+)*$',
      '^(a|b)*c$',
      'foo[0-9]+bar',
      '^(?!.*\\.\\.)[A-Za-z.]+$',
      '^.*$',
      '^(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$',
    ];
    const validator = createJsonSchemaValidator();
    const cpuMs = countCpuMs();
    for (const pattern of patterns) {
      const check = validator.compile({ pattern });
      for (const text of ['a', 'ab', 'foo1', 'a.', 'a-', '.']) check(`${text.repeat(200_000)}!`);
    }
    expect(cpuMs()).toBeLessThan(3000);
  });

  it('checks only formats that take no time', () => {
    const validator = createJsonSchemaValidator();
    const cpuMs = countCpuMs();
    for (const format of [
      'date',
      'time',
      'date-time',
      'duration',
      'email',
      'hostname',
      'ipv4',
      'ipv6',
      'uri',
      'uri-reference',
      'uuid',
      'json-pointer',
      'relative-json-pointer',
      'url',
      'regex',
      'uri-template',
    ]) {
      const check = validator.compile({ format });
      for (const text of ['a', '1', ':', 'a.', '/~', 'a@', '1:', '%41', 'P1', '::', 'a-', '1Y', 'http://a']) {
        check(text.repeat(100_000));
        check(`http://${text.repeat(100_000)}!`);
        check(`${text.repeat(100_000)}\n`);
      }
    }
    expect(cpuMs()).toBeLessThan(6000);
  });
});
