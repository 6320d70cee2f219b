/** `@mortise/transport-http/node`: what needs `node:http`. */

export { type HttpServing, serveHttp } from './node/serve-http.ts';
export type { ServeHttpOptions } from './server/options.ts';
export { nodeHttp, type NodeHttpOptions } from './node/node-http.ts';
