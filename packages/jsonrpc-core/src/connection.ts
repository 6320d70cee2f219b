/** `@mortise/jsonrpc-core/connection`: requests over a transport, abort signals and queues, for implementers of servers and clients. */

export { Connection } from './connection/connection.ts';
export type { ConnectionOptions, ConnectionRules, RequestOutcome } from './connection/connection-options.ts';
export { DeadlineTimer } from './clock.ts';
export type { InboundCall } from './connection/inbound-calls.ts';
export { RequestTable, type RequestTableOptions } from './connection/request-table.ts';
export type { PendingRequest, RequestOptions, RequestParams } from './connection/pending-request.ts';
export { AsyncQueue } from './collections.ts';
export { abortable, type LinkedSignal, linkSignals, withTimeout } from './cancellation.ts';
export { andThen, isThenable } from './thenable.ts';
export { runCallback } from './transport/hold-transport.ts';
