/** Counts the different names of members in a JSON text, in one walk. */

import { NameTable } from './name-table.ts';

const QUOTE = 0x22;

/** Whether the members of all objects in a JSON text have more than `maxNames` different names; one that is spelled with escapes counts as another. */
export function hasMoreNames(text: string, maxNames: number): boolean {
  const names = new NameTable(text, maxNames);
  // Many texts here are short, for which a call of the engine's own search takes longer than a look at each character.
  for (let at = 0; at < text.length && names.count <= maxNames; at++) {
    if (text.charCodeAt(at) === QUOTE) at = names.read(at + 1);
  }
  return names.count > maxNames;
}
