/** Forms as hosts draw them. */

import { describe, expect, it } from 'vitest';
import { describeForm, describePage } from '../../src/host.ts';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';

const form = (properties: object, required: readonly string[] = []) => describeForm({ type: 'object', properties, required });

describe('describeForm', () => {
  it('[ELICIT-021] tells fields in the order of the server, with what people read, bounds and defaults, so that all can be edited', () => {
    const { fields, defaults } = form(
      {
        name: { type: 'string', title: 'Your name', description: 'as on the door', minLength: 1, maxLength: 9, default: 'Ada' },
        mail: { type: 'string', format: 'email' },
        age: { type: 'integer', minimum: 1, maximum: 150, default: 36 },
        size: { type: 'number' },
        isSure: { type: 'boolean', default: false },
      },
      ['name'],
    );
    expect(fields).toEqual([
      {
        kind: 'text',
        name: 'name',
        label: 'Your name',
        description: 'as on the door',
        isRequired: true,
        minLength: 1,
        maxLength: 9,
        default: 'Ada',
      },
      { kind: 'text', name: 'mail', label: 'mail', isRequired: false, format: 'email' },
      { kind: 'number', name: 'age', label: 'age', isRequired: false, isInteger: true, minimum: 1, maximum: 150, default: 36 },
      { kind: 'number', name: 'size', label: 'size', isRequired: false, isInteger: false },
      { kind: 'switch', name: 'isSure', label: 'isSure', isRequired: false, default: false },
    ]);
    expect(defaults).toEqual({ name: 'Ada', age: 36, isSure: false });
  });

  it('[ELICIT-014][ELICIT-012][ELICIT-013] reads choices in every way that a revision writes them', () => {
    const options = [
      { value: 'r', label: 'Red' },
      { value: 'g', label: 'Green' },
    ];
    const titled = [
      { const: 'r', title: 'Red' },
      { const: 'g', title: 'Green' },
    ];
    const { fields } = form({
      plain: { type: 'string', enum: ['r', 'g'], default: 'g' },
      named: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
      titled: { type: 'string', oneOf: titled },
      many: { type: 'array', items: { type: 'string', enum: ['r', 'g'] }, minItems: 1, maxItems: 2, default: ['r'] },
      manyTitled: { type: 'array', items: { anyOf: titled } },
    });
    expect(fields).toMatchObject([
      {
        kind: 'choice',
        options: [
          { value: 'r', label: 'r' },
          { value: 'g', label: 'g' },
        ],
        default: 'g',
      },
      { kind: 'choice', options },
      { kind: 'choice', options },
      { kind: 'multi-choice', minItems: 1, maxItems: 2, default: ['r'] },
      { kind: 'multi-choice', options },
    ]);
  });

  it.each([
    { field: { type: 'string', minLength: 2 }, good: 'ab', bad: 'a', says: 'at least 2 characters' },
    { field: { type: 'string', maxLength: 1 }, good: '\u{1F600}', bad: 'ab', says: 'at most 1 characters' },
    { field: { type: 'string', format: 'email' }, good: 'ada@x.example', bad: 'ada', says: 'email' },
    { field: { type: 'string', format: 'uri' }, good: 'urn:a', bad: 'a b', says: 'uri' },
    { field: { type: 'string', format: 'date' }, good: '2024-02-29', bad: '2023-02-29', says: 'date' },
    {
      field: { type: 'string', format: 'date-time' },
      good: '2024-02-29T23:59:59.5+01:00',
      bad: '2024-02-29T24:00:00Z',
      says: 'date-time',
    },
    { field: { type: 'integer', minimum: 3 }, good: 3, bad: 2, says: 'at least 3' },
    { field: { type: 'integer' }, good: 3, bad: 3.5, says: 'integer' },
    { field: { type: 'number', maximum: 3 }, good: 3, bad: 4, says: 'at most 3' },
    { field: { type: 'boolean' }, good: false, bad: 'no', says: 'boolean' },
    { field: { type: 'string', enum: ['a'] }, good: 'a', bad: 'b', says: 'must be "a"' },
    { field: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 }, good: ['b'], bad: ['a', 'b'], says: 'at most 1 items' },
    { field: { type: 'array', items: { enum: ['a'] }, minItems: 1 }, good: ['a'], bad: [], says: 'at least 1 items' },
    { field: { type: 'array', items: { enum: ['a'] } }, good: [], bad: ['c'], says: 'must be "a"' },
  ])('checks $field', ({ field, good, bad, says }) => {
    const { check } = form({ x: field });
    expect(check({ x: good })).toEqual([]);
    expect(check({ x: bad })).toEqual([{ field: 'x', message: expect.stringContaining(says) }]);
    expect(check({})).toEqual([]);
    expect(form({ x: field }, ['x']).check({})).toEqual([{ field: 'x', message: 'must be filled in' }]);
  });

  it('leaves a default out that the field itself would refuse, and answers to inherited names', () => {
    const { fields, defaults, check } = form({ a: { type: 'string', enum: ['x'], default: 'y' }, constructor: { type: 'string' } }, [
      'constructor',
    ]);
    expect(fields[0]?.default).toBeUndefined();
    expect(defaults).toEqual({});
    expect(check({})).toEqual([{ field: 'constructor', message: 'must be filled in' }]);
  });

  it.each([
    null,
    { properties: 5 },
    { properties: { a: 5 } },
    { properties: { a: { type: 'object' } } },
    { properties: { a: { type: 'array', items: { type: 'string' } } } },
    { properties: { a: { type: 'string', oneOf: [{ const: 1 }] } } },
    { properties: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [n, { type: 'string' }])) },
    { properties: { a: { type: 'string', enum: Array.from({ length: 2001 }, String) } } },
  ])('throws ERR_INVALID_RESPONSE for what is not a form (case %#)', (schema) => {
    expect(() => describeForm(schema)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_RESPONSE' }));
  });

  it('rule 6: checks long answers in linear time', () => {
    const { check } = form({
      a: { type: 'string', format: 'email' },
      b: { type: 'string', format: 'uri' },
      c: { type: 'string', format: 'date-time' },
    });
    const long = `${'a@'.repeat(200_000)}.`;
    const cpuMs = countCpuMs();
    check({ a: `a@${'a.'.repeat(200_000)}`, b: long, c: long });
    expect(cpuMs()).toBeLessThan(1000);
  });
});

describe('describePage', () => {
  it.each([
    { url: 'https://accounts.bank.example/a?b', domain: 'bank.example', warnings: [] },
    { url: 'https://accounts.bank.example.login.evil.example/', domain: 'evil.example', warnings: ['many-labels'] },
    { url: 'https://www.shop.co.uk/', domain: 'shop.co.uk', warnings: [] },
    { url: 'https://93.184.216.34/', domain: '93.184.216.34', warnings: ['ip-address'] },
    { url: 'http://[2606:2800:220:1::1]:8080/', domain: '[2606:2800:220:1::1]', warnings: ['ip-address', 'not-https', 'unusual-port'] },
    { url: 'https://\u0430pple.example/', domain: 'xn--pple-43d.example', warnings: ['punycode'] },
    { url: 'http://localhost:3000/', domain: 'localhost', warnings: ['not-https'] },
  ])('[ELICIT-030] shows the domain of $url plainly and what is odd about it', ({ url, domain, warnings }) => {
    expect(describePage(url)).toMatchObject({ domain, warnings });
  });
});
