/** The naming rules for `_meta` keys (and which keys MCP reserves), extension identifiers and tools. */

/** The longest `_meta` key that `checkMetaKey` accepts, in characters. */
const MAX_KEY_LENGTH = 1024;

const BARE_RESERVED: ReadonlySet<string> = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage']);

/**
 * Checks the syntax of a `_meta` key.
 *
 * @returns undefined for a valid key, even a reserved one; else one sentence that says what is wrong.
 * @see 2026-07-28 basic/index#meta
 */
export function checkMetaKey(key: string): string | undefined {
  if (key.length > MAX_KEY_LENGTH) return `_meta key is longer than ${MAX_KEY_LENGTH} characters`;
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  if (slash !== -1 && !key.slice(0, slash).split('.').every(isLabel)) {
    return `_meta key "${key}": each label of the prefix must begin with a letter, end with a letter or digit, and hold letters, digits and hyphens`;
  }
  if (name !== '' && !isName(name)) {
    return `_meta key "${key}": the name must begin and end with a letter or digit, and hold letters, digits, "-", "_" and "."`;
  }
  return key === '' ? '_meta key is empty' : undefined;
}

/**
 * Tells whether any MCP revision reserves a `_meta` key: a key without prefix that MCP defines, or a key whose prefix has `mcp` or
 * `modelcontextprotocol` as a label in a reserved position. Revisions differ in which positions are reserved.
 */
export function isReservedMetaKey(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash === -1) return BARE_RESERVED.has(key);
  const labels = key.slice(0, slash).split('.');
  return labels.some((label, index) => isMcpLabel(label) && (index === 1 || index < labels.length - 1));
}

/**
 * Checks the syntax of an extension identifier: a `_meta` key with both a prefix and a name.
 *
 * @see 2026-07-28 basic/versioning#extension-negotiation
 */
export function checkExtensionId(id: string): string | undefined {
  const slash = id.indexOf('/');
  if (slash <= 0 || slash === id.length - 1) return `Extension identifier "${id}" must have a prefix and a name: "vendor.example/name"`;
  return checkMetaKey(id)?.replace('_meta key', 'Extension identifier');
}

function isMcpLabel(label: string): boolean {
  return label === 'mcp' || label === 'modelcontextprotocol';
}

function isLabel(label: string): boolean {
  return /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(label);
}

function isName(name: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name);
}

/** The maximum length of a tool name, in characters. */
export const MAX_TOOL_NAME_LENGTH = 128;

/**
 * Checks a tool name against rules that peers of every revision accept.
 *
 * @returns undefined for a name of 1 to 128 ASCII letters, digits, `_`, `-` and `.`; else one sentence that says what is wrong.
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
