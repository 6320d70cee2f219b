/** Wrappers that fit around any transport, and the one function that they are all made with. */

export { type TransportHooks, watchMessages, wrapTransport } from './wrap-transport.ts';
export { type LoggingOptions, withLogging } from './with-logging.ts';
export { type MetricsOptions, withMetrics } from './with-metrics.ts';
export { type ReconnectOptions, withReconnect } from './with-reconnect.ts';
