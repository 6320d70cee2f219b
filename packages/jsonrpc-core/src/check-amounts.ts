/** Checks the figures that a program gives: a bound that is no number, such as that of an unset variable, would silently be none. */

/**
 * Checks the numeric options that are there: `null`, as in a configuration read from JSON, is not given. `Infinity` is a number.
 *
 * @param owner Names the object in the message: `the client's options`.
 * @param least The least that each option may be, by its name.
 * @throws {RangeError} One is something else, or less; the message names it, the rule and what it is.
 */
export function checkAmounts(owner: string, options: object, least: Readonly<Record<string, number>>): void {
  for (const [name, leastValue] of Object.entries(least)) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || value === null || isAmount(value, leastValue)) continue;
    throw new RangeError(`${owner}: "${name}" must be a number, ${leastValue} or more, got ${showValue(value)}`);
  }
}

/** A text in quotes, so that it is not taken for the number that it looks like. */
export function showValue(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value);
}

/** Tells whether a value is a number that is not less than another. NaN is not. */
export function isAmount(value: unknown, least = 0): value is number {
  return typeof value === 'number' && value >= least;
}
