/** The options that a program gives: a misspelt one, or a bound that is not a number, would leave tokens without an end. */

import { createAuthorizationProxy } from '@mortise/auth-proxy';
import { expect, it } from 'vitest';

const issuer = 'https://example.com';
const upstream = { issuer, name: 'provider', clientId: 'a', scopes: ['openid'] };
const secret = 'a secret of thirty-two characters';

const makers: readonly (readonly [owner: string, make: (options: object) => unknown, numbers: readonly string[]])[] = [
  [
    'createAuthorizationProxy',
    (options) => createAuthorizationProxy({ issuer, resource: issuer, name: 'server', upstream, secret, ...options }),
    ['grantMs'],
  ],
];

const resultOf = async (make: (options: object) => unknown, options: object): Promise<unknown> => {
  try {
    return await make(options);
  } catch (error) {
    return error;
  }
};

const cases = makers.flatMap(([owner, make, names]) => names.map((name) => ({ owner, name, make })));

it.each(cases)('[ROBUSTNESS-7] $owner refuses $name, by its name, unless it is a number of 0 or more', async ({ owner, name, make }) => {
  for (const [value, shown] of [
    [NaN, 'NaN'],
    [-1, '-1'],
    ['30', '"30"'],
    [null, 'null'],
  ] as const) {
    const message = `${owner}: "${name}" must be a number, 0 or more, got ${shown}`;
    expect(await resultOf(make, { [name]: value })).toMatchObject({ name: 'TypeError', message });
  }
  for (const value of [undefined, 0, 1.5, Infinity]) expect(await resultOf(make, { [name]: value })).not.toBeInstanceOf(Error);
});

it.each(makers)('%s refuses an unknown option by its name: it would silently have no effect', async (owner, make) => {
  const known = expect.stringContaining(`${owner}: unknown option "scope" (known: `);
  expect(await resultOf(make, { scope: ['a'] })).toMatchObject({ name: 'TypeError', message: known });
  expect(await resultOf(make, { scope: undefined })).not.toBeInstanceOf(Error);
});

it('refuses an unknown option of the provider', async () => {
  const make = (): unknown =>
    createAuthorizationProxy({ issuer, resource: issuer, name: 's', secret, upstream: { ...upstream, tokenUrl: 'x' } as never });
  expect(await resultOf(make, {})).toMatchObject({ message: expect.stringContaining('upstream: unknown option "tokenUrl"') });
});
