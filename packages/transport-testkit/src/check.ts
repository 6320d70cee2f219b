/** The few assertions that the cases need, so that they run where `node:assert` does not exist. */

/** Something did not hold. */
export class KitFailure extends Error {
  override get name(): string {
    return 'KitFailure';
  }
}

/** Fails unless a condition holds. @param message What should have been, as a whole sentence. @throws {KitFailure} It does not. */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new KitFailure(message);
}

/** Fails unless two values are equal, members and elements compared one by one. Members that are `undefined` count as absent. @throws {KitFailure} */
export function checkEqual(actual: unknown, expected: unknown, what: string): void {
  if (!isEqual(actual, expected)) throw new KitFailure(`${what} should be ${show(expected)} but is ${show(actual)}`);
}

/** Fails unless a promise rejects, soon. @returns What it rejects with. @throws {KitFailure} It resolves, or does not settle. */
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

/** Fails unless an error has a code, as every `MortiseError` does. @throws {KitFailure} */
export function checkCode(error: unknown, code: string, what: string): void {
  const actual = typeof error === 'object' && error !== null ? (error as { readonly code?: unknown }).code : undefined;
  check(actual === code, `${what} should be an error with code ${code}, but is ${show(error)}`);
}

let patienceMs = 5000;

/**
 * Sets how long whatever must happen may take before a case fails, for all cases that follow. It is only reached when something
 * does not happen, so raise it for slow machines and leave it be otherwise.
 *
 * @param ms Milliseconds; 5,000 unless set.
 */
export function setPatience(ms: number): void {
  patienceMs = ms;
}

/** How long a whole case may take, in milliseconds: so long that whatever it waits for says itself what is missing. */
export function longestCaseMs(): number {
  return 24 * patienceMs;
}

/** Waits for what must happen soon. @throws {KitFailure} It did not. */
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

/** Lets everything that is ready to run, run: so many turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => void setTimeout(resolve, 0));
}

/** Tells whether a promise settles within some turns of the event loop. */
export async function settlesWithin(promise: Promise<unknown>, count: number): Promise<boolean> {
  let isSettled = false;
  const mark = (): void => {
    isSettled = true;
  };
  promise.then(mark, mark);
  // Most settle at once; a turn is looked at only where that is not so.
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
