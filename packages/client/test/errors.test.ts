import { expect, expectTypeOf, it } from 'vitest';
import { MortiseError } from '@mortise/jsonrpc-core';
import type { AnyClientError } from '@mortise/client';
import * as errors from '../src/errors.ts';

/** Every class of the package's errors, by what its instances are. */
type Thrown = {
  [K in keyof typeof errors]: (typeof errors)[K] extends abstract new (...args: never[]) => infer E
    ? E extends MortiseError
      ? E
      : never
    : never;
}[keyof typeof errors];

it('errors are all in the union AnyClientError, which narrows by code', () => {
  expectTypeOf<AnyClientError['code']>().toEqualTypeOf<Thrown['code']>();
  const error: AnyClientError = new errors.InputRequiredError('a');
  expect(error).toBeInstanceOf(MortiseError);
  for (const one of Object.values(errors)) expect(one.prototype).toBeInstanceOf(MortiseError);
});
