/**
 * Checks the options that a program gives: one that is misspelt would silently have no effect, be it which scopes are needed, and with a tolerance that
 * is no number, such as that of an unset variable, no token would ever end.
 */

import { AuthOptionError } from '../errors.ts';

/** Every option that there is, by its name: a number of 0 or more, or something else. The compiler sees to it that all are there. */
export type Rules<Options> = { readonly [Name in keyof Options]-?: 'number' | 'other' };

/**
 * One that is undefined counts as left out. `Infinity` is a number.
 *
 * @param whose Whom the options are given to, as in "an option of …".
 * @throws {AuthOptionError} `ERR_AUTH_OPTION`
 */
export function checkNamesAndNumbers<Options extends object>(whose: string, options: Options, rules: Rules<Options>): void {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined) continue;
    if (!Object.hasOwn(rules, name))
      throw new AuthOptionError(`There is no option "${name}" of ${whose}: correct its name, or leave it out`);
    if (rules[name as keyof Options] === 'other' || (typeof value === 'number' && value >= 0)) continue;
    const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 20)) : String(value);
    throw new AuthOptionError(`The option "${name}" must be a number, 0 or more, got ${shown}`);
  }
}
