/** Checks the functions of objects among the options. */

import { HttpOptionError } from './errors.ts';

/**
 * Checks that objects among the options, such as stores, have the functions that are called later.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: a function is missing.
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
