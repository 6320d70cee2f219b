/**
 * `@mortise/protocol/revisions`: finding the revision that two sides agree on, and what holds in it; and putting
 * revisions together.
 */

export {
  ASSUMED_WITHOUT_HEADER,
  chooseLegacy,
  chooseModern,
  findNotification,
  findRequest,
  negotiateLegacy,
  NEWEST_DEFINITION,
} from './revisions/index.ts';
export { clientCapabilitiesFor, serverCapabilitiesFor } from './revisions/capabilities.ts';
export { composeRevisions, defineRevision, type RevisionDefinition, type RevisionFacts } from './revisions/define-revision.ts';
export { mirrorStructuredContent } from './revisions/mirror-structured-content.ts';
export type { Conversions, Convert, Direction, HttpRules, MethodFacts, Rules } from './revisions/revision.ts';
