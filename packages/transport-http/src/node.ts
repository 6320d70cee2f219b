/** `@mortise/transport-http/node`: `serveHttp` and the client's sender on `node:http`. */

export { type HttpServing, serveHttp } from './node/serve-http.ts';
export type { ServeHttpOptions } from './server/options.ts';
export { nodeHttpSender, type NodeHttpSenderOptions } from './node/node-http-sender.ts';
