/** `@mortise/jsonrpc-core/transport`: helpers for implementers of transports, besides the `Transport` interface itself. */

export { createCallableTransport } from './wrap-transport.ts';
export {
  type ChannelEndError,
  type ConnectOptions,
  type ExchangeOptions,
  type ExchangeTransport,
  isExchangeTransport,
  isLegacyOpener,
  type LegacyOpener,
  type MessageInfo,
  type SendOptions,
  type TransportFactory,
  type TransportLike,
  type WaitingCaller,
} from './transport/transport.ts';
export { Cancellation } from './cancellation.ts';
export { checkOptions, type OptionKind, type OptionRule, type OptionTable } from './check-options.ts';
export { systemClock } from './clock.ts';
export { guardLogger, silentLogger } from './instruments.ts';
export { resolvedPromise } from './transport/transport.ts';
export { emitClose, emitError, toError } from './transport/hold-transport.ts';
