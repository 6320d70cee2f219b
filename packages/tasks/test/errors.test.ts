import { describe, expect, expectTypeOf, it } from 'vitest';
import { isMortiseError, MortiseError } from '@mortise/jsonrpc-core';
import type { AnyTaskError } from '@mortise/tasks';
import * as errors from '../src/errors.ts';

/** One of each: the compiler sees to it that the union has no code beside these. */
const BY_CODE: Readonly<Record<AnyTaskError['code'], AnyTaskError>> = {
  ERR_TASK_NOT_FOUND: new errors.TaskError('ERR_TASK_NOT_FOUND', 'a'),
  ERR_TASK_CANCELLED: new errors.TaskError('ERR_TASK_CANCELLED', 'a'),
  ERR_TASK_LOST: new errors.TaskError('ERR_TASK_LOST', 'a'),
  ERR_TASK_LIMIT: new errors.TaskLimitError('a', 5),
  ERR_TASK_UNAVAILABLE: new errors.TaskError('ERR_TASK_UNAVAILABLE', 'a'),
  ERR_TASK_INPUT: new errors.TaskInputError('a', 'elicitation/create'),
};

describe('errors', () => {
  it('are all in the union AnyTaskError, which narrows by code', () => {
    const classes = new Set<unknown>(Object.values(errors));
    expect(new Set(Object.values(BY_CODE).map(({ constructor }) => constructor))).toEqual(classes);
    const error = BY_CODE.ERR_TASK_INPUT;
    if (error.code === 'ERR_TASK_INPUT') expectTypeOf(error.method).toEqualTypeOf<string>();
  });

  it.each(Object.entries(BY_CODE))('gives %s a code, a name and the common base', (code, error) => {
    expect(error.code).toBe(code);
    expect(error).toBeInstanceOf(MortiseError);
    expect(isMortiseError(error)).toBe(true);
    expect(String(error)).toBe(`${error.constructor.name}: a`);
  });
});
