import { describe, expect, expectTypeOf, it } from 'vitest';
import { isMortiseError, MortiseError } from '@mortise/jsonrpc-core';
import type { AnyHttpError } from '@mortise/transport-http';
import * as errors from '../src/errors.ts';

/** One of each: the compiler sees to it that the union has no code beside these. */
const BY_CODE: { readonly [C in AnyHttpError['code']]: AnyHttpError } = {
  ERR_NO_STREAM: new errors.NoStreamError('a'),
  ERR_HTTP_OPTION: new errors.HttpOptionError('a'),
  ERR_LISTEN: new errors.HttpOptionError('a', { code: 'ERR_LISTEN', errno: 'EACCES' }),
  ERR_HTTP_REDIRECT: new errors.HttpClientError('ERR_HTTP_REDIRECT', 'a'),
  ERR_STREAM_GIVEN_UP: new errors.HttpClientError('ERR_STREAM_GIVEN_UP', 'a'),
  ERR_TOOL_HEADER: new errors.HttpClientError('ERR_TOOL_HEADER', 'a'),
};

describe('errors', () => {
  it('are all in the union AnyHttpError, which narrows by code', () => {
    expect(new Set(Object.values(BY_CODE).map(({ constructor }) => constructor))).toEqual(new Set(Object.values(errors)));
    const error = BY_CODE.ERR_LISTEN as AnyHttpError;
    if (error.code === 'ERR_LISTEN') expectTypeOf(error.errno).toEqualTypeOf<string | undefined>();
    if (error.code === 'ERR_TOOL_HEADER') expectTypeOf(error).toEqualTypeOf<errors.HttpClientError>();
  });

  it.each(Object.entries(BY_CODE))('gives %s a code, a name and the common base', (code, error) => {
    expect(error.code).toBe(code);
    expect(error).toBeInstanceOf(MortiseError);
    expect(isMortiseError(error)).toBe(true);
    expect(String(error)).toBe(`${error.constructor.name}: a`);
  });
});
