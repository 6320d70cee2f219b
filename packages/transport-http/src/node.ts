/** `@mortise/transport-http/node`: what needs `node:http`. */

export { type HttpServing, serveHttp, type ServeHttpOptions } from './node/serve-http.ts';
