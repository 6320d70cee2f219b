/** Which capability keys a revision does not have although another one does, and capabilities without them. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Revision } from './revision.ts';

/** Whose capabilities. */
export type CapabilitySide = 'clientCapabilities' | 'serverCapabilities';

/** The dotted names that some revision of `all` has and `revision` does not. @param keep A name that is left out of them. */
export function foreignCapabilities(
  side: CapabilitySide,
  revision: Pick<Revision, CapabilitySide>,
  all: readonly Pick<Revision, CapabilitySide>[],
  keep?: string,
): ReadonlySet<string> {
  return new Set(all.flatMap((other) => [...other[side]]).filter((name) => name !== keep && !revision[side].has(name)));
}

/** Returns `capabilities` without the members that `names` holds; the same object where it has none of them. */
export function dropCapabilities<T extends JsonObject>(capabilities: T, names: ReadonlySet<string>, prefix = ''): T {
  let copy: Record<string, unknown> | undefined;
  for (const [key, value] of Object.entries(capabilities)) {
    const name = prefix + key;
    if (names.has(name)) {
      copy ??= { ...capabilities };
      delete copy[key];
    } else if (isJsonObject(value)) {
      const kept = dropCapabilities(value, names, `${name}.`);
      if (kept !== value) (copy ??= { ...capabilities })[key] = kept;
    }
  }
  return (copy as T | undefined) ?? capabilities;
}
