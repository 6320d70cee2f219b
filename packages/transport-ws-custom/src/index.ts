/** `@mortise/transport-ws-custom`: errors and constants for clients and servers, and the interfaces behind the `resume` options. */

export type { ClientResumption, MessageSocket, OpenedSocket, ResumptionHost, ServerResumption, SocketListener } from './message-socket.ts';
export { CloseCode, MCP_PROTOCOL } from './wire.ts';
export { type AnyWebSocketError, ConnectFailedError, SocketClosedError } from './errors.ts';
