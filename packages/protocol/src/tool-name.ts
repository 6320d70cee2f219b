/** The rule for names of tools. */

/** The longest name. */
export const MAX_TOOL_NAME_LENGTH = 128;

/**
 * Says what is wrong with a tool's name, as every revision's peers would have it.
 *
 * @returns undefined for a name of 1 to 128 ASCII letters, digits, `_`, `-` and `.`; else one sentence.
 * @see 2025-11-25 server/tools#tool-names
 */
export function checkToolName(name: string): string | undefined {
  if (name === '') return 'Tool name is empty: use 1 to 128 letters, digits, "_", "-" and "."';
  if (name.length > MAX_TOOL_NAME_LENGTH)
    return `Tool name "${name.slice(0, 40)}..." has ${name.length} characters: at most ${MAX_TOOL_NAME_LENGTH} are allowed`;
  const [bad] = /[^A-Za-z0-9_.-]/u.exec(name) ?? [];
  if (bad === undefined) return undefined;
  return `Tool name "${name}" has the character ${JSON.stringify(bad)}: use letters, digits, "_", "-" and "."`;
}
