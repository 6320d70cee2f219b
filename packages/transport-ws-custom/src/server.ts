/** `@mortise/transport-ws-custom/server`: serves MCP over WebSocket on Node. */

export {
  type AttachedWebSocket,
  attachWebSocket,
  type CloseOptions,
  serveWebSocket,
  type ServeWebSocketOptions,
  type UpgradeSource,
  type WebSocketServing,
} from './serve-web-socket.ts';
export type { WebSocketServerOptions } from './web-socket-options.ts';
export { WebSocketOptionError } from './errors.ts';
