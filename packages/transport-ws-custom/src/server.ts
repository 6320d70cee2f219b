/** `@mortise/transport-ws-custom/server`: serves MCP over WebSocket on Node. */

export type { CloseOptions } from '@mortise/protocol/contracts';
export {
  type AttachedWebSocket,
  attachWebSocket,
  serveWebSocket,
  type ServeWebSocketOptions,
  type UpgradeSource,
  type WebSocketServing,
} from './serve-web-socket.ts';
export type { WebSocketServerOptions } from './socket-host.ts';
