/** `@mortise/transport-stdio/client`: starts a server as a child process and connects to it. */

export { StdioClientTransport, type StdioClientTransportOptions, stdioTransport, type StdioTransport } from './stdio-client-transport.ts';
export { type EndTimes, getDefaultEnvironment, INHERITED_VARIABLES, type ServerCommand } from './child-process.ts';
export { ServerProcessExitedError, type ServerProcessExit, ServerStartError } from './errors.ts';
