/** What a table of options cannot say: which functions an object must have. */

import { HttpOptionError } from './errors.ts';

/**
 * Checks that objects among the options have the functions that are called later: a store without them would fail at the first request.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`
 */
export function checkMethods<Options extends object>(
  options: Options,
  methods: { readonly [Name in keyof Options]?: readonly string[] },
): void {
  for (const [option, names] of Object.entries(methods) as [keyof Options & string, readonly string[]][]) {
    const given = options[option] as Readonly<Record<string, unknown>> | undefined;
    const missing = given && names.find((name) => typeof given[name] !== 'function');
    if (missing !== undefined) throw new HttpOptionError(`The option "${option}" must be an object with a function "${missing}"`);
  }
}
