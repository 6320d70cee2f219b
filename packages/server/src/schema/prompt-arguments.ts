/** A prompt's arguments as lists show them, from the schema that checks them. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { PromptArgument } from '@mortise/protocol/model';

/**
 * One argument a property, in the schema's order, with its title and description.
 *
 * @see 2026-07-28 server/prompts#prompt
 */
export function toPromptArguments(schema: JsonObject): readonly PromptArgument[] {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required: readonly JsonValue[] = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, property]) => {
    const { title, description } = isJsonObject(property) ? property : {};
    return {
      name,
      ...(typeof title === 'string' ? { title } : undefined),
      ...(typeof description === 'string' ? { description } : undefined),
      required: required.includes(name),
    };
  });
}
