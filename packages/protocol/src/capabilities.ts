/** Looks up which capabilities and extensions a client or server declares. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities, ServerCapabilities } from './model/capabilities.ts';

/**
 * Tells whether a client or server declares a capability.
 *
 * `{}` and `true` mean declared; `false`, `null` and absence mean not declared. `elicitation: {}` also declares `elicitation.form`. For an
 * extension identifier use `hasExtension`: the dots in an identifier do not separate levels.
 *
 * @param name The capability's name, with dots between levels, such as `sampling.tools`.
 */
export function hasCapability(capabilities: ClientCapabilities | ServerCapabilities, name: string): boolean {
  let value: unknown = capabilities;
  for (const key of name.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return isImpliedForm(capabilities, name);
    value = value[key];
  }
  return value !== undefined && value !== null && value !== false;
}

/** Tells whether a client or server declares an extension in `capabilities.extensions`. */
export function hasExtension(capabilities: ClientCapabilities | ServerCapabilities, id: string): boolean {
  const { extensions } = capabilities;
  return isJsonObject(extensions) && Object.hasOwn(extensions, id) && isJsonObject(extensions[id]);
}

/**
 * Returns the first of the needed capabilities that the peer does not declare; undefined if it declares all of them.
 *
 * @param needed The names of capabilities, with dots between levels, such as `sampling.tools`.
 */
export function missingCapability(capabilities: ClientCapabilities | ServerCapabilities, needed: readonly string[]): string | undefined {
  return needed.find((name) => !hasCapability(capabilities, name));
}

/** Converts a capability's dotted name to a capabilities object: `elicitation.url` becomes `{ elicitation: { url: {} } }`. */
export function toCapabilities(name: string): ClientCapabilities {
  return name.split('.').reduceRight<JsonObject>((inner, key) => ({ [key]: inner }), {});
}

/** Tells whether `name` is `elicitation.form` and declared by an `elicitation` without `url`: `elicitation: {}` means form mode. */
function isImpliedForm(capabilities: JsonObject, name: string): boolean {
  if (name !== 'elicitation.form') return false;
  const { elicitation } = capabilities;
  return isJsonObject(elicitation) && !Object.hasOwn(elicitation, 'url');
}
