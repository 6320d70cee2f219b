/** `@mortise/protocol/revisions`: the protocol revisions with their methods, rules and capabilities, and functions to negotiate one. */

export { ASSUMED_WITHOUT_HEADER, chooseLegacy, chooseModern, findNotification, findRequest, negotiateLegacy } from './revisions/index.ts';
export { clientCapabilitiesFor, serverCapabilitiesFor } from './revisions/capabilities.ts';
export type { Convert, HttpRules, MethodFacts, Rules } from './revisions/revision.ts';
