/** Text of a server or a model, made safe to show. */

/**
 * Control characters, characters that cannot be seen or change the direction of text, and those of no known meaning; not newline and tab,
 * nor the selector that makes an emoji coloured.
 */
const UNSEEN = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}\u2800]|(?<!\p{Emoji})\ufe0f|(?!\ufe0f)\p{DI}/gu;

/**
 * Shows characters that could move a cursor, change colours, or reorder or hide text as `\u001b`. Windows line ends become `\n`. JSON stays
 * the same JSON.
 *
 * Does NOT make text safe as markup: show it as plain text.
 */
export function escapeUnseen(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSEEN, (character) => Array.from({ length: character.length }, (_, at) => toEscape(character, at)).join(''));
}

function toEscape(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
}
