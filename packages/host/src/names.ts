/** Names of tools and prompts that models accept and that never depend on which other servers there are. */

/** The longest name that every provider of models accepts, of the characters `a-z`, `A-Z`, `0-9`, `_` and `-`. */
const MAX_NAME = 64;
const MAX_LABEL = 24;
const SEPARATOR = '__';

/**
 * Returns the prefix of a server's tools and prompts: its name, if that has at most 24 letters, digits, `-` and single `_`. Any other name is
 * shortened, and gets a hash.
 */
export function serverLabel(server: string): string {
  const clean = withoutDoubleUnderscore(server.replaceAll(/[^a-zA-Z0-9_-]/gu, '-'));
  if (clean === server && clean !== '' && clean.length <= MAX_LABEL) return clean;
  return `${withoutDoubleUnderscore(clean.slice(0, MAX_LABEL - 8))}-${hash(server)}`;
}

/**
 * Returns the name under which a model sees a tool or prompt: `server__tool`. A function of both names alone, so the name stays the same when
 * other servers come and go. A name that is too long, or has characters that models do not accept, is shortened and gets a hash.
 */
export function exposedName(server: string, name: string): string {
  const prefix = `${serverLabel(server)}${SEPARATOR}`;
  const room = MAX_NAME - prefix.length;
  const clean = name.replaceAll(/[^a-zA-Z0-9_-]/gu, '-');
  if (clean === name && clean !== '' && clean.length <= room) return prefix + clean;
  return `${prefix}${clean.slice(0, room - 8)}-${hash(name)}`;
}

/** Returns the label of the server in an exposed name; undefined if the name has none. */
export function labelOf(exposed: string): string | undefined {
  const end = exposed.indexOf(SEPARATOR);
  return end > 0 ? exposed.slice(0, end) : undefined;
}

/** The label ends at the first `__` of a name, so it may neither hold one nor end with `_`. */
function withoutDoubleUnderscore(text: string): string {
  return text.replaceAll(/_{2,}/gu, '_').replace(/^_|_$/gu, '');
}

/** FNV-1a with 32 bits, as seven characters. Two names of one server with the same hash only harm that server. */
function hash(text: string): string {
  let state = 0x811c9dc5;
  for (const character of text) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return state.toString(36).padStart(7, '0');
}
