/** `@mortise/server/rank`: sorts suggestions for completion by how well they match. */

/** How many characters of a candidate are compared with the typed text. Bounds the cost of long candidates. */
const MAX_CHARACTERS = 256;

/**
 * Returns the candidates that match the typed text, best first: those that start with it, those with a word that starts with it, those that contain
 * it, and those with its characters in order. Case and accents are ignored. An empty text matches all candidates.
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

/** Scores how well a candidate matches the typed text: higher is better. Candidates with equal scores keep their order. */
function scoreOf(typed: string, candidate: string): number {
  const text = fold(candidate);
  if (text === typed) return 0;
  if (text.startsWith(typed)) return 1;
  // `toolsList` counts as two words.
  if (toWords(candidate.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')).includes(` ${toWords(typed)}`)) return 2;
  if (text.includes(typed)) return 3;
  // The number of gaps only orders such matches among themselves: fewer gaps first.
  const gaps = countGaps(typed, text);
  return gaps === undefined ? Infinity : 4 + gaps / (gaps + 1);
}

/** Counts the characters of a text that lie between the typed ones. Undefined if the text does not have them all, in this order. */
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
