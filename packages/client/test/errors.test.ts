import { expect, expectTypeOf, it } from 'vitest';
import { MortiseError } from '@mortise/jsonrpc-core';
import type { AnyClientError } from '@mortise/client';
import * as described from '../src/answers/describe-form.ts';
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
  expectTypeOf<Thrown['code']>().toExtend<AnyClientError['code']>();
  expectTypeOf<AnyClientError['code']>().toEqualTypeOf<Thrown['code'] | described.InvalidFormError['code']>();
  const error: AnyClientError = new described.InvalidFormError('a');
  expect(error).toBeInstanceOf(MortiseError);
  const classes = [...Object.values(errors), ...Object.values(described)].filter(
    (value) => typeof value === 'function' && value.prototype instanceof MortiseError,
  );
  expect(classes).toContain(described.InvalidFormError);
});
