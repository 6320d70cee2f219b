/**
 * `@mortise/protocol/edge`: helpers that the transports, the client and the auth packages share: the check of `Host` and `Origin`, the
 * policy for URLs from peers, reading of bodies and `Authorization`, limits, and in-memory stores.
 */

export { createHostGuard, type HostGuard } from './edge/host-guard.ts';
export { checkUrl, type UrlPolicy } from './edge/url-policy.ts';
export { classifyHost, isLoopbackHost, toNetwork, toReachableHost } from './edge/address.ts';
export { checkAuthInfo, type Credentials, parseAuthorization } from './edge/authorization.ts';
export { KeepAlive, type KeepAliveTarget } from './edge/keep-alive.ts';
export { BytePieces, readBytes } from './edge/read-bytes.ts';
export { KeyedLimit } from './edge/keyed-limit.ts';
export { checkStores, fromStoredText, toStoredInteger, toStoredText, within } from './edge/store-calls.ts';
export { isEnded, readTaskCursor, TASK_BOUNDS, toTaskCursor } from './edge/task-list.ts';
export { MemorySessionStore } from './edge/memory-session-store.ts';
export { MemoryEventStore } from './edge/memory-event-store.ts';
export { MemoryReplayStore } from './edge/memory-replay-store.ts';
