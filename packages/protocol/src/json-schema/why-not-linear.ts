/**
 * Proves that a regular expression takes time linear in its input, however a backtracking engine goes about it.
 *
 * The pattern becomes an automaton with a state for each character class in it (Glushkov's construction). Two things make such an
 * automaton slow: a loop that can read one text in two ways, and two loops, one after the other, that can share a text between them
 * in many ways. Outside loops, choices multiply the work by a constant, which is bounded. A pattern with none of these is linear;
 * one that may have them is refused. A pattern that is not anchored is read as one with a loop over everything in front.
 */

import { type CharSet, parsePattern, type Pattern, PatternRefusal } from './parse-pattern.ts';

/** The largest automaton that is looked at. */
const MAX_STATES = 256;
/** The most states that a bounded repetition is written out into; a longer one counts as a loop. */
const MAX_COPIES = 96;
/** In how many ways the part of a pattern outside loops may be read: with a loop or without an anchor, and else. */
const MAX_WAYS = 128;
const MAX_WAYS_WITHOUT_LOOP = 1024;

const ANY: CharSet = [[0, 0x10_ffff]];
const TWO_WAYS = 'a repetition can read the same text in two ways';

/** The most that a proof may cost, in steps and comparisons: about a second. One pattern of ordinary length takes some thousand. */
const MAX_EFFORT = 4_000_000;

/** Of reading a pattern, and of making an automaton of it. */
const EFFORT_PER_CHARACTER = 10;

/** What may still be spent on proofs: those of all patterns of one schema share it. */
export class ProofBudget {
  #left = MAX_EFFORT;

  /** @throws {PatternRefusal} Where it is used up. */
  spend(effort: number): void {
    this.#left -= effort;
    if (this.#left < 0) throw new PatternRefusal('to look at it takes too long');
  }
}

/** Says why a pattern is not proven linear. @param source It must compile as a RegExp. @returns undefined for a linear one. */
export function whyNotLinear(source: string, budget: ProofBudget = new ProofBudget()): string | undefined {
  try {
    budget.spend(source.length * EFFORT_PER_CHARACTER);
    const pattern = parsePattern(source);
    for (const option of pattern.kind === 'choice' ? pattern.options : [pattern]) checkOption(option, budget);
    return undefined;
  } catch (error) {
    if (error instanceof PatternRefusal) return error.message;
    if (error instanceof RangeError) return 'it nests too deeply';
    throw error;
  }
}

/** One alternative by itself. Look-ahead right after the anchor is tried once, so that it is checked apart. */
function checkOption(option: Pattern, budget: ProofBudget): void {
  const items = option.kind === 'sequence' ? option.items : [option];
  const isAnchored = items[0]?.kind === 'assertion' && items[0].which === '^';
  let at = 1;
  for (let item = items[at]; isAnchored && item?.kind === 'lookahead'; item = items[(at += 1)]) checkAutomaton(item.item, true, budget);
  checkAutomaton({ kind: 'sequence', items: isAnchored ? items.slice(at) : items }, isAnchored, budget);
}

function checkAutomaton(pattern: Pattern, isAnchored: boolean, budget: ProofBudget): void {
  const automaton = new Automaton(budget);
  if (!isAnchored) automaton.addPrefixLoop();
  const { last, nullable } = automaton.add(pattern, isAnchored ? [] : [0]);
  // Where nothing must follow, reaching a last state is success, and nothing is tried again.
  automaton.refuseSlow(hasAssertion(pattern) || nullable ? [] : last);
  const limit = isAnchored && !hasLoop(pattern) ? MAX_WAYS_WITHOUT_LOOP : MAX_WAYS;
  if (countWays(pattern, budget) > limit) throw new PatternRefusal('it has too many choices in a row');
}

interface Fragment {
  /** The states that a match of the fragment may begin with. */
  readonly first: readonly number[];
  /** The states that it may end in. */
  readonly last: readonly number[];
  readonly nullable: boolean;
}

class Automaton {
  readonly #sets: CharSet[] = [];
  readonly #next: Set<number>[] = [];
  readonly #budget: ProofBudget;
  #accepting: ReadonlySet<number> = new Set();

  constructor(budget: ProofBudget) {
    this.#budget = budget;
  }

  addPrefixLoop(): void {
    this.#state(ANY);
    this.#next[0]?.add(0);
  }

