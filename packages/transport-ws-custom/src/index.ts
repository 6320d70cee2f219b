/** `@mortise/transport-ws-custom`: the transport over one WebSocket, for servers and clients of your own. */

export { createSocketTransport, type SocketTransportOptions } from './socket-transport.ts';
export type { ClientResumption, MessageSocket, OpenedSocket, OpenSocket, ServerResumption, SocketListener } from './message-socket.ts';
export { type Corkable, type WsLike, WsSocket } from './ws-socket.ts';
export { type Beating, Heartbeat } from './heartbeat.ts';
export { CloseCode, MCP_PROTOCOL } from './wire.ts';
export { type AnyWebSocketError, ConnectFailedError, SocketClosedError } from './errors.ts';
