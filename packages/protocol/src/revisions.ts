/** `@mortise/protocol/revisions`: negotiates the protocol revision, and tells its methods, rules and capabilities. */

export { ASSUMED_WITHOUT_HEADER, chooseLegacy, chooseModern, findNotification, findRequest, negotiateLegacy } from './revisions/index.ts';
export { clientCapabilitiesFor, serverCapabilitiesFor } from './revisions/capabilities.ts';
export type { Convert, HttpRules, MethodFacts, Rules } from './revisions/revision.ts';
