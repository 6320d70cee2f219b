/** A compliance kit as data: cases that name a promise, and what an implementer hands over to have them run. */

/** What an implementer can do beyond the minimum: a trait that is absent, `false` or 0 is one that is lacked. */
export type KitTraits = Readonly<Record<string, unknown>>;

/** Something that is put to the test, with whatever was opened for it. */
export interface KitSubject {
  /** Frees everything. Called once, after the case. */
  close(): Promise<void>;
}

/** What a kit is run against. */
export interface KitSetup<Subject extends KitSubject, Options = undefined> {
  /** Makes a fresh subject that shares nothing with others. */
  create(options?: Options): Promise<Subject>;
  /** What the implementation can do; a case that needs more is skipped. */
  readonly traits?: KitTraits | undefined;
}

/** One thing that must hold. */
export interface KitCase<Subject extends KitSubject, Options = undefined> {
  /** The promise's id and a number: `T4.1`. */
  readonly id: string;
  /** What holds, as a sentence in the present tense without its subject. */
  readonly title: string;
  /** The traits without which the case cannot be run. */
  readonly needs?: readonly string[] | undefined;
  /** Rejects with what does not hold. */
  run(subject: Subject, setup: KitSetup<Subject, Options>): Promise<void>;
}

/** How one case went. */
export interface CaseResult {
  readonly id: string;
  readonly title: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed. */
  readonly error?: unknown;
  /** The traits that were lacking, where it was skipped. */
  readonly lacks?: readonly string[];
}

/** Names the traits that a case needs and an implementation lacks. */
export function findLackingTraits(needs: readonly string[] | undefined, traits: KitTraits | undefined): readonly string[] {
  return (needs ?? []).filter((need) => !traits?.[need]);
}

/** Runs one case on a subject of its own. Rejects with what does not hold. */
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
 * @returns How each went. Never rejects.
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
