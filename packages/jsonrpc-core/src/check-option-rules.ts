/** Checks the options that a program gives: one that is misspelt, or a bound that is no number, would silently have no effect. */

import { isAmount, showValue } from './check-amounts.ts';

/** Every option that there is, by its name: the least that a number may be, or that it is none. The compiler sees to it that all are there. */
export type OptionRules<Options> = { readonly [Name in keyof Options]-?: number | 'no number' };

/** A package's own class of error. */
export type OptionErrorClass = new (message: string) => Error;

/**
 * Refuses names that there are not, as no bound and no guard may be lost by its name, and numbers that are none. One that is undefined counts as
 * left out; `Infinity` is a number.
 *
 * @param whose What the options are of, as in "an option of …".
 * @throws {OptionError} A name that there is not, a number that is something else, or less.
 */
export function checkOptionRules<Options extends object>(
  whose: string,
  options: Options,
  rules: OptionRules<Options>,
  OptionError: OptionErrorClass,
): void {
  checkOptionNames(whose, options, rules, OptionError);
  for (const [name, least] of Object.entries(rules) as [keyof Options & string, number | 'no number'][]) {
    const value = options[name];
    if (least === 'no number' || value === undefined || isAmount(value, least)) continue;
    throw new OptionError(`The option "${name}" of ${whose} must be a number, ${least} or more, got ${showValue(value)}`);
  }
}

/**
 * The names alone.
 *
 * @param known Has a member for each option that there is.
 * @throws {OptionError} A name that there is not.
 */
export function checkOptionNames(whose: string, options: object, known: object, OptionError: OptionErrorClass): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    throw new OptionError(`There is no option "${name}" of ${whose}: correct its name, or leave it out`);
  }
}
