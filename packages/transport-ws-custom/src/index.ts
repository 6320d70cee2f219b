/** `@mortise/transport-ws-custom`: what both sides share, and the joint of resumption. */

export type { ClientResumption, MessageSocket, OpenedSocket, ResumptionHost, ServerResumption, SocketListener } from './message-socket.ts';
export { CloseCode, MCP_PROTOCOL } from './wire.ts';
export { type AnyWebSocketError, ConnectFailedError, SocketClosedError } from './errors.ts';
