/** `@mortise/server/rank`: puts suggestions into the order in which a person who types would want them. */

/** How much of a candidate is looked at, so that a long one costs no more than a line does. */
const MAX_CHARACTERS = 256;

/**
 * Keeps the candidates that match what was typed, best first: those that begin with it, those with a word that does, those that
 * hold it, and those that have its characters in order. Case and accents make no difference; nothing typed matches all.
 *
 * Takes time linear in the candidates' length.
 *
 * @see 2026-07-28 server/utilities/completion#implementation-considerations
 */
export function rank(value: string, candidates: Iterable<string>): string[] {
  const typed = fold(value.trim());
  if (typed === '') return [...candidates];
  return [...candidates]
    .map((candidate) => ({ candidate, score: scoreOf(typed, candidate) ?? Infinity }))
    .filter(({ score }) => score < Infinity)
    .sort((a, b) => a.score - b.score)
    .map(({ candidate }) => candidate);
}

/** Better first; equal scores keep the order in which the candidates were given. */
function scoreOf(typed: string, candidate: string): number | undefined {
  const text = fold(candidate.slice(0, MAX_CHARACTERS));
  if (text === typed) return 0;
  if (text.startsWith(typed)) return 1;
  if (startsAWord(typed, text, candidate)) return 2;
  if (text.includes(typed)) return 3;
  const gaps = fuzzyGaps(typed, text);
  // Tighter matches first: the gaps only order fuzzy matches among themselves.
  return gaps === undefined ? undefined : 4 + gaps / (gaps + 1);
}

/** A word begins after anything that is no letter or digit, and at a capital after a small letter (`camelCase`). */
function startsAWord(typed: string, text: string, candidate: string): boolean {
  for (let at = text.indexOf(typed, 1); at !== -1; at = text.indexOf(typed, at + 1)) {
    const before = text[at - 1] ?? '';
    if (!/[\p{L}\p{N}]/u.test(before)) return true;
    if (text.length === candidate.length && /\p{Ll}/u.test(candidate[at - 1] ?? '') && /\p{Lu}/u.test(candidate[at] ?? '')) return true;
  }
  return false;
}

/** How many characters lie between those that were typed, or undefined where they are not all there in order. */
function fuzzyGaps(typed: string, text: string): number | undefined {
  let gaps = 0;
  let at = -1;
  for (const character of typed) {
    const next = text.indexOf(character, at + 1);
    if (next === -1) return undefined;
    if (at !== -1) gaps += next - at - 1;
    at = next;
  }
  return gaps;
}

function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
