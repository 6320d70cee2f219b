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
    .map((candidate) => ({ candidate, score: scoreOf(typed, candidate.slice(0, MAX_CHARACTERS)) }))
    .filter(({ score }) => score < Infinity)
    .sort((a, b) => a.score - b.score)
    .map(({ candidate }) => candidate);
}

/** Better first; equal scores keep the order in which the candidates were given. */
function scoreOf(typed: string, candidate: string): number {
  const text = fold(candidate);
  if (text === typed) return 0;
  if (text.startsWith(typed)) return 1;
  // `toolsList` is two words.
  if (toWords(candidate.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')).includes(` ${toWords(typed)}`)) return 2;
  if (text.includes(typed)) return 3;
  // Tighter matches first: the gaps only order such matches among themselves.
  const gaps = countGaps(typed, text);
  return gaps === undefined ? Infinity : 4 + gaps / (gaps + 1);
}

/** How many characters lie between those that were typed, or undefined where they are not all there in order. */
function countGaps(typed: string, text: string): number | undefined {
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

function toWords(text: string): string {
  return fold(text).replace(/[^\p{L}\p{N}]/gu, ' ');
}

function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
