/** The figures of what stands beside a server's own options: a bound that is none, such as that of an unset variable, would let in whatever comes. */

import { tmpdir } from 'node:os';
import { rateLimit } from '@mortise/server/middleware';
import { files } from '@mortise/server/node';
import { expect, it } from 'vitest';

const cases: readonly (readonly [what: string, name: string, least: number, make: (options: object) => unknown])[] = [
  ['rateLimit', 'burst', 1, rateLimit],
  ['rateLimit', 'perSecond', 0, rateLimit],
  ['files', 'maxBytes', 0, (options) => files(tmpdir(), options)],
];

it.each(cases)('[ROBUSTNESS-7] %s refuses %s, by its name, unless it is a number of %i or more', (_what, name, least, make) => {
  for (const value of [NaN, least - 1, '30', null]) {
    expect(() => make({ [name]: value })).toThrow(
      expect.objectContaining({
        code: 'ERR_REGISTRATION',
        message: expect.stringMatching(`: "${name}" must be a number, ${least} or more, got `) as string,
      }),
    );
  }
  const accepted = name === 'perSecond' ? 0.001 : least;
  for (const value of [undefined, accepted, Infinity]) expect(() => make({ [name]: value })).not.toThrow();
});
