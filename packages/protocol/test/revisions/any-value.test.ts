/** Conversions meet values that nobody has checked. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { REVISIONS, UnrepresentableError } from '@mortise/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { clientResults, damaged, notifications, params, serverResults } from '../arbitraries.ts';

const shaped = fc.oneof(...[params, serverResults, clientResults, notifications].flatMap((table) => Object.values(table)));
const wrong = fc.constantFrom<JsonValue>(null, 5, 'x', true, [], {}, [null], { type: 'audio' }, { __proto__: null, a: 1 });
const anything: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.tuple(shaped, fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }), wrong).map(([value, path, by]) => {
    const bad = damaged(value, path, by);
    return (typeof bad === 'object' && bad !== null && !Array.isArray(bad) ? bad : {}) as JsonObject;
  }),
  fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<JsonValue>),
);

it.each(REVISIONS.map((revision) => ({ revision, version: revision.version })))(
  'rule 5: conversions of $version take any value, change none, and refuse only what they say',
  ({ revision }) => {
    const tables = [revision.toWire, revision.fromWire].flatMap(({ params: p, results, notifications: n }) => [
      ...p.values(),
      ...results.values(),
      ...n.values(),
    ]);
    fc.assert(
      fc.property(anything, (value) => {
        const before = JSON.stringify(value);
        for (const convert of tables) {
          try {
            expect(typeof convert(value)).toBe('object');
          } catch (error) {
            expect(error).toBeInstanceOf(UnrepresentableError);
          }
        }
        expect(JSON.stringify(value)).toBe(before);
      }),
      { numRuns: 300 },
    );
  },
);
