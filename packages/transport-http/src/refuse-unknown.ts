/** Refuses what is no option: one that is misspelt would silently have no effect, be it a bound or who may call. */

import { HttpOptionError } from './errors.ts';

/**
 * @param whose What the options are of, as in "an option of …".
 * @param known Has a member for each option that there is.
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: there is no such option. One that is undefined counts as left out.
 */
export function refuseUnknown(whose: string, options: object, known: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    throw new HttpOptionError(`There is no option "${name}" of ${whose}: correct its name, or leave it out`);
  }
}
