/** `@mortise/client/low-level`: requests and handlers by method, without names for MCP's features. For gateways and proxies. */

export { Client } from './client.ts';
export type { RequestHandler } from './answers/answers.ts';
// For transports: what a client finds by these members.
export type { AuthContextual, EraKeyed } from './transport-source.ts';
