/** Text that a server or a model sent, made safe for a terminal. */

/** Control characters, invisible ones and those that change the direction of text, but not newline and tab. */
const UNSAFE = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/gu;

/** Shows characters that could move the cursor, change colours, reorder or hide text by their code, such as `\u{1b}`. */
export function clean(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** As `clean`, on one line of at most `maxLength` characters. */
export function cleanLine(text: string, maxLength = 200): string {
  const line = clean(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 3)}...` : line;
}

/** As `clean`, with each line indented, and at most `maxLines` lines of at most 500 characters. */
export function cleanBlock(text: string, maxLines = 12): string {
  const lines = clean(text).trimEnd().split('\n');
  const shown = lines.slice(0, maxLines).map((line) => `    ${line.length > 500 ? `${line.slice(0, 497)}...` : line}`);
  if (lines.length > maxLines) shown.push(`    ... ${lines.length - maxLines} more lines`);
  return shown.join('\n');
}
