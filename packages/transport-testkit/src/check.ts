/** The assertions that the test cases of all kits use. They also run on platforms without `node:assert`. */

/** Thrown when an assertion of a test case fails. */
export class KitFailure extends Error {
  override get name(): string {
    return 'KitFailure';
  }
}

/** Throws unless a condition holds. @param message The expectation, as a sentence. @throws {KitFailure} The condition is false. */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new KitFailure(message);
}

/** Throws unless two values are deeply equal; members that are `undefined` count as absent. @throws {KitFailure} The values differ. */
export function checkEqual(actual: unknown, expected: unknown, what: string): void {
  if (!isEqual(actual, expected)) throw new KitFailure(`${what} should be ${show(expected)} but is ${show(actual)}`);
}

/** Waits for a promise to reject. @returns The reason of the rejection. @throws {KitFailure} The promise resolves, or does not settle. */
export async function checkRejects(promise: Promise<unknown>, what: string): Promise<unknown> {
  const outcome = await within(
    promise.then(
      () => undefined,
      (error: unknown) => ({ error }),
    ),
    `${what} should reject, but does not settle`,
  );
  if (!outcome) throw new KitFailure(`${what} should reject, but resolves`);
  return outcome.error;
}

/** Throws unless an error has the given `code`. @throws {KitFailure} The code differs. */
export function checkCode(error: unknown, code: string, what: string): void {
  const actual = typeof error === 'object' && error !== null ? (error as { readonly code?: unknown }).code : undefined;
  check(actual === code, `${what} should be an error with code ${code}, but is ${show(error)}`);
}

let patienceMs = 5000;

/**
 * Sets how long each later test case waits for an expected event before the case fails. Only failing cases wait that long. Raise the time
 * for slow machines.
 *
 * @param ms Milliseconds; 5,000 unless set.
 */
export function setPatience(ms: number): void {
  patienceMs = ms;
}

/** The timeout of a whole test case, in milliseconds. Longer than its single waits, so that their more precise errors come first. */
export function longestCaseMs(): number {
  return 24 * patienceMs;
}

/** Waits for a promise to settle. @param otherwise The error message. @throws {KitFailure} The promise did not settle in time. */
export async function within<T>(promise: Promise<T>, otherwise: string | (() => string)): Promise<T> {
  const limitMs = patienceMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new KitFailure(`${typeof otherwise === 'string' ? otherwise : otherwise()} (waited ${limitMs} ms)`));
    timer = setTimeout(fail, limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for `count` turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => void setTimeout(resolve, 0));
}

/** Tells whether a promise settles within `count` turns of the event loop. */
export async function settlesWithin(promise: Promise<unknown>, count: number): Promise<boolean> {
  let isSettled = false;
  const mark = (): void => {
    isSettled = true;
  };
  promise.then(mark, mark);
  // Most promises settle at once, without a turn of the event loop.
  await Promise.resolve();
  for (let turn = 0; !isSettled && turn < count; turn++) await turns(1);
  return isSettled;
}

function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) => isEqual((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]));
}

const SHOWN_LENGTH = 200;

function show(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text = typeof value === 'string' || (typeof value === 'object' && value !== null) ? JSON.stringify(value) : String(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}...` : text;
}
