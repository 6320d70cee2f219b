/** Text that a server or a model sent, made safe for a terminal. */

import { escapeUnseen as clean } from '@mortise/client/host';

export { clean };

/** As `clean`, on one line of at most `maxLength` characters. */
export function cleanLine(text: string, maxLength = 200): string {
  const line = clean(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 3)}...` : line;
}

/** As `clean`, with each line indented: all of it. For what the user answers for. */
export function cleanAll(text: string): string {
  return cleanBlock(text, Infinity, Infinity);
}

/** As `clean`, with each line indented, and at most `maxLines` lines of at most `maxLength` characters. */
export function cleanBlock(text: string, maxLines = 12, maxLength = 500): string {
  const lines = clean(text).trimEnd().split('\n');
  const shown = lines.slice(0, maxLines).map((line) => `    ${line.length > maxLength ? `${line.slice(0, maxLength - 3)}...` : line}`);
  if (lines.length > maxLines) shown.push(`    ... ${lines.length - maxLines} more lines`);
  return shown.join('\n');
}
