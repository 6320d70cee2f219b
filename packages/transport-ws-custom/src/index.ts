/** `@mortise/transport-ws-custom`: the transport over one WebSocket, for servers and clients of your own. */

export { createSocketTransport, type SocketTransportOptions } from './socket-transport.ts';
export type { MessageSocket, OpenSocket, SocketListener } from './message-socket.ts';
export { type Corkable, type WsLike, WsSocket } from './ws-socket.ts';
export { type Beating, Heartbeat } from './heartbeat.ts';
export { CloseCode } from './close-codes.ts';
export { MCP_PROTOCOL } from './subprotocol.ts';
export {
  type AnyWebSocketError,
  ConnectFailedError,
  FrameError,
  PeerUnresponsiveError,
  SocketClosedError,
  UpgradeRefusedError,
  WebSocketOptionError,
} from './errors.ts';
