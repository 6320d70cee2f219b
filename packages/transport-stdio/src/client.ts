/** `@mortise/transport-stdio/client`: starts a server as a child process and speaks to it. */

export { stdioTransport, type StdioTransport } from './stdio-transport.ts';
export { StdioClientTransport, type StdioClientTransportOptions } from './stdio-client-transport.ts';
export type { EndTimes, ServerCommand } from './child-process.ts';
export { getDefaultEnvironment, INHERITED_VARIABLES } from './environment.ts';
export {
  ServerProcessExitedError,
  type ServerProcessExit,
  ServerStartError,
  ServerStreamClosedError,
  type ServerStreamEnd,
} from './errors.ts';
