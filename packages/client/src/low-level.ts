/** `@mortise/client/low-level`: requests and handlers by method, without names for MCP's features. For gateways and proxies. */

export { Client } from './client.ts';
export type { RawAnswer } from './answers.ts';
export type { AuthContextual } from './transport-source.ts';
export type { CallOptions } from './call-options.ts';
export type { ClientOptions, ConnectOptions } from './client-options.ts';
