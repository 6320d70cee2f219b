import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { AnyAuthError } from '@mortise/auth-oauth';
import type * as entry from '@mortise/auth-oauth';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

/** What a class of them makes. */
type Made<Classes> = {
  [K in keyof Classes]: Classes[K] extends abstract new (...args: never[]) => infer Error ? Error : never;
}[keyof Classes];

describe('errors', () => {
  it('are all in the union AnyAuthError', () => {
    expectTypeOf<Made<typeof entry>>().toEqualTypeOf<AnyAuthError>();
  });

  it('stand in the README with what to do', () => {
    const codes = [...read('../src/errors.ts').matchAll(/'(ERR_\w+)'/g)].map((match) => match[1] ?? '');
    expect(new Set(codes).size).toBeGreaterThan(20);
    const readme = read('../README.md');
    expect(codes.filter((code) => !readme.includes(`\`${code}\``))).toEqual([]);
  });
});
