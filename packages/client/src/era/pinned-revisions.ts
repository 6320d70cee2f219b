/** Which revisions a client may speak, by what its options pin. */

import { REVISIONS, type Revision, revisionsOf, supportedVersions } from '@mortise/protocol';
import { chooseLegacy, chooseModern } from '@mortise/protocol/revisions';
import type { ClientOptions } from '../client-options.ts';
import { UnsupportedVersionError } from '../errors.ts';

/**
 * The revisions that may be spoken, newest first.
 *
 * @throws {UnsupportedVersionError} None is of the version that is pinned.
 * @throws {TypeError} There is no era of that name.
 */
export function pinnedRevisions({
  era,
  protocolVersion,
  revisions = REVISIONS,
}: Pick<ClientOptions, 'era' | 'protocolVersion' | 'revisions'>): readonly Revision[] {
  if (era !== undefined && era !== 'legacy' && era !== 'modern')
    throw new TypeError(`The option "era" must be "legacy" or "modern", got ${JSON.stringify(era)}: leave it out to have it found out`);
  const spoken = era === undefined ? revisions : revisionsOf(era, revisions);
  if (protocolVersion === undefined) return spoken;
  const version = chooseModern([protocolVersion], spoken) ?? chooseLegacy([protocolVersion], spoken);
  if (version) return [version];
  const known = supportedVersions(spoken);
  throw new UnsupportedVersionError(
    `this client does not speak protocolVersion ${JSON.stringify(protocolVersion)}: use one of ${known.join(', ')}`,
    [],
    known,
  );
}
