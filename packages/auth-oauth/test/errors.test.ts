import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { AnyAuthClientError } from '@mortise/auth-oauth/client';
import * as entry from '@mortise/auth-oauth/errors';
import type { AnyAuthServerError } from '@mortise/auth-oauth/server';
import * as server from '@mortise/auth-oauth/server';
import * as client from '../src/errors.ts';
import * as ofServer from '../src/server/errors.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const source =
  readFileSync(new URL('../src/errors.ts', import.meta.url), 'utf8') +
  readFileSync(new URL('../src/server/errors.ts', import.meta.url), 'utf8');

/** What a class of them makes. */
type Made<Classes> = {
  [K in keyof Classes]: Classes[K] extends abstract new (...args: never[]) => infer Error ? Error : never;
}[keyof Classes];

describe('errors', () => {
  it('of the client are all at /errors, and in the union AnyAuthClientError', () => {
    expect(new Set(Object.keys(entry))).toEqual(new Set(Object.keys(client)));
    expectTypeOf<Made<typeof entry>>().toEqualTypeOf<AnyAuthClientError>();
  });

  it('of the server are all at /server, and in the union AnyAuthServerError', () => {
    for (const name of [...Object.keys(ofServer), 'AuthOptionError']) expect(server).toHaveProperty(name);
    expectTypeOf<Made<typeof ofServer> | client.AuthOptionError>().toEqualTypeOf<AnyAuthServerError>();
  });

  it('stand in the README with what to do', () => {
    const codes = [...source.matchAll(/readonly code: '(ERR_\w+)'/g)].map((match) => match[1] ?? '');
    expect(codes.length).toBeGreaterThan(20);
    expect(codes.filter((code) => !readme.includes(`\`${code}\``))).toEqual([]);
  });
});
