/** What v1 does around a client's elicitation handler. */

import type { ClientCapabilities } from '../types.ts';

/** Which ways of elicitation a capability means. An empty one means forms. */
export function getSupportedElicitationModes(capabilities: ClientCapabilities['elicitation']): {
  supportsFormMode: boolean;
  supportsUrlMode: boolean;
} {
  const { form, url } = capabilities ?? {};
  const isPlain = capabilities !== undefined && form === undefined && url === undefined;
  return { supportsFormMode: form !== undefined || isPlain, supportsUrlMode: url !== undefined };
}

interface FormSchema {
  readonly properties?: Readonly<Record<string, FormSchema>>;
  readonly default?: unknown;
  readonly anyOf?: readonly FormSchema[];
  readonly oneOf?: readonly FormSchema[];
}

/** Fills in the defaults of the fields that the user left out. */
export function applyElicitationDefaults(schema: object, content: unknown): void {
  if (typeof schema !== 'object' || typeof content !== 'object' || content === null) return;
  const { properties = {}, anyOf = [], oneOf = [] } = schema as FormSchema;
  const fields = content as Record<string, unknown>;
  for (const [name, field] of Object.entries(properties)) {
    if (fields[name] === undefined && field.default !== undefined) fields[name] = field.default;
    applyElicitationDefaults(field, fields[name]);
  }
  for (const part of [...anyOf, ...oneOf]) applyElicitationDefaults(part, content);
}
