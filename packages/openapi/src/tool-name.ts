/** Names of tools that every model accepts, and that depend on their operation alone. */

const MAX_NAME = 64;

/**
 * Returns the name of an operation's tool: its `operationId`, else its method and path (`get_users_id`). Characters that models do not accept
 * become `_`; a name longer than 64 characters is shortened and gets a hash.
 */
export function toolName(operationId: string | undefined, method: string, path: string): string {
  const full = operationId ?? `${method}${path}`;
  const clean = full.replaceAll(/[^a-zA-Z0-9_-]+/gu, '_').replaceAll(/^_+|_+$/gu, '') || method;
  return clean.length <= MAX_NAME ? clean : `${clean.slice(0, MAX_NAME - 8)}_${hash(full)}`;
}

/** FNV-1a with 32 bits, as seven characters. */
function hash(text: string): string {
  let state = 0x811c9dc5;
  for (const character of text) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return state.toString(36).padStart(7, '0');
}
