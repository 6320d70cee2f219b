/** `@mortise/transport-http/node`: `serveHttp`, and `nodeHttpSender`, which sends a client's requests by `node:http`. */

export { type HttpServing, serveHttp } from './node/serve-http.ts';
export type { ServeHttpOptions } from './server/options.ts';
export { nodeHttpSender, type NodeHttpSenderOptions } from './node/node-http-sender.ts';
