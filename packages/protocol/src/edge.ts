/**
 * `@mortise/protocol/edge`: what every transport, the client and auth share at the edge of the network: the check of Host and
 * Origin, the policy for URLs that peers give, bodies and credentials of requests, limits, and stores in memory.
 */

export { createHostGuard, type HostGuard } from './edge/host-guard.ts';
export { checkUrl, type UrlPolicy } from './edge/url-policy.ts';
export { classifyHost, isLoopbackHost, toReachableHost } from './edge/address.ts';
export { checkAuthInfo, type Credentials, parseAuthorization } from './edge/authorization.ts';
export { BytePieces, readBytes } from './edge/read-bytes.ts';
export { KeyedLimit } from './edge/keyed-limit.ts';
export { MemorySessionStore } from './edge/memory-session-store.ts';
export { MemoryEventStore } from './edge/memory-event-store.ts';
