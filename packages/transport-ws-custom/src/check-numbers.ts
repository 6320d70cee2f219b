/** Checks the figures that a program gives either side: a bound that is no number, such as that of an unset variable, would silently be none. */

import { WebSocketOptionError } from './errors.ts';

/** The least that each numeric option may be, by its name. */
export type Least<Options> = { readonly [Name in keyof Options]?: number };

/** Checks the numeric options that are there. `Infinity` is a number. @throws {WebSocketOptionError} `ERR_WEBSOCKET_OPTION` */
export function checkNumbers<Options extends object>(options: Options, least: Least<Options>): void {
  for (const [name, leastValue] of Object.entries<number>(least as Readonly<Record<string, number>>)) {
    const value: unknown = options[name as keyof Options];
    if (value === undefined || (typeof value === 'number' && value >= leastValue)) continue;
    const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 20)) : String(value);
    throw new WebSocketOptionError(`${name}: it must be a number, ${leastValue} or more, and is ${shown}`);
  }
}
