/** Removes capabilities that a protocol revision does not have from those that a client or server declares. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities, ServerCapabilities } from '../model/capabilities.ts';
import type { Revision } from './revision.ts';

/** The side that declares capabilities. */
export type CapabilitySide = 'client' | 'server';

type Keys = Pick<Revision, 'clientCapabilities' | 'serverCapabilities'>;

/** Removes from a client's capabilities those that `revision` does not have. Returns the same object if nothing is removed. */
export function clientCapabilitiesFor(revision: Revision, capabilities: ClientCapabilities): ClientCapabilities {
  return dropCapabilities(capabilities, revision.foreignCapabilities.client);
}

/** Removes from a server's capabilities those that `revision` does not have. Returns the same object if nothing is removed. */
export function serverCapabilitiesFor(revision: Revision, capabilities: ServerCapabilities): ServerCapabilities {
  return dropCapabilities(capabilities, revision.foreignCapabilities.server);
}

/** Returns the dotted names of the capabilities that other revisions have and the revision `own` does not. */
export function foreignCapabilities(own: Keys, others: readonly Keys[]): Readonly<Record<CapabilitySide, ReadonlySet<string>>> {
  const foreign = (side: keyof Keys): ReadonlySet<string> =>
    new Set(others.flatMap((other) => [...other[side]]).filter((name) => !own[side].has(name)));
  return { client: foreign('clientCapabilities'), server: foreign('serverCapabilities') };
}

/** Returns `capabilities` without those whose dotted name is in `names`; the same object if it has none of them. */
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
