/** The validator beside another one, `@cfworker/json-schema`: for schemas and values made at random both say the same. */

import { type Schema, validate } from '@cfworker/json-schema';
import type { JsonValue } from '@mortise/jsonrpc-core';
import { createJsonSchemaValidator } from '@mortise/protocol/json-schema';
import fc from 'fast-check';
import { expect, it } from 'vitest';

const name = fc.constantFrom('a', 'b', 'ab', '__proto__', '0');
const count = fc.integer({ min: 0, max: 3 });

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<JsonValue>(null, true, 0, 1, 1.5, -3, 4, '', 'a', 'ab', '😀', '2024-02-29'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => {
  const some = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
  const byName = fc.dictionary(name, tie('schema'), { maxKeys: 3, noNullPrototype: true });
  const type = fc.constantFrom('array', 'boolean', 'integer', 'null', 'number', 'object', 'string');
  const keywords = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    enum: fc.array(value, { minLength: 1, maxLength: 3 }),
    const: value,
    minimum: fc.constantFrom(-1, 0.5, 1),
    exclusiveMaximum: fc.constantFrom(1, 4),
    multipleOf: fc.constantFrom(0.5, 2),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom('^a', 'b$', '.'),
    format: fc.constantFrom('date', 'email'),
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    prefixItems: some,
    items: tie('schema'),
    contains: tie('schema'),
    maxContains: count,
    required: fc.uniqueArray(name, { maxLength: 2 }),
    minProperties: count,
    maxProperties: count,
    properties: byName,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$'), tie('schema'), { noNullPrototype: true }),
    additionalProperties: tie('schema'),
    propertyNames: tie('schema'),
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2, noNullPrototype: true }),
    dependentSchemas: byName,
    allOf: some,
    anyOf: some,
    oneOf: some,
    not: tie('schema'),
    if: tie('schema'),
    then: tie('schema'),
    else: tie('schema'),
  };
  const names = Object.keys(keywords) as (keyof typeof keywords)[];
  const object = fc
    .uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((each) => [each, keywords[each]])), { noNullPrototype: true }));
  return { schema: fc.oneof({ depthSize: 'small' }, fc.boolean(), object as fc.Arbitrary<JsonValue>) };
});

it('[SCHEMA-001][SCHEMA-012] gives the verdicts of another validator', () => {
  const validator = createJsonSchemaValidator({ from: 'author' });
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 1, maxLength: 5 }), (made, given) => {
      const check = validator.compile(made);
      for (const each of given) {
        const ours = check(each);
        expect({ fits: ours.length === 0, ours }).toMatchObject({ fits: validate(each, made as Schema, '2020-12').valid });
      }
    }),
    { numRuns: 2000 },
  );
});
