/** `@mortise/transport-ws-custom/client`: connects to a server by WebSocket, on Node, in browsers and elsewhere. */

export { type WebSocketTransport, webSocketTransport, type WebSocketTransportOptions } from './web-socket-transport.ts';
export type { WebSocketConstructor, WebSocketLike } from './web-socket.ts';
export { ConnectFailedError, SocketClosedError } from './errors.ts';
