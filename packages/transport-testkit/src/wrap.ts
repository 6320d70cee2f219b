/** `@mortise/transport-testkit/wrap`: wrappers for tests around any transport. Those for production are in `@mortise/jsonrpc-core/wrap`. */

export { type FaultOptions, withFaults } from './wrap/with-faults.ts';
export { type RecordedMessage, withRecord } from './wrap/with-record.ts';
export { withReplay } from './wrap/with-replay.ts';
export { type Chopper, createChopper } from './wrap/chopper.ts';
