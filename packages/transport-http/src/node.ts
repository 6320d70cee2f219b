/** `@mortise/transport-http/node`: what needs `node:http`. */

export { type HttpServing, serveHttp } from './node/serve-http.ts';
export type { ServeHttpOptions } from './server/options.ts';
export { nodeHttpSender, type NodeHttpSenderOptions } from './node/node-http-sender.ts';
