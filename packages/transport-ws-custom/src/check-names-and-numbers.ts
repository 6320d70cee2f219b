/**
 * Checks the options that a program gives either side: one that is misspelt would silently have no effect, be it a bound or who may call, and a bound
 * that is no number, such as that of an unset variable, would silently be none.
 */

import { WebSocketOptionError } from './errors.ts';

/** Every option that there is, by its name: the least that a number may be, or that it is none. The compiler sees to it that all are there. */
export type Rules<Options> = { readonly [Name in keyof Options]-?: number | 'no number' };

/**
 * One that is undefined counts as left out. `Infinity` is a number.
 *
 * @param whose What the options are of, as in "an option of …".
 * @throws {WebSocketOptionError} `ERR_WEBSOCKET_OPTION`
 */
export function checkNamesAndNumbers<Options extends object>(whose: string, options: Options, rules: Rules<Options>): void {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined) continue;
    if (!Object.hasOwn(rules, name))
      throw new WebSocketOptionError(`There is no option "${name}" of ${whose}: correct its name, or leave it out`);
    const least: number | 'no number' = rules[name as keyof Options];
    if (least === 'no number' || (typeof value === 'number' && value >= least)) continue;
    const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 20)) : String(value);
    throw new WebSocketOptionError(`${name}: it must be a number, ${least} or more, and is ${shown}`);
  }
}
