/** `withLogging`, `withMetrics` and `withReconnect`, the wrappers for any transport, and `wrapTransport`, on which they are built. */

export { type TransportHooks, watchMessages, wrapTransport } from './wrap-transport.ts';
export { type LoggingOptions, withLogging } from './with-logging.ts';
export { type MetricsOptions, withMetrics } from './with-metrics.ts';
export { type ReconnectOptions, withReconnect } from './with-reconnect.ts';
