/**
 * `@mortise/protocol/revisions`: finding the revision that two sides agree on, and what holds in it.
 */

export { ASSUMED_WITHOUT_HEADER, chooseLegacy, chooseModern, findNotification, findRequest, negotiateLegacy } from './revisions/index.ts';
export { clientCapabilitiesFor, serverCapabilitiesFor } from './revisions/capabilities.ts';
export type { Convert, HttpRules, MethodFacts, Rules } from './revisions/revision.ts';
