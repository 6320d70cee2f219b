/** `@mortise/transport-testkit/wrap`: wrappers around transports, stores and buses, for tests. `@mortise/jsonrpc-core/wrap` has those for production. */

export { type FaultOptions, withFaults } from './wrap/with-faults.ts';
export { type RecordedMessage, withRecord } from './wrap/with-record.ts';
export { withReplay } from './wrap/with-replay.ts';
export { type Chopper, createChopper } from './wrap/chopper.ts';
export { LossyBus } from './wrap/lossy-bus.ts';
export { withDelay } from './wrap/with-delay.ts';
