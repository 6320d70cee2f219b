/** `@mortise/transport-http/node`: what needs `node:http`. */

export { type HttpServing, serveHttp, type ServeHttpOptions } from './node/serve-http.ts';
export { ListenError } from './errors.ts';
export { nodeHttp, type NodeHttpOptions } from './node/node-http.ts';
