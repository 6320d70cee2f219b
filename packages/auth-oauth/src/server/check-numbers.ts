/** Checks the figures that a program gives: with a tolerance that is none, such as that of an unset variable, no token would ever end. */

import { AuthOptionError } from '../errors.ts';

/** Checks the options of these names that are there. `Infinity` is a number. @throws {AuthOptionError} `ERR_AUTH_OPTION` */
export function checkNumbers<Options extends object>(options: Options, ...names: readonly (keyof Options & string)[]): void {
  for (const name of names) {
    const value: unknown = options[name];
    if (value === undefined || (typeof value === 'number' && value >= 0)) continue;
    const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 20)) : String(value);
    throw new AuthOptionError(`The option "${name}" must be a number, 0 or more, got ${shown}`);
  }
}
