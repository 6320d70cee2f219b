/** The types of a compliance kit: its test cases, and the setup that an implementer provides. */

/** The optional abilities (traits) of a tested implementation, by name. A trait that is absent, `false` or 0 counts as missing. */
export type KitTraits = Readonly<Record<string, unknown>>;

/** The object that a test case tests. */
export interface KitSubject {
  /** Frees everything that was opened for the tested object. Called once, after the test case. */
  close(): Promise<void>;
}

/** A `KitSubject` whose parts expire, by the time of the store. */
export interface TimedSubject extends KitSubject {
  /** Lets this many milliseconds pass for the store: advances its clock. @default waits that long */
  pass?(ms: number): void | Promise<void>;
}

/** How long what expires in a test case lives, in milliseconds: 1,000 unless set. */
export let SHORT_MS = 1_000;

/**
 * Sets how long what expires in each later test case lives. Raise it for a store whose clock cannot be advanced, so that on a busy machine
 * nothing expires before its test case is done with it.
 *
 * @param ms Milliseconds; 1,000 unless set.
 */
export function setShortLife(ms: number): void {
  SHORT_MS = ms;
}

/** How long what does not expire in a test case lives, in milliseconds. */
export const HOUR_MS: number = 3_600_000;

/** Lets time pass for a store. */
export async function pass(subject: TimedSubject, ms: number): Promise<void> {
  if (subject.pass) await subject.pass(ms);
  // A little longer: by the store's clock a timer may fire a millisecond early.
  else await new Promise<void>((resolve) => void setTimeout(resolve, ms + 50));
}

/** What an implementer gives a kit: a function that makes the objects to test, and the implementation's optional abilities. */
export interface KitSetup<Subject extends KitSubject, Options = undefined> {
  /** Makes a new object to test, which shares nothing with the objects of other test cases. */
  create(options?: Options): Promise<Subject>;
  /** The optional abilities of the implementation. Test cases that need an ability that is missing are skipped. */
  readonly traits?: KitTraits | undefined;
}

/** One test case of a kit. */
export interface KitCase<Subject extends KitSubject, Options = undefined> {
  /** The id of the tested guarantee and a number: `T4.1` is the first test case of guarantee T4. */
  readonly id: string;
  /** The expected behaviour: a sentence in the present tense, without its subject. */
  readonly title: string;
  /** The optional abilities (traits) that an implementation must have for this test case. */
  readonly needs?: readonly string[] | undefined;
  /** Runs the test case. Rejects if the implementation does not pass it. */
  run(subject: Subject, setup: KitSetup<Subject, Options>): Promise<void>;
}

/** The result of one test case. */
export interface CaseResult {
  readonly id: string;
  readonly title: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** The error with which the test case failed; absent if it passed or was skipped. */
  readonly error?: unknown;
  /** The optional abilities (traits) that the implementation lacks, if the test case was skipped. */
  readonly lacks?: readonly string[];
}

/** Finds the traits that a test case needs and the implementation does not have. */
export function findLackingTraits(needs: readonly string[] | undefined, traits: KitTraits | undefined): readonly string[] {
  return (needs ?? []).filter((need) => !traits?.[need]);
}

/** Runs one test case on a newly made object. Rejects if the case fails. */
export async function runCase<Subject extends KitSubject, Options>(
  kitCase: KitCase<Subject, Options>,
  setup: KitSetup<Subject, Options>,
): Promise<void> {
  const subject = await setup.create();
  try {
    await kitCase.run(subject, setup);
  } finally {
    await subject.close();
  }
}

/**
 * Runs test cases one after the other, without a test runner.
 *
 * @returns The result of each test case. Never rejects.
 */
export async function runCases<Subject extends KitSubject, Options>(
  cases: readonly KitCase<Subject, Options>[],
  setup: KitSetup<Subject, Options>,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const kitCase of cases) {
    const { id, title } = kitCase;
    const lacks = findLackingTraits(kitCase.needs, setup.traits);
    if (lacks.length > 0) {
      results.push({ id, title, outcome: 'skipped', lacks });
      continue;
    }
    try {
      await runCase(kitCase, setup);
      results.push({ id, title, outcome: 'passed' });
    } catch (error) {
      results.push({ id, title, outcome: 'failed', error });
    }
  }
  return results;
}