  /** Adds a pattern after the states `from`. */
  add(pattern: Pattern, from: readonly number[]): Fragment {
    switch (pattern.kind) {
      case 'set': {
        const state = this.#state(pattern.set);
        this.#link(from, [state]);
        return { first: [state], last: [state], nullable: false };
      }
      case 'assertion':
        return { first: [], last: [], nullable: true };
      case 'lookahead':
        throw new PatternRefusal('it looks ahead elsewhere than right after "^"');
      case 'choice': {
        const parts = pattern.options.map((option) => this.add(option, from));
        if (parts.filter((part) => part.nullable).length > 1) throw new PatternRefusal('a choice can be empty in two ways');
        const first = parts.flatMap((part) => part.first);
        this.#budget.spend(first.length);
        return { first, last: parts.flatMap((part) => part.last), nullable: parts.some((part) => part.nullable) };
      }
      case 'repeat':
        return this.#repeat(pattern, from);
      case 'sequence':
        return this.#sequence(pattern.items, from);
    }
  }

  /** @param accepting States that end a match for good. */
  refuseSlow(accepting: readonly number[]): void {
    this.#accepting = new Set(accepting);
    const reach = this.#sets.map((_, state) => this.#reachable(state, () => true));
    const loops = new Map<number, readonly number[]>();
    for (const [state, reached] of reach.entries()) {
      if (reached.has(state))
        loops.set(
          state,
          [...reached].filter((other) => reach[other]?.has(state)),
        );
    }
    const firstOfLoop = [...loops].filter(([state, loop]) => state === Math.min(...loop));
    for (const [state, loop] of loops) this.#refuseTwoWays(state, loop);
    for (const [, loop] of firstOfLoop) this.#refuseSharing(loop, loops);
  }

