/** `@mortise/protocol/revisions`: finding the revision that two sides agree on, and what holds in it. */

export {
  ASSUMED_WITHOUT_HEADER,
  chooseLegacy,
  chooseModern,
  clientCapabilitiesFor,
  findNotification,
  findRequest,
  negotiateLegacy,
  serverCapabilitiesFor,
} from './revisions/index.ts';
export { REVISION_CHANGES } from './revisions/changes.ts';
export { mirrorStructuredContent } from './revisions/mirror-structured-content.ts';
export type { Conversions, Convert, Direction, HttpRules, MethodFacts, RevisionChange, Rules, RuleValue } from './revisions/revision.ts';
