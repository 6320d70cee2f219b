/** `@mortise/client/low-level`: the client with requests and handlers by method name, for gateways and proxies. */

export { Client } from './client.ts';
export type { RequestHandler } from './answers/answers.ts';
// Optional members of transports.
export type { AuthContextual, EraKeyed } from './transport-source.ts';
