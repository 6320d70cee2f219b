import { describe, expectTypeOf, it } from 'vitest';
import type { AnyAuthError } from '@mortise/auth-oauth';
import type * as entry from '@mortise/auth-oauth';

/** What a class of them makes. */
type Made<Classes> = {
  [K in keyof Classes]: Classes[K] extends abstract new (...args: never[]) => infer Error ? Error : never;
}[keyof Classes];

describe('errors', () => {
  it('are all in the union AnyAuthError', () => {
    expectTypeOf<Made<typeof entry>>().toEqualTypeOf<AnyAuthError>();
  });
});
