/** Looks up declared capabilities and extensions. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities, ServerCapabilities } from './model/capabilities.ts';

/**
 * Tells whether a capability is declared.
 *
 * `{}` and `true` mean declared; `false`, `null` and absence mean not declared. `elicitation: {}` also declares `elicitation.form`.
 * For an extension identifier use `hasExtension`: its dots are not a path.
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

/** Tells whether `capabilities.extensions` declares an extension. */
export function hasExtension(capabilities: ClientCapabilities | ServerCapabilities, id: string): boolean {
  const { extensions } = capabilities;
  return isJsonObject(extensions) && Object.hasOwn(extensions, id) && isJsonObject(extensions[id]);
}

/**
 * Gives the first of the needed capabilities that is not declared; undefined if all are.
 *
 * @param needed Dotted names.
 */
export function missingCapability(capabilities: ClientCapabilities | ServerCapabilities, needed: readonly string[]): string | undefined {
  return needed.find((name) => !hasCapability(capabilities, name));
}

/** Converts a dotted name to a capabilities object: `elicitation.url` becomes `{ elicitation: { url: {} } }`. */
export function toCapabilities(name: string): ClientCapabilities {
  return name.split('.').reduceRight<JsonObject>((inner, key) => ({ [key]: inner }), {});
}

/** `elicitation: {}` declares form mode, and not URL mode. */
function isImpliedForm(capabilities: JsonObject, name: string): boolean {
  if (name !== 'elicitation.form') return false;
  const { elicitation } = capabilities;
  return isJsonObject(elicitation) && !Object.hasOwn(elicitation, 'url');
}
