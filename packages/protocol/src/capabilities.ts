/** Questions about capabilities. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities, ServerCapabilities } from './model/capabilities.ts';

/**
 * Tells whether a capability is declared.
 *
 * Presence counts: `{}` means yes, and so does `true`; `false` means no. `elicitation: {}` means forms, so
 * `elicitation.form` holds there too. Slashes and dots of extension identifiers are no path: ask `hasExtension`.
 *
 * @param name Dotted, such as `sampling.tools`.
 */
export function hasCapability(capabilities: ClientCapabilities | ServerCapabilities, name: string): boolean {
  let value: unknown = capabilities;
  for (const key of name.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return isImpliedForm(capabilities, name);
    value = value[key];
  }
  return value !== undefined && value !== null && value !== false;
}

/** Tells whether an extension is declared. */
export function hasExtension(capabilities: ClientCapabilities | ServerCapabilities, id: string): boolean {
  const { extensions } = capabilities;
  return isJsonObject(extensions) && Object.hasOwn(extensions, id) && isJsonObject(extensions[id]);
}

/**
 * The first of the needed capabilities that is not declared.
 *
 * @param needed Dotted names.
 */
export function missingCapability(capabilities: ClientCapabilities | ServerCapabilities, needed: readonly string[]): string | undefined {
  return needed.find((name) => !hasCapability(capabilities, name));
}

/** A capability as the object that an error names it by: `elicitation.url` becomes `{ elicitation: { url: {} } }`. */
export function toCapabilities(name: string): ClientCapabilities {
  return name.split('.').reduceRight<JsonObject>((inner, key) => ({ [key]: inner }), {});
}

/** `elicitation: {}` means forms, and only that. */
function isImpliedForm(capabilities: JsonObject, name: string): boolean {
  if (name !== 'elicitation.form') return false;
  const { elicitation } = capabilities;
  return isJsonObject(elicitation) && !Object.hasOwn(elicitation, 'url');
}
