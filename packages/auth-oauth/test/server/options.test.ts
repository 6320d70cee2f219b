/** The options that a program gives: what is misspelt, or with a figure that is none, would leave tokens without an end or calls without a scope. */

import { expect, it } from 'vitest';
import {
  bearerVerifier,
  createTokenExchange,
  dpopVerifier,
  introspectionVerifier,
  jwtVerifier,
  protect,
  type TokenReader,
} from '../../src/server.ts';

const url = 'https://example.com';
const secret = 'a secret of thirty-two characters';
const client = { clientId: 'a', clientSecret: secret };
const reader: TokenReader = { read: () => Promise.reject(new Error('no token is read')) };

it.each([
  ['jwtVerifier', () => jwtVerifier({ issuer: url } as never)],
  ['jwtVerifier, none of several', () => jwtVerifier({ issuer: url, audience: [] })],
  ['introspectionVerifier', () => introspectionVerifier({ issuer: url, ...client } as never)],
])('refuses to take tokens that were issued for anybody: %s', (_, make) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow('The option "audience" is missing or empty');
});

it.each([undefined, null, {}, { read: undefined }])('refuses what reads no token: %s', (none) => {
  const make = (): unknown => bearerVerifier(none as never);
  expect(make).toThrow(TypeError);
  expect(make).toThrow('give a function that reads a token');
});

const makers: readonly (readonly [what: string, make: (options: object) => unknown, names: readonly string[]])[] = [
  ['jwtVerifier', (options) => jwtVerifier({ issuer: url, audience: url, ...options }), ['clockToleranceSeconds']],
  ['introspectionVerifier', (options) => introspectionVerifier({ issuer: url, audience: url, ...client, ...options }), ['cacheMs']],
  ['dpopVerifier', (options) => dpopVerifier(reader, options), []],
  ['createTokenExchange', (options) => createTokenExchange({ issuer: url, resource: url, ...client, ...options }), []],
  ['protect', (options) => protect({ resource: url, authorizationServers: [url], verifier: bearerVerifier(reader), ...options }), []],
];
const cases = makers.flatMap(([what, make, names]) => names.map((name) => ({ what, name, make })));

const resultOf = async (make: (options: object) => unknown, options: object): Promise<unknown> => {
  try {
    return await make(options);
  } catch (error) {
    return error;
  }
};

it.each(cases)('[ROBUSTNESS-7] $what refuses $name, by its name, unless it is a number of 0 or more', async ({ what, name, make }) => {
  for (const [value, shown] of [
    [NaN, 'NaN'],
    [-1, '-1'],
    ['30', '"30"'],
    [null, 'null'],
  ] as const) {
    const message = `${what}: "${name}" must be a number, 0 or more, got ${shown}`;
    expect(await resultOf(make, { [name]: value })).toMatchObject({ name: 'TypeError', message });
  }
  for (const value of [undefined, 0, 1.5, Infinity]) expect(await resultOf(make, { [name]: value })).not.toBeInstanceOf(TypeError);
});

it.each(makers)('%s refuses an option that there is not, by its name: it would silently have no effect', async (what, make) => {
  const message = expect.stringContaining(`${what}: unknown option "scope" (known: `);
  expect(await resultOf(make, { scope: ['a'] })).toMatchObject({ name: 'TypeError', message });
  expect(await resultOf(make, { scope: undefined })).not.toBeInstanceOf(TypeError);
});
