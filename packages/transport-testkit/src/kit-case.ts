/** The types of a compliance kit: its cases, and the setup that an implementer provides. */

/** Optional abilities of an implementation. A trait that is absent, `false` or 0 counts as missing. */
export type KitTraits = Readonly<Record<string, unknown>>;

/** The object under test. */
export interface KitSubject {
  /** Frees everything that was opened for the object. Called once, after the case. */
  close(): Promise<void>;
}

/** The implementation that a kit tests. */
export interface KitSetup<Subject extends KitSubject, Options = undefined> {
  /** Makes a new subject that shares nothing with other subjects. */
  create(options?: Options): Promise<Subject>;
  /** The optional abilities of the implementation. Cases that need others are skipped. */
  readonly traits?: KitTraits | undefined;
}

/** One test case of a kit. */
export interface KitCase<Subject extends KitSubject, Options = undefined> {
  /** The promise's id and a number: `T4.1`. */
  readonly id: string;
  /** The expected behaviour: a sentence in the present tense, without its subject. */
  readonly title: string;
  /** The traits that the case requires. */
  readonly needs?: readonly string[] | undefined;
  /** Runs the case. Rejects if the implementation does not pass. */
  run(subject: Subject, setup: KitSetup<Subject, Options>): Promise<void>;
}

/** The result of one case. */
export interface CaseResult {
  readonly id: string;
  readonly title: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed. */
  readonly error?: unknown;
  /** The missing traits, if the case was skipped. */
  readonly lacks?: readonly string[];
}

/** Gives the traits that a case needs and the implementation does not have. */
export function findLackingTraits(needs: readonly string[] | undefined, traits: KitTraits | undefined): readonly string[] {
  return (needs ?? []).filter((need) => !traits?.[need]);
}

/** Runs one case on a new subject. Rejects if the case fails. */
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
 * Runs cases one after the other, without a test runner.
 *
 * @returns The result of each case. Never rejects.
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