  #repeat(pattern: Repeat, from: readonly number[]): Fragment {
    const { item, min, max } = pattern;
    if (max === 0) return { first: [], last: [], nullable: true };
    if (!isLoop(pattern)) {
      const skippable: Pattern = { kind: 'choice', options: [item, { kind: 'sequence', items: [] }] };
      return this.#sequence(
        Array.from({ length: max }, (_, index) => (index < min ? item : skippable)),
        from,
      );
    }
    const body = this.add(item, from);
    this.#link(body.last, body.first);
    return { ...body, nullable: min === 0 || body.nullable };
  }

  #sequence(items: readonly Pattern[], from: readonly number[]): Fragment {
    let reachable = from;
    let first: readonly number[] = [];
    let last: readonly number[] = [];
    let nullable = true;
    for (const item of items) {
      const part = this.add(item, reachable);
      if (nullable) first = [...first, ...part.first];
      last = part.nullable ? [...last, ...part.last] : part.last;
      reachable = part.nullable ? [...reachable, ...part.last] : part.last;
      nullable &&= part.nullable;
    }
    return { first, last, nullable };
  }

  #state(set: CharSet): number {
    if (this.#sets.length >= MAX_STATES) throw new PatternRefusal('it is too large');
    this.#next.push(new Set());
    return this.#sets.push(set) - 1;
  }

  #link(from: readonly number[], to: readonly number[]): void {
    this.#budget.spend(from.length * to.length);
    for (const state of from) {
      const known = this.#next[state] ?? new Set();
      for (const next of to) {
        // The same step found again is a second way to read the same text: `(a+)+`.
        if (known.has(next)) throw new PatternRefusal(TWO_WAYS);
        known.add(next);
      }
    }
  }

  #reachable(start: number, isAllowed: (state: number) => boolean): ReadonlySet<number> {
    const reached = new Set<number>();
    const waiting = [...(this.#next[start] ?? [])];
    for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
      if (reached.has(state) || !isAllowed(state)) continue;
      reached.add(state);
      const next: ReadonlySet<number> = this.#next[state] ?? new Set();
      this.#budget.spend(1 + next.size);
      waiting.push(...next);
    }
    return reached;
  }

  /** Within a loop, no state may have two next states of the loop for one character. */
  #refuseTwoWays(state: number, loop: readonly number[]): void {
    const next = loop.filter((other) => this.#next[state]?.has(other));
    for (const [index, one] of next.entries()) {
      for (const other of next.slice(index + 1)) {
        if (this.#overlap(one, other)) throw new PatternRefusal(TWO_WAYS);
      }
    }
  }

  /** No text that two loops can both read may lead from within the one into the other. */
  #refuseSharing(loop: readonly number[], loops: ReadonlyMap<number, readonly number[]>): void {
    if (loop.some((state) => this.#accepting.has(state))) return;
    const canRead = (readers: readonly number[], state: number): boolean => readers.some((reader) => this.#overlap(reader, state));
    for (const [state, other] of loops) {
      if (other.includes(loop[0] as number) || !canRead(loop, state)) continue;
      const reached = this.#reachable(state, (next) => canRead(loop, next) && canRead(other, next));
      if (reached.has(state) && loop.some((own) => reached.has(own)))
        throw new PatternRefusal('two repetitions can share a text between them in many ways');
    }
  }

  #overlap(one: number, other: number): boolean {
    return overlap(this.#sets[one] ?? [], this.#sets[other] ?? [], this.#budget);
  }
}

type Repeat = Extract<Pattern, { kind: 'repeat' }>;

function isLoop({ item, max }: Repeat): boolean {
  return isLoopOver(countStates(item), max);
}

/** @param states Of what is repeated. */
function isLoopOver(states: number, max: number): boolean {
  return max === Number.POSITIVE_INFINITY || max * states > MAX_COPIES;
}

function partsOf(pattern: Pattern): readonly Pattern[] {
  if (pattern.kind === 'sequence') return pattern.items;
  if (pattern.kind === 'choice') return pattern.options;
  return pattern.kind === 'repeat' || pattern.kind === 'lookahead' ? [pattern.item] : [];
}

function hasLoop(pattern: Pattern): boolean {
  return (pattern.kind === 'repeat' && isLoop(pattern)) || partsOf(pattern).some(hasLoop);
}

function hasAssertion(pattern: Pattern): boolean {
  return pattern.kind === 'assertion' || partsOf(pattern).some(hasAssertion);
}

const countStates = onceEach((pattern: Pattern): number => {
  if (pattern.kind === 'set') return 1;
  const states = partsOf(pattern).reduce((sum, part) => sum + countStates(part), 0);
  return pattern.kind === 'repeat' && !isLoopOver(states, pattern.max) ? states * pattern.max : states;
});

/** Looks at each pattern once, for whoever asks about one asks about those within one another too. */
function onceEach<Found>(look: (pattern: Pattern) => Found): (pattern: Pattern) => Found {
  const known = new WeakMap<Pattern, { readonly found: Found }>();
  return (pattern) => {
    const { found } = known.get(pattern) ?? { found: look(pattern) };
    known.set(pattern, { found });
    return found;
  };
}

/** In how many ways the choices outside loops can turn out, at most. */
function countWays(pattern: Pattern, budget: ProofBudget): number {
  const ways = partsOf(pattern).map((part) => countWays(part, budget));
  if (pattern.kind === 'sequence') return ways.reduce((product, way) => product * way, 1);
  if (pattern.kind === 'choice') return areToldApart(pattern.options, budget) ? Math.max(...ways) : ways.reduce((sum, way) => sum + way, 0);
  if (pattern.kind !== 'repeat' || isLoop(pattern)) return 1;
  return (pattern.max - pattern.min + 1) * (ways[0] ?? 1) ** pattern.max;
}

/** Whether the first character decides. */
function areToldApart(options: readonly Pattern[], budget: ProofBudget): boolean {
  const firsts = options.map(firstSet);
  return firsts.every(
    (one, index) => one !== undefined && firsts.slice(index + 1).every((other) => other !== undefined && !overlap(one, other, budget)),
  );
}

/** The characters that a pattern may begin with; undefined where it may be empty or that is not plain to see. */
const firstSet = onceEach((pattern: Pattern): CharSet | undefined => {
  if (pattern.kind === 'set') return pattern.set;
  if (pattern.kind === 'repeat') return pattern.min > 0 ? firstSet(pattern.item) : undefined;
  if (pattern.kind === 'sequence') return pattern.items[0] === undefined ? undefined : firstSet(pattern.items[0]);
  const sets = pattern.kind === 'choice' ? pattern.options.map(firstSet) : [undefined];
  return sets.includes(undefined) ? undefined : sets.flatMap((set) => set ?? []);
});

function overlap(a: CharSet, b: CharSet, budget: ProofBudget): boolean {
  budget.spend(1 + a.length * b.length);
  return a.some(([low, high]) => b.some(([from, to]) => low <= to && from <= high));
}
